/** From a request body to a call: its preset found and applied, its fields validated. */
import type { Call } from '../canonical/call.ts'
import type { Warning } from '../canonical/warning.ts'
import type { ClientFormat } from '../formats/format.ts'
import { hiddenTexts } from '../formats/add-system-prompt.ts'
import { applyPreset } from '../formats/apply-preset.ts'
import { strictError, type InferenceRequest, type UsedPreset } from '../inference/inference-request.ts'
import { isObject } from '../lib/json.ts'
import type { JsonBody } from '../lib/json-body.ts'
import type { Principal } from '../keys/keys.ts'
import { isRouterPlugin } from '../routing/auto-models.ts'
import type { Presets } from '../presets/presets.ts'
import { type DefaultsOf, withDefaultModel, withDefaults } from './workspace-defaults.ts'
import { bareSlug, parseModelReference } from '../presets/model-reference.ts'

type Prepared = Pick<
  InferenceRequest,
  'call' | 'requested' | 'preset' | 'hidden' | 'warnings' | 'strict' | 'policy' | 'pipeline' | 'screenOutput'
>

export type PrepareCall = (body: JsonBody, format: ClientFormat, headers: Headers, principal: Principal) => Promise<Prepared>

/** One version of the preset serves the whole request, its fallbacks too, whatever is saved meanwhile. */
export const createPrepareCall =
  (presets: Presets, defaultsOf: DefaultsOf): PrepareCall =>
  async (received, format, headers, principal) => {
    const found = defaultsOf(principal.workspaceId)
    const defaults = found instanceof Promise ? await found : found
    const sent = withSession(received, headers)
    const body = defaults === null ? sent : withDefaultModel(sent, defaults)
    const complete = (applied: JsonBody): JsonBody => (defaults === null ? applied : withDefaults(applied, defaults))
    const model = body.value('model')
    const named = parseModelReference(model, body.value('preset'))
    const asked =
      named.preset === null
        ? presetOfThatName(presets, principal, model)
        : presets.serve(principal.workspaceId, named.preset.slug, named.preset.pin)
    const served = asked instanceof Promise ? await asked : asked
    if (served === null) {
      const parsed = format.parseCall(complete(body))
      const requested = typeof model === 'string' ? model : (parsed.call.models[0] ?? '')
      return checked({ ...parsed, requested, preset: null }, headers, principal)
    }

    const { preset, version } = served
    const { slug } = preset
    const requested = typeof model === 'string' ? model : `@preset/${slug}`
    const used: UsedPreset = { id: preset.id, slug, version: version.version }
    const content = { shape: version.shape, config: version.config, systemPrompt: version.system_prompt }
    // A preset that was found by the name of a model, and has no model itself, is for that model.
    const ownModel = named.preset === null && content.config['model'] !== undefined ? null : named.model
    const applied = applyPreset(format.dialect, body, content, ownModel)
    const { call, warnings } = format.parseCall(complete(applied.body))
    const all: readonly Warning[] = [...applied.warnings, ...warnings]
    const own = body.value('instructions')
    const texts = hiddenTexts(content)
    const isOpen = texts.texts.length + texts.credentials.length === 0
    const hidden = isOpen ? {} : { hidden: { ...texts, ownInstructions: typeof own === 'string' ? own : null } }
    return checked({ call, requested, preset: used, ...hidden, warnings: all }, headers, principal)
  }

/** Ids of models have a slash, which no slug has, so this is asked for a vendor's own names alone (docs/contract/routing.md#vendor-names). */
const presetOfThatName = (presets: Presets, { workspaceId }: Principal, model: unknown): ReturnType<Presets['find']> => {
  const slug = bareSlug(model)
  return slug === null ? null : presets.find(workspaceId, slug)
}

/** By the key, by `strict: true` in the body, which a preset may hold, or by the header: what cannot be honoured is refused instead of left out. */
const checked = (prepared: Omit<Prepared, 'strict'>, headers: Headers, principal: Principal): Prepared => {
  const strict =
    principal.strict || prepared.call.body.value('strict') === true || headers.get('x-service-strict')?.toLowerCase() === 'enabled'
  const warnings = [...prepared.warnings, ...notRun(prepared.call.body)]
  const [first] = warnings
  if (strict && first !== undefined) throw strictError(first)
  return { ...prepared, warnings, call: withPassHeaders(prepared.call, headers), strict }
}

/** What this version accepts and does not do: plugins, and the tools that the service would run itself. */
const notRun = (body: JsonBody): readonly Warning[] => {
  const plugins = body.value('plugins')
  const tools = body.rawSearchable('tools')
  const warn = (field: string, message: string): Warning => ({ code: 'unsupported_field', field, message })
  return [
    ...(Array.isArray(plugins) && plugins.some(isLeftOut) ? [warn('plugins', 'This version runs no plugins; they were left out.')] : []),
    ...(tools !== undefined && SERVER_TOOL.test(tools)
      ? [
          warn(
            'tools',
            "This version runs no tools of its own; tools that begin with service: or openrouter: are the provider's to run, if it can.",
          ),
        ]
      : []),
  ]
}

/** Routing heeds the router's wishes, but for its pin: sessions keep a conversation at its model. */
const isLeftOut = (plugin: unknown): boolean =>
  isObject(plugin) && plugin['enabled'] !== false && (!isRouterPlugin(plugin['id']) || plugin['pin_model'] === true)

const SERVER_TOOL = /"type"\s*:\s*"(?:service|openrouter):/

/** Only these: a client's other headers are for this service, and no header of its chooses where a request goes. */
const withPassHeaders = (call: Call, headers: Headers): Call => {
  if (call.dialect !== 'messages') return call
  const betas = betasOf(call.body, headers)
  const named = { 'anthropic-version': headers.get('anthropic-version') ?? '', 'anthropic-beta': betas.join(',') }
  const passed = Object.entries(named).filter(([, value]) => value !== '' && value.length <= PASSED_MAX)
  return passed.length === 0 ? call : { ...call, passHeaders: Object.fromEntries(passed) }
}

const PASSED_MAX = 1000

/** Each once, wherever the client names it: SDKs send the header, other programs a field of the body (docs/contract/messages.md#request). */
const betasOf = (body: JsonBody, headers: Headers): readonly string[] => {
  const listed = [headers.get('anthropic-beta'), headers.get('x-anthropic-beta')].flatMap((list) => list?.split(',') ?? [])
  const field = body.value('betas')
  const all = [...listed, ...(Array.isArray(field) ? field : [])].map((name: unknown) => (typeof name === 'string' ? name.trim() : ''))
  return [...new Set(all)].filter((name) => BETA.test(name))
}

/** What can stand in a header. */
const BETA = /^[\w.:-]{1,100}$/

/** The header names the session only where the body does not (docs/contract/headers.md#request-headers). */
const withSession = (body: JsonBody, headers: Headers): JsonBody => {
  const session = headers.get('x-session-id')
  return session === null || session === '' || (body.value('session_id') ?? null) !== null
    ? body
    : body.with({ session_id: JSON.stringify(session) })
}
