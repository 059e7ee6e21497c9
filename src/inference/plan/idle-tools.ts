/**
 * Finds tools of a preset that no request with it could use, each with the error sentence that such a request would get
 * (docs/contract/tools.md#tools-of-a-preset).
 */
import type { ClientDialect } from '../../canonical/call.ts'
import type { PresetContent } from '../../contract/preset.ts'
import { GatewayError } from '../../errors.ts'
import type { ClientFormat } from '../../formats/format.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { isObject, type JsonValue } from '../../lib/json/json.ts'
import { atOnce, LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import type { ChangedBy } from '../../storage/changes/audit-log.ts'
import { deniedTools } from '../../tools/denied-tools.ts'
import { mayAskForTools, offerTools } from '../loop/offer-tools.ts'
import { type PlanParts, planFor } from './plan.ts'
import { vendorToolsOf } from './vendor-tools.ts'

export interface SavedTools {
  readonly content: PresetContent
  readonly format: ClientFormat
  readonly workspaceId: string
  /** Names of tools that the workspace forbids. */
  readonly disabled: readonly string[]
  readonly by: ChangedBy
}

/** Without a model in the preset, any provider might have a tool, so only forbidden tools are found. */
export function* idleTools(saved: SavedTools, parts: PlanParts): Steps<readonly string[]> {
  const { config } = saved.content
  const given = config['tools']
  if (!Array.isArray(given) || !given.some(isProviderTool)) return []
  const tools: JsonValue[] = [...given]
  const sentences: string[] = []
  while (sentences.length < TOLD_MAX) {
    const text = JSON.stringify({ ...config, ...CONVERSATIONS[saved.format.dialect], tools })
    // A request of this size is planned in steps; this check is not, so it stops here.
    if (text.length > LARGE_BYTES) return sentences
    const sentence = refusalOf(JsonBody.read(text), saved, parts)
    if (sentence === null) return sentences
    sentences.push(sentence)
    const index = Number(/^tools\[(\d+)\]/.exec(sentence)?.[1] ?? Number.NaN)
    if (!isProviderTool(tools[index])) return sentences
    // The placeholder keeps the index of the other tools, which their sentences name.
    tools[index] = PLACEHOLDERS[saved.format.dialect](index)
    yield
  }
  return sentences
}

const TOLD_MAX = 8

/** True if the tool has a type that the client does not run itself. */
const isProviderTool = (tool: unknown): boolean =>
  isObject(tool) && typeof tool['type'] === 'string' && tool['type'] !== 'function' && tool['type'] !== 'custom'

const said = { messages: [{ role: 'user', content: 'Hi' }] }
const CONVERSATIONS: Readonly<Record<ClientDialect, object>> = {
  chat: said,
  responses: { input: 'Hi' },
  messages: { ...said, max_tokens: 64_000 },
}

const NO_ARGUMENTS = { type: 'object', properties: {} }
const PLACEHOLDERS: Readonly<Record<ClientDialect, (index: number) => JsonValue>> = {
  chat: (index) => ({ type: 'function', function: { name: `left_out_${index}`, parameters: NO_ARGUMENTS } }),
  responses: (index) => ({ type: 'function', name: `left_out_${index}`, parameters: NO_ARGUMENTS, strict: false }),
  messages: (index) => ({ name: `left_out_${index}`, input_schema: NO_ARGUMENTS }),
}

/** Null if the request would not be refused because of a tool. */
const refusalOf = (body: JsonBody, { format, workspaceId, disabled, by }: SavedTools, parts: PlanParts): string | null => {
  const call = unlessRefused(() => atOnce(format.parseCall(body)).call)
  if (call === null) return null
  const vendorTools = atOnce(vendorToolsOf(call))
  const models = () => parts.models.list().filter(({ listed }) => listed !== false)
  const asked = { call, caller: { workspaceId }, customerKeys: null, guardrails: null, deniedTools: [], locks: null }
  const planned = unlessRefused(() => planFor(asked, parts, vendorTools))
  try {
    const kept = planned === null || vendorTools === null ? planned : vendorTools.keep(planned, models)
    const offerParts = {
      kit: parts.toolKit,
      caller: { workspaceId, by, sessionId: null, denied: deniedTools([], disabled), functions: () => null, models },
      settings: parts.toolSettings(),
      presetSlug: null,
      replayed: null,
      rewritten: false,
      isWrapper: () => false,
      userAgent: null,
    }
    const offer = atOnce(mayAskForTools(call)) ? offerTools(call, kept?.attempts ?? [], offerParts) : null
    if (kept !== null && offer !== null) vendorTools?.keep({ ...kept, attempts: offer.attempts }, models, true)
    return null
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown.publicMessage
    throw thrown
  }
}

/** The preset may have other faults; those are not reported here. */
const unlessRefused = <Made>(make: () => Made): Made | null => {
  try {
    return make()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return null
    throw thrown
  }
}
