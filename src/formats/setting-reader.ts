/** Reads the settings of a request, each with the field that the client used. A field that is absent or null is not set. */
import type { ClientDialect } from '../canonical/call.ts'
import { type ReasoningSetting, type SettingName, SETTINGS, type Settings, type SettingValues } from '../canonical/settings.ts'
import { validate } from '../contract/validate.ts'
import { definedOnly } from '../lib/defined-only.ts'
import { settingFields } from '../request-fields/request-fields.ts'
import { disown, member, type Node, optionalFlag, optionalText, optionalTexts } from './json-node.ts'

export interface Reading<Value> {
  readonly value: Value
  readonly field: string
}

/** Settings that a format derives itself; an undefined one is not set. */
type Special = { readonly [Name in SettingName]?: Settings[Name] | undefined }

/**
 * Returns `special` and the settings that have a field of their own, according to the field tables. If several fields mean one
 * setting, the first one counts; another field with a different value is reported as lost.
 */
export const readSettings = (client: ClientDialect, root: Node, special: Special): Settings => {
  const plain = [...settingFields(client)].flatMap(([name, fields]) => {
    if (Object.hasOwn(special, name)) return []
    const [first, ...others] = fields.flatMap((field) => readSetting(root, name, field) ?? [])
    for (const other of others) if (other.value !== first?.value) disown(root, other.field)
    const value = first === undefined ? undefined : settled(name, first.value)
    return first === undefined || value === undefined ? [] : [[name, { value, field: first.field }]]
  })
  // Safe: each value was parsed with the schema of its setting.
  return { ...definedOnly(special), ...(Object.fromEntries(plain) as Settings) }
}

/** Throws `invalid_request` if the member is not a valid value of the setting. */
const readSetting = (root: Node, name: SettingName, field: string): Reading<unknown> | undefined => {
  const value = member(root, field)
  return value === undefined ? undefined : { value: validate(SETTINGS[name], value, [field]), field }
}

const settled = (name: SettingName, value: unknown): unknown => {
  const settle = SETTLED[name] as ((value: unknown) => unknown) | undefined
  return settle === undefined ? value : settle(value)
}

/** Normalises values; a value that asks for the default becomes undefined, so that it gets no warning. */
const SETTLED: { readonly [Name in SettingName]?: (value: SettingValues[Name]) => SettingValues[Name] | undefined } = {
  candidates: (count) => (count === 1 ? undefined : count),
  stop: (sequences) => spokenStops(sequences),
  logprobs: (wanted) => (wanted ? true : undefined),
  outputModalities: (kinds) => (kinds.every((kind) => kind === 'text') ? undefined : kinds),
  inferenceGeo: (geography) => (geography === 'global' ? undefined : geography),
  truncation: (mode) => (mode === 'disabled' ? undefined : mode),
  // An empty name counts as none, since some providers refuse it.
  user: (name) => (name === '' ? undefined : name),
  safetyIdentifier: (name) => (name === '' ? undefined : name),
  // `auto` is every provider's default behaviour.
  serviceTier: (tier) => (tier === 'auto' ? undefined : (TIERS[tier] ?? tier)),
}

/** Other names of tiers (docs/contract/requests.md#shared-fields). */
const TIERS: Readonly<Record<string, string>> = { fast: 'priority', on_demand: 'default' }

/** Drops empty sequences, at which no answer can end. */
export const spokenStops = (sequences: readonly string[]): string[] | undefined => {
  const spoken = sequences.filter((sequence) => sequence !== '')
  return spoken.length === 0 ? undefined : spoken
}

const reading =
  <Value>(read: (node: Node, key: string) => Value | null) =>
  (node: Node, key: string): Reading<Value> | undefined => {
    const value = read(node, key)
    return value === null ? undefined : { value, field: node.path === '' ? key : `${node.path}.${key}` }
  }

export const text = reading(optionalText)
export const texts = reading(optionalTexts)
export const flag = reading(optionalFlag)

export const unless = <Value>(read: Reading<Value> | undefined, same: (value: Value) => boolean): Reading<Value> | undefined =>
  read === undefined || same(read.value) ? undefined : read

export const mapped = <In, Out>(read: Reading<In> | undefined, map: (value: In) => Out): Reading<Out> | undefined =>
  read === undefined ? undefined : { value: map(read.value), field: read.field }

/** Returns undefined if nothing is set. */
export const reasoningOf = (
  members: { readonly [Key in keyof ReasoningSetting]: ReasoningSetting[Key] | null | undefined },
  field: string,
): Reading<ReasoningSetting> | undefined => {
  const value = definedOnly({
    enabled: members.enabled ?? undefined,
    effort: members.effort ?? undefined,
    maxTokens: members.maxTokens ?? undefined,
    summary: members.summary ?? undefined,
    exclude: members.exclude ?? undefined,
  })
  return Object.keys(value).length === 0 ? undefined : { value, field }
}
