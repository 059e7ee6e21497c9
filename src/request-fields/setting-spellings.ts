/**
 * The fields in which each interface keeps the settings of presets, by meaning. This answers three questions: how a preset is
 * translated (formats/translate-config.ts), which fields of one body set the same thing, and what a lock covers
 * (formats/apply-preset.ts).
 */
import { CLIENT_DIALECTS, type ClientDialect, forEachDialect } from '../canonical/call.ts'
import type { FieldMeaning, RequestField } from './field.ts'
import { fieldOf, fieldsWhere, REQUEST_FIELDS } from './request-fields.ts'

/** Paths of at most two steps, the preferred one first; empty if the interface has no such setting. */
export type Spelling = Readonly<Record<ClientDialect, readonly string[]>>

/** These are not settings; a field with such a meaning has the same name on every interface that knows it. */
const WITHOUT_SPELLING: ReadonlySet<FieldMeaning> = new Set(['conversation', 'service', 'written', 'refused', 'none'])

/** A field with several meanings, such as `include`, spells none of them, because one could not be written without the others. */
const spelledBy = (name: string, { presets, means, members = {} }: RequestField): (readonly [FieldMeaning, string])[] => {
  if (presets !== 'keep') return []
  const whole = typeof means === 'string' ? [[means, name] as const] : []
  const parts = Object.entries(members).map(([member, meaning]) => [meaning, `${name}.${member}`] as const)
  return [...whole, ...parts].filter(([meaning]) => !WITHOUT_SPELLING.has(meaning))
}

const pathsIn = (client: ClientDialect): Map<FieldMeaning, string[]> => {
  const paths = Object.entries(REQUEST_FIELDS[client]).flatMap(([name, row]) => spelledBy(name, row))
  return new Map([...Map.groupBy(paths, ([meaning]) => meaning)].map(([meaning, group]) => [meaning, group.map(([, path]) => path)]))
}

const spellings = (): ReadonlyMap<FieldMeaning, Spelling> => {
  const chat = pathsIn('chat')
  const responses = pathsIn('responses')
  const messages = pathsIn('messages')
  const meanings = new Set([...chat.keys(), ...responses.keys(), ...messages.keys()])
  const of = (meaning: FieldMeaning): Spelling => ({
    chat: chat.get(meaning) ?? [],
    responses: responses.get(meaning) ?? [],
    messages: messages.get(meaning) ?? [],
  })
  return new Map([...meanings].map((meaning) => [meaning, of(meaning)]))
}

export const SPELLINGS = spellings()

/** The paths of one interface for one meaning, the preferred one first. */
export const pathsOf = (client: ClientDialect, meaning: FieldMeaning): readonly string[] => SPELLINGS.get(meaning)?.[client] ?? []

const ALL = [...SPELLINGS.values()]
const WITH_MEANING = [...SPELLINGS]

/** The top-level fields of one interface that set the same thing as `field`, itself included. */
const sameSetting = (client: ClientDialect, field: string): readonly string[] => {
  const paths = ALL.find((spelling) => spelling[client].includes(field))?.[client] ?? []
  return paths.length > 1 ? paths.filter((path) => !path.includes('.')) : [field]
}

/** A field of a request that takes the place of a preset's. */
export interface Overriding {
  readonly name: string
  /** The members of the preset's object whose place it takes; null for the whole of it. */
  readonly members: readonly string[] | null
}

/**
 * The fields of a request that replace a preset's `field`: those that set the same thing, including legacy fields that presets do
 * not store. Lists of tools are not replaced but united.
 */
export const overriding = (client: ClientDialect, field: string): readonly Overriding[] => {
  if (field === 'tools') return []
  const own = fieldOf(client, field)?.sets
  return (OLDER_WORDS[client].get(field) ?? sameSetting(client, field)).flatMap((name) => {
    const sets = fieldOf(client, name)?.sets
    if (own === undefined || sets === undefined) return [{ name, members: own === undefined && sets !== undefined ? sets : null }]
    return sets.some((member) => own.includes(member)) ? [{ name, members: null }] : []
  })
}

/** The names that one lock of a preset covers. */
export interface LockedNames {
  /** Paths of the client's interface. */
  readonly paths: readonly string[]
  /** The settings, and the fields, that a vendor's word may not change (vendor-words.ts). */
  readonly changes: readonly string[]
}

/**
 * The names of `client` that a lock of a preset of shape `shape` covers. A lock may use any interface's name for a setting; the
 * preset's own interface is the first to interpret it. A field that presets do not store and that sets the same thing, such as
 * `functions` beside `tools`, is covered too, and so is one that changes the effect of a covered field.
 */
export const lockedNames = (shape: ClientDialect, client: ClientDialect, name: string): LockedNames => {
  const covers = (path: string): boolean => path === name || path.startsWith(`${name}.`)
  const speaker = [shape, client, ...CLIENT_DIALECTS].find((speaker) => ALL.some((spelling) => spelling[speaker].some(covers)))
  const meant = speaker === undefined ? [] : WITH_MEANING.filter(([, spelling]) => spelling[speaker].some(covers))
  const paths = meant.flatMap(([, spelling]) => spelling[client])
  // A field has members that are no settings; and if the interface has no such setting, an upstream may still know the name.
  const named = speaker === client || paths.length === 0 ? [name, ...paths] : paths
  const held = named.flatMap((path) => [path, ...otherNames(client, path)])
  const changing = fieldsWhere(({ changes = [] }) => changes.some((field) => field === name || held.includes(field)), [client])
  return { paths: [...held, ...changing], changes: [name, ...meant.map(([meaning]) => meaning), ...held] }
}

/** The settings of which a field, or one of its members, holds the value: each with the member, which is null for the whole field. */
export const settingsIn = (client: ClientDialect, field: string): readonly (readonly [FieldMeaning, string | null])[] =>
  WITH_MEANING.flatMap(([meaning, spelling]) =>
    spelling[client].flatMap((path) => {
      const [first, member = null] = path.split('.')
      return first === field ? [[meaning, member] as const] : []
    }),
  )

const otherNames = (client: ClientDialect, path: string): readonly string[] => {
  const means = fieldOf(client, path)?.means
  if (typeof means !== 'string' || WITHOUT_SPELLING.has(means)) return []
  return NOT_KEPT[client].get(means) ?? []
}

/** The fields that presets do not keep, by what they mean. */
const notKept = (client: ClientDialect): ReadonlyMap<unknown, readonly string[]> => {
  const names = fieldsWhere(({ presets }) => presets !== 'keep', [client])
  return Map.groupBy(names, (name) => fieldOf(client, name)?.means)
}

const NOT_KEPT = forEachDialect(notKept)

const withOlderWords = (client: ClientDialect): ReadonlyMap<string, readonly string[]> => {
  const kept = fieldsWhere(({ presets }) => presets === 'keep', [client])
  const older = kept.map((field) => [field, otherNames(client, field)] as const)
  return new Map(
    older.flatMap(([field, names]) => (names.length === 0 ? [] : [[field, [...sameSetting(client, field), ...names]] as const])),
  )
}

const OLDER_WORDS = forEachDialect(withOlderWords)
