/**
 * Tools of a request that only vendors have. An endpoint without such a tool is not asked, and if no endpoint has it, the request is
 * refused before any is asked (docs/contract/tools.md#who-runs-a-tool).
 */
import { addedTools, mayAddTools } from '../../canonical/added-tools.ts'
import type { Call } from '../../canonical/call.ts'
import { GatewayError } from '../../errors.ts'
import { isObject, listOf } from '../../lib/json/json.ts'
import type { Steps } from '../../lib/steps.ts'
import { testInSteps } from '../../lib/text/search-steps.ts'
import type { Model } from '../../models/model.ts'
import { hasVendorTool, isVendorTool, MAY_NAME_VENDOR_TOOL } from '../../providers/tools/vendor-tools.ts'
import type { Plan, PlannedAttempt } from '../../routing/plan-attempts.ts'
import { dialectOf } from '../run/dialect-of.ts'

type Endpoint = Pick<PlannedAttempt, 'model' | 'endpoint'>

export interface VendorTools {
  /**
   * Why an endpoint is skipped; null if it has all of the tools. `rewritten`: the endpoint does not get the request as the client wrote it.
   */
  lackOf(endpoint: Endpoint, rewritten?: boolean): string | null
  /**
   * The plan without the endpoints that lack a tool. If none is left, throws `invalid_request`, which names the tool and models that have
   * it.
   */
  keep(plan: Plan, models: () => readonly Model[], rewritten?: boolean): Plan
}

/** Null if the request has no such tool. */
export function* vendorToolsOf(call: Call): Steps<VendorTools | null> {
  const { body, dialect } = call
  const declared = MAY_NAME_VENDOR_TOOL.test(body.rawSearchable('tools') ?? '') ? listOf(body.value('tools')) : []
  const input = dialect === 'responses' ? (body.rawSearchable('input') ?? '') : ''
  const adds = (yield* mayAddTools(input)) && (yield* testInSteps(MAY_NAME_VENDOR_TOOL, input))
  const listed = [
    ...declared.map((raw, index) => ({ at: `tools[${index}]`, raw })),
    ...(adds ? addedTools(yield* body.parsing('input')) : []),
  ]
  const asked = listed.flatMap(({ at, raw }) => {
    const type = isObject(raw) ? raw['type'] : undefined
    return isObject(raw) && typeof type === 'string' && isVendorTool(type) ? [{ at, type, raw }] : []
  })
  if (asked.length === 0) return null
  const lacking = (endpoint: Endpoint, rewritten: boolean) => {
    const { provider, upstreamModel } = endpoint.endpoint
    const holder = { provider: provider.slug, upstreamModel, dialect: dialectOf(endpoint, call), client: call.dialect, rewritten }
    return asked.find(({ type, raw }) => !hasVendorTool(type, raw, holder))
  }
  const lackOf: VendorTools['lackOf'] = (endpoint, rewritten = false) => {
    const lack = lacking(endpoint, rewritten)
    return lack === undefined ? null : `does not have the tool ${lack.type}`
  }
  return {
    lackOf,
    keep(plan, models, rewritten = false) {
      const attempts = plan.attempts.filter((planned) => lacking(planned, rewritten) === undefined)
      if (attempts.length === plan.attempts.length) return plan
      const [first] = plan.attempts
      const lack = first === undefined ? undefined : lacking(first, rewritten)
      if (attempts.length === 0 && first !== undefined && lack !== undefined) {
        const stands = rewritten && lacking(first, false) === undefined
        if (stands) throw standsAlone(lack)
        const havers = haversOf(models(), (one) => lacking(one, false) === undefined)
        throw nobodyHas(lack, first.model.id, havers)
      }
      const removed = plan.attempts.flatMap((planned) => {
        const reason = lackOf(planned, rewritten)
        return reason === null ? [] : [{ model: planned.model.id, provider: planned.endpoint.tag, reason }]
      })
      return { ...plan, attempts, candidates: plan.candidates - removed.length, removed: [...plan.removed, ...removed] }
    },
  }
}

interface Lack {
  readonly at: string
  readonly type: string
}

const nobodyHas = ({ at, type }: Lack, modelId: string, havers: readonly string[]): GatewayError => {
  const elsewhere = havers.length === 0 ? 'No model that you may use here has it' : `Ask a model that has it, such as ${havers.join(', ')}`
  return refusal(
    at,
    `${type} cannot run: only vendors run it, and no provider of ${modelId} that may be asked does. ${elsewhere}; or leave it out, or declare a function that your program runs.`,
  )
}

const standsAlone = ({ at, type }: Lack): GatewayError =>
  refusal(
    at,
    `${type} cannot be combined with tools that this service runs, or with earlier calls of them: its results could not be shown to you. Leave one or the other out.`,
  )

const refusal = (path: string, message: string): GatewayError =>
  new GatewayError('invalid_request', `${path}: ${message}`, { metadata: { issues: [{ path, message }] } })

const haversOf = (models: readonly Model[], has: (endpoint: Endpoint) => boolean): readonly string[] => {
  const ids: string[] = []
  for (const model of models) {
    if (ids.length === NAMED_MAX) break
    if (model.endpoints.some((endpoint) => has({ model, endpoint }))) ids.push(model.id)
  }
  return ids
}

const NAMED_MAX = 3
