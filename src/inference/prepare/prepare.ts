/** Looks up the settings that apply to a request, applies its preset, and reads its fields. */
import type { CustomerKeyLookup } from '../../byok/customer-keys.ts'
import type { Call } from '../../canonical/call.ts'
import { invalidField } from '../../contract/validate.ts'
import { GatewayError } from '../../errors.ts'
import { hiddenTexts } from '../../formats/add-system-prompt.ts'
import { applyPreset } from '../../formats/apply-preset.ts'
import { fillStoredPrompt, readStoredPrompt, type StoredPrompt } from '../../formats/stored-prompt.ts'
import type { Guardrails } from '../../guardrails/guardrails.ts'
import { callerOf, type Principal } from '../../keys/principal.ts'
import { isObject } from '../../lib/json/json.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { type Steps, throughout, type Turn } from '../../lib/steps.ts'
import type { IsTrustedHost } from '../../lib/network/trusted-hosts.ts'
import { bareSlug, type ModelReference, parseModelReference, VERSION_NUMBER } from '../../presets/model-reference.ts'
import type { Presets, ServedPreset } from '../../presets/presets.ts'
import { askedPlugins } from '../../plugins/asked-plugins.ts'
import type { Plugins } from '../../plugins/plugins.ts'
import { type DrawnVersion, drawVersion } from './draw-version.ts'
import { refusePrivateMedia } from '../../providers/media/private-addresses.ts'
import type { RoutingState } from '../../routing/routing-state.ts'
import type { VersionReference } from '../../storage/presets/preset-store.ts'
import type { KeptContents, WorkspaceDefaults } from '../../workspaces/workspaces.ts'
import { presetCaching } from '../cache/preset-caching.ts'
import { chooseModels, withImpliedPlugin } from './choose-models.ts'
import { hasSession } from '../has-session.ts'
import { withPassHeaders } from './pass-headers.ts'
import { readCall, withCarried } from '../read-call.ts'
import { type Prepared, type Received, refuseLosses } from '../request.ts'
import { type DefaultsOf, withDefaultModel, withDefaults } from './workspace-defaults.ts'
import { type WithPlugins, withWorkspacePlugins } from './workspace-plugins.ts'
import { keepsNothing } from '../zero-retention.ts'
import { deniedTools } from '../../tools/denied-tools.ts'

export interface PrepareParts {
  readonly routing: RoutingState
  readonly presets: Pick<Presets, 'serve' | 'find'>
  readonly defaultsOf: DefaultsOf
  /** Lets other work run between two steps of the work on a large request. */
  readonly turn: Turn
  readonly guardrails: Pick<Guardrails, 'effective'>
  readonly plugins: Plugins
  /** True if `prompt` of OpenAI's interfaces names a preset; otherwise it is refused. */
  readonly openaiPrompts: boolean
  /** Hosts of private networks at which requests may name media. */
  readonly isTrustedMediaHost: IsTrustedHost
  /** The provider keys that the caller itself owns and may use. */
  readonly customerKeysOf: (caller: Principal) => CustomerKeyLookup | null | Promise<CustomerKeyLookup | null>
}

/**
 * Does not wait for values that are in memory. Throws if the request itself is at fault, or if storage is unavailable; `onPreset` has
 * then been called if its preset was found.
 */
export const prepare = async (
  received: Received,
  parts: PrepareParts,
  onPreset: (found: { readonly slug: string; readonly version: number }) => void = () => undefined,
): Promise<Prepared> => {
  const { principal, headers } = received
  // Embeddings have no conversation: presets and the default models of a workspace do not apply to them.
  const converses = received.apiType === 'completions'
  const foundDefaults = parts.defaultsOf(principal.workspaceId)
  const known = foundDefaults instanceof Promise ? await foundDefaults : foundDefaults
  const defaults = known === null || converses ? known : { ...known, default_text_model: null, default_image_model: null, plugins: null }
  const stored = converses && parts.openaiPrompts ? readStoredPrompt(received.format.dialect, received.body) : null
  const sent = withSession(stored === null ? received : { ...received, body: namingPreset(received.body, stored) })
  const body = defaults === null ? sent : withDefaultModel(sent, defaults)
  const named = converses ? parseModelReference(body.value('model'), body.value('preset')) : null
  const foundPreset =
    named === null
      ? null
      : stored === null
        ? findPreset(named, body, principal, parts.presets)
        : serveStored(stored, named.preset?.pin ?? null, principal, parts.presets)
  const found = foundPreset instanceof Promise ? await foundPreset : foundPreset
  const served = found === null ? null : drawVersion(found, received, body)
  if (served !== null) onPreset({ slug: served.preset.slug, version: served.version.version })
  const reading =
    served === null || named === null
      ? readPlain(received, body, defaults)
      : readWithPreset(received, body, defaults, { named, served, stored })
  const foundRead = throughout(withPublicMedia(reading, parts), parts.turn)
  const read = foundRead instanceof Promise ? await foundRead : foundRead

  const asked = converses ? withImpliedPlugin(askedPlugins(read.call.body), read.call) : null
  const { warnings } = read
  const strict = principal.strict || headers.strict || read.strict
  refuseLosses(strict, warnings)

  const call = asked === null ? read.call : chooseModels(read.call, asked, parts.plugins)

  const foundGuardrails = parts.guardrails.effective(principal)
  const guardrails = foundGuardrails instanceof Promise ? await foundGuardrails : foundGuardrails
  const foundKeys = parts.customerKeysOf(principal)
  const customerKeys = foundKeys instanceof Promise ? await foundKeys : foundKeys
  const contents = converses ? keptOf(known?.contents ?? null, principal, parts.routing.random) : null
  return {
    ...received,
    call: withPassHeaders(call, headers.vendor),
    plugins: asked,
    requested: read.requested,
    preset: read.preset,
    locks: read.locks,
    hidden: read.hidden,
    warnings,
    strict,
    guardrails,
    deniedTools: deniedTools(guardrails?.deniedTools, known?.disabled_server_tools ?? undefined),
    effects: [],
    caller: callerOf(principal),
    customerKeys,
    echo: wantsEcho(call),
    contents: contents === null || keepsNothing(guardrails, call) ? null : contents,
  }
}

/** If the workspace stores only a share of contents, each request is drawn at random. */
const keptOf = (kept: KeptContents | null, { hash }: Principal, random: () => number): Prepared['contents'] =>
  kept === null || !(kept.keys?.has(hash) ?? true) || random() >= kept.share ? null : kept

/** `strict` comes from the body or from the preset; the body cannot switch the preset's off. */
type Read = Pick<Prepared, 'call' | 'requested' | 'preset' | 'locks' | 'hidden' | 'warnings' | 'strict'>

/** A preset may hold media too, so the merged request is searched. */
function* withPublicMedia(reading: Steps<Read>, { isTrustedMediaHost }: PrepareParts): Steps<Read> {
  const read = yield* reading
  yield* refusePrivateMedia(read.call.body, isTrustedMediaHost)
  return read
}

function* readPlain({ apiType, format }: Received, body: JsonBody, defaults: WorkspaceDefaults | null): Steps<Read> {
  const full = withWorkspace(body, defaults)
  const { call, warnings } = yield* readCall({ apiType, format, body: full.body })
  const requested = requestedModel(body) ?? call.models[0] ?? ''
  return {
    call,
    requested,
    preset: null,
    locks: null,
    hidden: undefined,
    warnings: [...full.warnings, ...warnings],
    strict: body.value('strict') === true,
  }
}

/** The preset of a request: how the request names it, the version that serves it, and its stored prompt if it names one. */
interface NamedPreset {
  readonly named: ModelReference
  readonly served: DrawnVersion
  readonly stored: StoredPrompt | null
}

/** One version of the preset serves the whole request, including its fallbacks, even if another version is saved meanwhile. */
function* readWithPreset(
  { apiType, format }: Received,
  sent: JsonBody,
  defaults: WorkspaceDefaults | null,
  { named, served, stored }: NamedPreset,
): Steps<Read> {
  const { preset, version, rolloutId } = served
  const { id, slug } = preset
  const kept = { shape: version.shape, config: version.config, systemPrompt: version.system_prompt }
  const { body, content } = stored === null ? { body: sent, content: kept } : fillStoredPrompt(format.dialect, sent, kept, stored)
  // A preset that was found by the name of a model, and has no model itself, serves that model.
  const ownModel = named.preset === null && content.config['model'] !== undefined ? null : named.model
  const applied = yield* applyPreset(format.dialect, body, content, ownModel)
  const full = withWorkspace(applied.body, defaults)
  const { call, warnings } = yield* readCall({ apiType, format, body: full.body })
  const texts = hiddenTexts(content)
  const own = body.value('instructions')
  return {
    call: withCarried({ ...call, replaced: applied.replaced }, applied.carried),
    requested: requestedModel(body) ?? `@preset/${slug}`,
    preset: { id, slug, version: version.version, rolloutId, caching: presetCaching(version.config) },
    locks: applied.locks,
    hidden:
      texts.texts.length + texts.credentials.length === 0 ? undefined : { ...texts, ownInstructions: typeof own === 'string' ? own : null },
    warnings: [...applied.warnings, ...full.warnings, ...warnings],
    strict: body.value('strict') === true || version.config['strict'] === true,
  }
}

/** Adds the settings of the workspace that the request does not set itself. */
const withWorkspace = (body: JsonBody, defaults: WorkspaceDefaults | null): WithPlugins =>
  defaults === null ? { body, warnings: [] } : withWorkspacePlugins(withDefaults(body, defaults), defaults.plugins)

const requestedModel = (body: JsonBody): string | null => {
  const model = body.value('model')
  return typeof model === 'string' ? model : null
}

/** The preset that a request names, or one that has the name of its model; null if there is none. */
const findPreset = (
  named: ModelReference,
  body: JsonBody,
  { workspaceId }: Principal,
  presets: PrepareParts['presets'],
): ServedPreset | null | Promise<ServedPreset | null> => {
  if (named.preset !== null) return presets.serve(workspaceId, named.preset.slug, named.preset.pin)
  // Model ids have a slash, which no slug has, so this query is made only for a vendor's own names (docs/contract/routing.md#vendor-names).
  const slug = bareSlug(body.value('model'))
  return slug === null ? null : presets.find(workspaceId, slug)
}

/**
 * The request rewritten to name the preset in `preset` instead of `prompt`. A prompt without a version leaves that to a model which names
 * the same preset.
 */
const namingPreset = (body: JsonBody, { id, version }: StoredPrompt): JsonBody => {
  if ((body.value('preset') ?? null) !== null) throw invalidField('prompt', 'A request names a prompt or a preset, not both.')
  const { preset } = parseModelReference(body.value('model'), null)
  const named = version === null && preset?.slug === id ? { prompt: null } : { prompt: null, preset: JSON.stringify(id) }
  return body.with(named)
}

/** A version of the prompt is the label `v<version>`, which an import sets, or else that version number of the preset. */
const serveStored = async (
  { id, version }: StoredPrompt,
  pin: VersionReference | null,
  { workspaceId }: Principal,
  presets: PrepareParts['presets'],
): Promise<ServedPreset> => {
  if (version === null) return presets.serve(workspaceId, id, pin ?? { by: 'designation' })
  const isNumber = VERSION_NUMBER.test(version)
  try {
    return await presets.serve(workspaceId, id, { by: 'label', label: isNumber ? `v${version}` : version })
  } catch (thrown) {
    if (!isNumber || !(thrown instanceof GatewayError) || thrown.type !== 'not_found') throw thrown
    return presets.serve(workspaceId, id, { by: 'number', number: Number(version) })
  }
}

/** The header names the session only if the body does not (docs/contract/headers.md#request-headers). */
const withSession = ({ body, headers: { sessionId } }: Pick<Received, 'body' | 'headers'>): JsonBody =>
  sessionId === null || sessionId === '' || hasSession(body) ? body : body.with({ session_id: JSON.stringify(sessionId) })

/** Only for streams, and not on Messages, whose events have no place for it (docs/contract/debugging.md#echo). */
const wantsEcho = ({ dialect, stream, body }: Call): boolean => {
  const debug = stream && dialect !== 'messages' ? body.value('debug') : undefined
  return isObject(debug) && debug['echo_upstream_body'] === true
}
