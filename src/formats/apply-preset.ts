/**
 * Applies a preset to a request (docs/contract/presets.md#merge): shallow, field by field, the request wins; tools are united,
 * locked fields are the preset's, and its system prompt comes first. The result is an ordinary body in which everything that the
 * preset does not affect keeps its bytes.
 *
 * The system prompt cannot be locked and need not be: a request can add to it but never replace it, in a vendor's words either.
 */
import type { CarriedSettings, ClientDialect } from '../canonical/call.ts'
import type { RoutingLocks } from '../canonical/routing-locks.ts'
import type { Settings } from '../canonical/settings.ts'
import type { Warning } from '../canonical/warning.ts'
import type { PresetContent } from '../contract/preset.ts'
import { invalidRequest } from '../contract/validate.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { isObject, type JsonChanges, type JsonObject, type JsonValue, listOf, textsIn } from '../lib/json/json.ts'
import { startPace, type Steps } from '../lib/steps.ts'
import { DEFAULT_FALLBACKS } from '../request-fields/schemas/routing.ts'
import { lockedNames, overriding, settingsIn } from '../request-fields/setting-spellings.ts'
import { type FoundWord, turnsOff, vendorWordsIn } from '../request-fields/vendor-words.ts'
import { withFormatInConfig } from './anthropic-messages/format-in-config.ts'
import { withoutAddedTools } from './openai-responses/added-tools.ts'
import { withoutUpdates } from './openai-responses/configuration-updates.ts'
import { holdLogprobs } from './openai-responses/held-logprobs.ts'
import { addSystemPrompt } from './add-system-prompt.ts'
import { withoutEffortChanges, withoutToolsOfMessages } from './hold-in-messages.ts'
import { holdVendorWords } from './hold-vendor-words.ts'
import { replacedSettings } from './replaced-settings.ts'
import { type Fields, translateConfig } from './translate-config.ts'
import { uniteTools } from './unite-tools.ts'

export interface AppliedPreset {
  readonly body: JsonBody
  readonly warnings: readonly Warning[]
  /** Undefined if the client's dialect has a field for each setting of the preset. */
  readonly carried: CarriedSettings | undefined
  /** Settings of the preset whose place a vendor's name in the request takes; undefined if there are none. */
  readonly replaced: Settings | undefined
  /** The locks that names in the request could circumvent; null if there are none. */
  readonly locks: RoutingLocks | null
}

/**
 * `model` is the model that the request itself names, without its preset reference; null leaves the choice to the preset. Throws
 * `invalid_request` if the request sets a locked field of a preset that rejects this.
 */
export function* applyPreset(dialect: ClientDialect, sent: JsonBody, content: PresetContent, model: string | null): Steps<AppliedPreset> {
  const preset = yield* translateConfig(content, dialect)
  const body = dialect === 'messages' ? withFormatInConfig(withOwnFallbacks(sent, preset.fields), preset.fields['output_config']) : sent
  const { locks, held } = readLocks(dialect, content)
  const words = yield* vendorWordsIn(dialect, body)
  const request = (field: string): JsonValue => (field === 'model' ? model : (body.value(field) ?? null))
  const overruled: string[] = []
  const replaced: Record<string, JsonValue> = {}
  const changes: Record<string, string | null> = { preset: null }
  const isStep = startPace()
  const fields = new Set(['model', ...Object.keys(preset.fields), ...locks.map(({ field }) => field)])
  for (const field of fields) {
    const merged = yield* mergeField(dialect, field, { preset: preset.fields, request, words, locks, overruled, replaced })
    if (merged === (body.value(field) ?? null)) continue
    const json = merged === null ? null : JSON.stringify(merged)
    changes[field] = json
    if (isStep(json?.length)) yield
  }
  const holdable = words.filter(({ path: [field] }) => !fields.has(field))
  const vendors = yield* holdVendorWords(body, holdable, held)
  Object.assign(changes, vendors.changes)
  overruled.push(...vendors.paths)
  if (locks.some(({ field, member }) => field === 'tools' && member === null)) {
    const offered = preset.fields['tools']
    const held = dialect === 'responses' ? yield* withoutAddedTools(body, offersSearch(offered)) : yield* withoutToolsOfMessages(body)
    Object.assign(changes, held.changes)
    overruled.push(...held.paths)
  }
  const updates = dialect === 'responses' ? lockedUpdates(locks) : []
  if (updates.length > 0) {
    const held = yield* withoutUpdates(body.with(changes), updates)
    Object.assign(changes, held.changes)
    overruled.push(...held.paths)
  }
  if (dialect === 'messages' && locks.some(({ field, member }) => field === 'output_config' && (member === null || member === 'effort'))) {
    const held = yield* withoutEffortChanges(withMessages(body, changes))
    Object.assign(changes, held.changes)
    overruled.push(...held.paths)
  }
  if (dialect === 'responses' && locks.some(({ field }) => field === 'logprobs')) {
    const { include, isOverruled } = holdLogprobs(body.value('include'), preset.fields['include'])
    if (include !== null) changes['include'] = JSON.stringify(include)
    if (isOverruled) overruled.push('include')
  }
  const lockWarnings = warnOfLocked(overruled, content)
  const system = addSystemPrompt(dialect, withMessages(body, changes), content)
  return {
    body: body.with({ ...changes, ...system.changes }),
    warnings: [...preset.warnings, ...lockWarnings, ...system.warnings],
    carried: preset.carried,
    replaced: replacedSettings(dialect, replaced),
    locks: routingLocks(locks, content),
  }
}

/** A preset that lists models has made the choice that the vendor would make. */
const withOwnFallbacks = (body: JsonBody, { models = null, fallbacks = null }: Fields): JsonBody =>
  body.value('fallbacks') === DEFAULT_FALLBACKS && (models ?? fallbacks) !== null ? body.with({ fallbacks: null }) : body

const withMessages = (body: JsonBody, { messages }: JsonChanges): JsonBody => (messages === undefined ? body : body.with({ messages }))

const offersSearch = (tools: JsonValue | undefined): boolean =>
  Array.isArray(tools) && tools.some((tool: JsonValue) => isObject(tool) && tool['type'] === 'tool_search')

/** The members of a field that an item of the input may change, too. */
const UPDATES = [
  { field: 'reasoning', member: 'effort' },
  { field: 'text', member: 'format' },
] as const

const lockedUpdates = (locks: readonly Lock[]): readonly Lock[] =>
  UPDATES.flatMap(({ field, member }) => {
    const here = locks.filter((lock) => lock.field === field)
    return here.find((lock) => lock.member === null) ?? here.find((lock) => lock.member === member) ?? []
  })

/** A top-level field, or one member of it, in which the preset's value prevails. */
interface Lock {
  readonly field: string
  readonly member: string | null
}

interface Locked {
  readonly locks: readonly Lock[]
  /** The settings and fields that no word of a vendor's may change. */
  readonly held: ReadonlySet<string>
}

const readLocks = (dialect: ClientDialect, { shape, config, systemPrompt }: PresetContent): Locked => {
  const locked = textsIn(config['locked']).map((name) => lockedNames(shape, dialect, name))
  const locks = [...new Set(locked.flatMap(({ paths }) => paths))].map((path): Lock => {
    const [field = '', member = null] = path.split('.')
    return { field, member }
  })
  const prompt = (systemPrompt ?? '') === '' ? [] : ['systemPrompt']
  return { locks, held: new Set([...locked.flatMap(({ changes }) => changes), ...prompt]) }
}

const routingLocks = (locks: readonly Lock[], { config }: PresetContent): RoutingLocks | null => {
  const holds = (field: string): boolean => locks.some((lock) => lock.field === field)
  const held = { sort: holds('provider'), tier: holds('service_tier'), search: holds('plugins') }
  if (!held.sort && !held.tier && !held.search) return null
  const { model, models, fallbacks, provider } = config
  const others = [models, fallbacks].flatMap(listOf)
  const { only, order } = isObject(provider) ? provider : {}
  return {
    ...held,
    models: textsIn([model, ...others.map((one) => (isObject(one) ? one['model'] : one))]),
    providers: textsIn([only, order].flat()),
    rejects: config['on_locked'] === 'reject',
  }
}

interface Merge {
  readonly preset: Fields
  /** The request's own value; null if it leaves the field open. */
  readonly request: (field: string) => JsonValue
  /** Vendors' own names of settings in the request. */
  readonly words: readonly FoundWord[]
  readonly locks: readonly Lock[]
  /** Paths that the request set and the preset overruled. */
  readonly overruled: string[]
  /** The preset's fields, or their members, whose place a vendor's name takes. */
  readonly replaced: Record<string, JsonValue>
}

/** Returns the field's value in the merged body; null for none. */
function* mergeField(dialect: ClientDialect, field: string, merge: Merge): Steps<JsonValue> {
  const { preset, request, locks, overruled } = merge
  const own = preset[field] ?? null
  const asked = request(field)
  const here = locks.filter((lock) => lock.field === field)
  if (here.some(({ member }) => member === null)) {
    if (asked === null) return own
    if (sameJson(asked, own)) return asked
    overruled.push(field)
    return own
  }
  if (field === 'tools' && Array.isArray(own) && Array.isArray(asked)) return yield* uniteTools(dialect, own, asked)
  if (asked === null) return withoutReplaced(dialect, field, withoutOverridden(dialect, field, own, request), merge)
  return here.reduce<JsonValue>((value, lock) => holdMember(value, own, lock, overruled), asked)
}

/** Returns what other fields of the request that set the same thing leave of the preset's value. */
const withoutOverridden = (dialect: ClientDialect, field: string, own: JsonValue, request: Merge['request']): JsonValue => {
  const here = overriding(dialect, field).filter(({ name }) => request(name) !== null)
  if (here.length === 0) return own
  if (here.some(({ members }) => members === null) || !isObject(own)) return null
  const replaced = new Set(here.flatMap(({ members }) => members ?? []))
  return withoutMembers(own, (member) => replaced.has(member))
}

/** Returns null if nothing is left. */
const withoutMembers = (own: JsonObject, isReplaced: (member: string) => boolean): JsonValue => {
  const rest = Object.entries(own).filter(([member]) => !isReplaced(member))
  return rest.length === 0 ? null : Object.fromEntries(rest)
}

/** Returns the preset's value without the settings that the request has under a vendor's own name, since both would be sent. */
const withoutReplaced = (
  dialect: ClientDialect,
  field: string,
  own: JsonValue,
  { words, locks, replaced }: Pick<Merge, 'words' | 'locks' | 'replaced'>,
): JsonValue => {
  if (words.length === 0 || own === null || field === 'tools') return own
  const taken = settingsIn(dialect, field).filter(
    ([setting, member]) =>
      words.some(({ changes }) => changes.has(setting)) && !locks.some((lock) => lock.field === field && lock.member === member),
  )
  const members = taken.map(([, member]) => member)
  if (members.length === 0 || (!members.includes(null) && !isObject(own))) return own
  const isReplaced = (member: string): boolean => members.includes(null) || members.includes(member)
  const isRefused = taken.some(([setting]) => words.some((word) => word.changes.has(setting) && turnsOff(word)))
  if (!isRefused) replaced[field] = isObject(own) ? withoutMembers(own, (member) => !isReplaced(member)) : own
  return isObject(own) ? withoutMembers(own, isReplaced) : null
}

/** Returns the request's object with the preset's value of one member. */
const holdMember = (asked: JsonValue, own: JsonValue, { field, member }: Lock, overruled: string[]): JsonValue => {
  if (member === null || !isObject(asked) || callsNothing(field, asked)) return asked
  const { [member]: wanted = null, ...rest } = asked
  const kept = isObject(own) ? (own[member] ?? null) : null
  if (sameJson(wanted, kept)) return asked
  if (wanted !== null) overruled.push(`${field}.${member}`)
  return kept === null ? rest : { ...rest, [member]: kept }
}

/** If no tool may be called, there is nothing to restrict, and Anthropic refuses a choice of `none` with further members. */
const callsNothing = (field: string, asked: JsonObject): boolean => field === 'tool_choice' && asked['type'] === 'none'

/** Compares two JSON values, ignoring the order of members: a client that writes the preset's own value asks for no change. */
const sameJson = (one: JsonValue, other: JsonValue): boolean => {
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) && one.length === other.length && one.every((item: JsonValue, index) => sameJson(item, other[index] ?? null))
    )
  }
  if (!isObject(one) || !isObject(other)) return one === other
  const members = Object.entries(one)
  return (
    members.length === Object.keys(other).length &&
    members.every(([name, value]) => Object.hasOwn(other, name) && sameJson(value, other[name] ?? null))
  )
}

const warnOfLocked = (overruled: readonly string[], { config }: PresetContent): Warning[] => {
  if (config['on_locked'] === 'reject' && overruled.length > 0) {
    throw invalidRequest(overruled.map((path) => ({ path, message: 'The preset locks this field. Leave it out.' })))
  }
  return overruled.map((field) => ({ code: 'locked_field', field, message: 'The preset locks this field; its own value was kept.' }))
}
