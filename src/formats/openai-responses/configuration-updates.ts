/**
 * Items of a Responses input that change the effort or the output format in the middle of a conversation
 * (docs/contract/responses.md#input). Each setting holds until a later item changes it, so the last one counts for the answer.
 */
import type { JsonBody } from '../../lib/json/json-body.ts'
import { editElementsInSteps, editMembers } from '../../lib/json/json-splice.ts'
import { isObject, type JsonChanges } from '../../lib/json/json.ts'
import { lookForName } from '../../lib/text/may-name.ts'
import type { Steps } from '../../lib/steps.ts'
import { reasoningEffort } from '../../request-fields/schemas/reasoning.ts'
import { member, type Node, optionalChild, requiredWord, watchedNode } from '../json-node.ts'

export const isUpdate = ({ members }: Node): boolean => members['type'] === UPDATE

const UPDATE = 'configuration_update'

export interface Updated {
  readonly effort: { readonly value: string; readonly field: string } | null
  /** The object that has the `format`. */
  readonly text: Node | null
  /** The updates, which know what of them was read. */
  readonly watched: readonly Node[]
}

export const readUpdates = (items: readonly Node[]): Updated => {
  const watched = items.filter(isUpdate).map(watchedNode)
  let updated: Updated = { effort: null, text: null, watched }
  for (const item of watched) {
    for (const name of NOT_SAID) member(item, name)
    const reasoning = optionalChild(item, 'reasoning')
    if (reasoning !== null && member(reasoning, 'effort') !== undefined) {
      const value = requiredWord(reasoning, 'effort', reasoningEffort.options)
      updated = { ...updated, effort: { value, field: `${reasoning.path}.effort` } }
    }
    const text = optionalChild(item, 'text')
    if (text !== null && member(text, 'format') !== undefined) updated = { ...updated, text }
  }
  return updated
}

/** Members that change nothing. */
const NOT_SAID: ReadonlySet<string> = new Set(['type', 'id', 'status'])

/** A field of an update that a preset locks, or one member of it. */
interface LockedUpdate {
  readonly field: string
  /** Null for the whole of the field. */
  readonly member: string | null
}

interface HeldUpdates {
  /** Replaces the input by one without these updates. */
  readonly changes: JsonChanges
  readonly paths: readonly string[]
}

/** Removes the updates of what a preset locks. */
export function* withoutUpdates(body: JsonBody, locked: readonly LockedUpdate[]): Steps<HeldUpdates> {
  const raw = body.raw('input')
  if (raw?.startsWith('[') !== true || !(yield* lookForName(/"configuration_update"/, raw))) return { changes: {}, paths: [] }
  const input = yield* body.parsing('input')
  const paths: string[] = []
  const kept = yield* editElementsInSteps(raw, (text, at) => {
    const item = Array.isArray(input) ? input[at] : undefined
    if (!isObject(item) || item['type'] !== UPDATE) return text
    const changes: Record<string, string | null> = {}
    for (const lock of locked) {
      const rest = withoutLocked(item[lock.field], lock)
      if (rest === undefined) continue
      changes[lock.field] = rest === null ? null : JSON.stringify(rest)
      paths.push(`input[${at}].${lock.field}`)
    }
    if (Object.keys(changes).length === 0) return text
    const saysMore = Object.keys(item).some((name) => !NOT_SAID.has(name) && changes[name] !== null && (item[name] ?? null) !== null)
    return saysMore ? editMembers(text, changes) : null
  })
  return paths.length === 0 ? { changes: {}, paths } : { changes: { input: kept }, paths }
}

/** Returns the rest of a field; null if nothing is left, undefined if it holds nothing that is locked. */
const withoutLocked = (value: unknown, { member: name }: LockedUpdate): object | null | undefined => {
  if ((value ?? null) === null) return undefined
  if (name === null || !isObject(value)) return null
  if ((value[name] ?? null) === null) return undefined
  const rest = Object.entries(value).filter(([key]) => key !== name)
  return rest.length === 0 ? null : Object.fromEntries(rest)
}
