/** Settings of a request with the field that the client wrote each of them in. What is absent or null is not set. */
import type { ReasoningSetting, Settings } from '../canonical/settings.ts'
import { child, member, type Node, optionalFlag, optionalNumber, optionalText, optionalTexts, whole } from './json-node.ts'

export interface Reading<Value> {
  readonly value: Value
  readonly field: string
}

type Read<Value> = (node: Node, key: string) => Reading<Value> | undefined

/** An object without its undefined members. */
const present = <Members extends object>(members: { readonly [Key in keyof Members]: Members[Key] | undefined }): Members =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Members

export const settingsOf = (readings: { readonly [Name in keyof Settings]: Settings[Name] | undefined }): Settings => present(readings)

const reading =
  <Value>(read: (node: Node, key: string) => Value | null | undefined): Read<Value> =>
  (node, key) => {
    const value = read(node, key) ?? undefined
    return value === undefined ? undefined : { value, field: node.path === '' ? key : `${node.path}.${key}` }
  }

export const number = reading(optionalNumber)
export const text = reading(optionalText)
export const texts = reading(optionalTexts)
export const flag = reading(optionalFlag)
/** Kept as the client wrote it. */
export const anything: Read<unknown> = reading(member)

export const record: Read<Readonly<Record<string, unknown>>> = reading((node, key) =>
  member(node, key) === undefined ? null : whole(child(node, key)),
)

export const numbers: Read<Readonly<Record<string, number>>> = reading((node, key) => {
  if (member(node, key) === undefined) return null
  const map = child(node, key)
  return Object.fromEntries(Object.keys(whole(map)).flatMap((name) => [[name, optionalNumber(map, name) ?? 0]]))
})

/** A value that asks for what is done without it is not a setting: it must not be warned of. */
export const unless = <Value>(read: Reading<Value> | undefined, same: (value: Value) => boolean): Reading<Value> | undefined =>
  read === undefined || same(read.value) ? undefined : read

export const mapped = <In, Out>(read: Reading<In> | undefined, map: (value: In) => Out): Reading<Out> | undefined =>
  read === undefined ? undefined : { value: map(read.value), field: read.field }

/** `fast` is another name of `priority` (service.md, "Service tier"); `auto` is what every provider does by itself. */
export const serviceTier = (root: Node): Reading<string> | undefined =>
  mapped(
    unless(text(root, 'service_tier'), (tier) => tier === 'auto'),
    (tier) => (tier === 'fast' ? 'priority' : tier),
  )

/** Undefined where nothing is set. */
export const reasoningOf = (
  members: { readonly [Key in keyof ReasoningSetting]: ReasoningSetting[Key] | null | undefined },
  field: string,
): Reading<ReasoningSetting> | undefined => {
  const value = present<ReasoningSetting>({
    enabled: members.enabled ?? undefined,
    effort: members.effort ?? undefined,
    maxTokens: members.maxTokens ?? undefined,
    summary: members.summary ?? undefined,
    exclude: members.exclude ?? undefined,
  })
  return Object.keys(value).length === 0 ? undefined : { value, field }
}
