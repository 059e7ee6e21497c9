/** Tries guardrails on a text: nothing is sent, charged or recorded (docs/contract/guardrails.md#tests). */
import { z } from 'zod'

import { scopeOf } from '../../canonical/reach.ts'
import { guardrailTest, guardrailTestBody, type TriedRules } from '../../contract/guardrail-test.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import { GatewayError } from '../../errors.ts'
import type { Effective } from '../../guardrails/effective.ts'
import type { Guardrails } from '../../guardrails/guardrails.ts'
import type { ScreenLimits } from '../../guardrails/screen-request.ts'
import { type Trial, tryInput, tryOutput } from '../../guardrails/trial.ts'
import type { Keys } from '../../keys/keys.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { isObject, type JsonValue } from '../../lib/json/json.ts'
import { throughout } from '../../lib/steps.ts'
import { checkFilters } from '../check-patterns.ts'
import { jsonInTurns } from '../response/json-response.ts'
import { reachOf, type Route, type RouteRequest } from '../route.ts'

type Asked = z.output<typeof guardrailTestBody>
type RuleParts = Pick<GuardrailTestParts, 'guardrails' | 'keys'>

export interface GuardrailTestParts {
  readonly guardrails: Guardrails
  readonly keys: Keys
  readonly screenLimits: ScreenLimits
}

export const guardrailTestsCreate = (parts: GuardrailTestParts): Route => ({
  method: 'POST',
  path: '/guardrail-tests',
  operation: 'testGuardrail',
  summary: 'Try a guardrail, saved or drafted, on a text',
  tag: 'Guardrails',
  policy: 'management',
  surface: 'management',
  query: inWorkspace,
  body: guardrailTestBody,
  answers: { 200: { description: 'What each filter found, and what would go on.', schema: z.object({ data: guardrailTest }) } },
  errors: [400, 404, 503],
  async handle(request) {
    const turn = request.startTurn()
    const members = await throughout(JsonBody.read(await request.text()).readingAll(), turn)
    const asked = validate(guardrailTestBody, members)
    const { effective } = await triedRules(request, asked, parts)
    const trial =
      asked.side === 'output'
        ? await tryOutput(asked.text ?? '', effective, parts.screenLimits)
        : await tryInput(asked.messages ?? [{ role: 'user', content: asked.text ?? '' }], effective, parts.screenLimits)
    return jsonInTurns({ data: resourceOf(trial, effective, asked) }, turn)
  },
})

/** The rules that a body names, and the workspace to which they belong. */
export const triedRules = async (
  request: RouteRequest,
  asked: TriedRules,
  { guardrails, keys }: RuleParts,
): Promise<{ readonly workspaceId: string; readonly effective: Effective | null }> => {
  await checkFilters(request, asked.guardrail?.content_filters, 'guardrail.')
  const reach = reachOf(request)
  const key = asked.as_key === undefined ? null : (await keys.get(scopeOf(reach), asked.as_key)).record
  const saved = asked.guardrail_id === undefined ? null : await guardrails.workspaceOf(reach, asked.guardrail_id)
  const workspaceId = key?.workspaceId ?? saved ?? reach.workspaceId
  if (saved !== null && saved !== workspaceId) {
    throw new GatewayError('invalid_request', 'guardrail_id: the guardrail and the key belong to different workspaces.')
  }
  const effective = await guardrails.tried(workspaceId, {
    guardrailId: asked.guardrail_id ?? null,
    draft: asked.guardrail ?? null,
    asKey: key === null ? null : { hash: key.hash, userId: key.creatorUserId },
  })
  return { workspaceId, effective }
}

const resourceOf = ({ stages, outcome, error, messages }: Trial, effective: Effective | null, asked: Asked) => ({
  stages: stages.map(({ filter, matches, ms }) => ({
    guardrail: filter.origin.guardrailId,
    guardrail_scope: filter.origin.scope,
    filter: filter.key,
    action: filter.action,
    matches: [...matches],
    ms,
  })),
  outcome,
  text_after: messages === null ? null : messages.map(textOf).join('\n\n'),
  messages_after: messages === null || asked.messages === undefined ? null : messages,
  error: error === null ? null : { message: error.message, patterns: z.array(z.string()).catch([]).parse(error.metadata['patterns']) },
  moderation_not_asked: asked.side === 'input' ? (effective?.moderation ?? []).map(({ endpoint }) => endpoint) : [],
})

const textOf = (message: JsonValue): string => {
  const content = isObject(message) ? message['content'] : null
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : '')).join('')
}
