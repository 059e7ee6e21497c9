/** Settings of a request with the field that the client wrote each of them in. What is absent or null is not set. */
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

/** Settings that a format works out itself; one that is undefined is not set. */
type Special = { readonly [Name in SettingName]?: Settings[Name] | undefined }

/**
 * The settings of a body: `special`, and those that are a field of their own, as the rows say. Of several fields for one
 * setting the first one counts; another one that says something else is reported as lost.
 */
export const readSettings = (client: ClientDialect, root: Node, special: Special): Settings => {
  const plain = [...settingFields(client)].flatMap(([name, fields]) => {
    if (Object.hasOwn(special, name)) return []
    const [first, ...others] = fields.flatMap((field) => readSetting(root, name, field) ?? [])
    for (const other of others) if (other.value !== first?.value) disown(root, other.field)
    const value = first === undefined ? undefined : settled(name, first.value)
    return first === undefined || value === undefined ? [] : [[name, { value, field: first.field }]]
  })
  // Each of them was read by the schema of its name.
  return { ...definedOnly(special), ...(Object.fromEntries(plain) as Settings) }
}

/** Throws `invalid_request` where the member is not what the setting is. */
const readSetting = (root: Node, name: SettingName, field: string): Reading<unknown> | undefined => {
  const value = member(root, field)
  return value === undefined ? undefined : { value: validate(SETTINGS[name], value, [field]), field }
}

const settled = (name: SettingName, value: unknown): unknown => {
  const settle = SETTLED[name] as ((value: unknown) => unknown) | undefined
  return settle === undefined ? value : settle(value)
}

/** Undefined for a value that asks for the default: it gets no warning. */
const SETTLED: { readonly [Name in SettingName]?: (value: SettingValues[Name]) => SettingValues[Name] | undefined } = {
  candidates: (count) => (count === 1 ? undefined : count),
  stop: (sequences) => spokenStops(sequences),
  logprobs: (wanted) => (wanted ? true : undefined),
  outputModalities: (kinds) => (kinds.every((kind) => kind === 'text') ? undefined : kinds),
  truncation: (mode) => (mode === 'disabled' ? undefined : mode),
  // An empty name is none: some providers refuse one.
  user: (name) => (name === '' ? undefined : name),
  safetyIdentifier: (name) => (name === '' ? undefined : name),
  // `fast` is another name of `priority` (docs/contract/requests.md#shared-fields); `auto` is what every provider does by itself.
  serviceTier: (tier) => (tier === 'auto' ? undefined : tier === 'fast' ? 'priority' : tier),
}

/** No answer ends at an empty sequence. */
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

/** Undefined where nothing is set. */
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
