/**
 * Brings a conversation into roles that the server's template takes, on both lanes. If nothing is known of the server, its refusal shows
 * the rule: the same attempt is sent a second time in a form that keeps the rule. If that is answered, the rule is remembered, so that the
 * next request keeps it at once. The wrapper around this one (refused-thinking.ts) gives no warning twice.
 */
import { passesAsWritten, type ClientDialect } from '../../canonical/call.ts'
import type { Steps } from '../../lib/steps.ts'
import { encoded } from '../transport/encoded.ts'
import type { Attempt, ProviderAdapter } from '../provider.ts'
import { hasOwnTemplates, type RoleRule, rulesReportedBy, vendorRules } from './role-rules.ts'
import { beginning, refusalOf } from '../transport/second-try.ts'
import { settledBody, settledPrompt } from './settled-roles.ts'

/** `own`: the client dialect that the provider speaks. */
export const settlingRoles =
  (adapter: ProviderAdapter, own: ClientDialect): ProviderAdapter =>
  async (attempt, context, take) => {
    const { target } = attempt
    if (!hasOwnTemplates(target.provider)) return adapter(attempt, context, take)
    const written = vendorRules(target.provider)
    const known = new Set([...written, ...(context.roleRules?.find(target) ?? [])])
    let rules: ReadonlySet<RoleRule> = known
    /** Null if the request keeps the rules already. */
    const withinRules = (reported: boolean): Attempt | null | Promise<Attempt | null> =>
      rules.size === 0 ? null : encoded(withRules(attempt, rules, own, reported), attempt, context)
    let settled = (await withinRules(rules.size > written.length)) ?? attempt
    for (;;) {
      let began = false
      const answered = (): void => {
        if (!began && rules !== known) context.roleRules?.remember(target, rules)
        began = true
      }
      const refusal = await refusalOf(adapter, settled, context, beginning(take, answered))
      if (refusal === null) return
      const wider: ReadonlySet<RoleRule> = new Set([...rules, ...(began ? [] : rulesReportedBy(refusal))])
      if (wider.size === rules.size) throw refusal
      rules = wider
      const again = await withinRules(true)
      if (again === null) throw refusal
      settled = again
    }
  }

/** Null if the request keeps the rules already. `reported`: the client gets a warning even if no message is moved. */
function* withRules(attempt: Attempt, rules: ReadonlySet<RoleRule>, own: ClientDialect, reported: boolean): Steps<Attempt | null> {
  const { call, target, warn } = attempt
  const native = passesAsWritten(call, own)
  const body = native ? yield* settledBody(own, call.body, rules) : null
  const prompt = native ? null : settledPrompt(call.prompt(), rules)
  const settled = body ?? prompt
  if (settled === null) return null
  if (reported || settled.moved)
    warn({
      code: 'mapped_field',
      field: call.dialect === 'responses' ? 'input' : 'messages',
      message: `${target.providerName} takes one system message, before all others; the system and developer messages were sent so.`,
    })
  if (body !== null) return { ...attempt, call: { ...call, body: body.request } }
  return prompt === null ? attempt : { ...attempt, call: { ...call, prompt: () => prompt.request } }
}
