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
const NOT_SAID = ['type', 'id', 'status'] as const

/** The members of an update that a preset may lock. */
export type Updatable = 'reasoning' | 'text'

interface HeldUpdates {
  /** Replaces the input by one without these updates. */
  readonly changes: JsonChanges
  /** The paths of the updates. */
  readonly paths: readonly string[]
}

/** Removes the updates of what a preset locks. */
export function* withoutUpdates(body: JsonBody, locked: readonly Updatable[]): Steps<HeldUpdates> {
  const raw = body.raw('input')
  if (raw?.startsWith('[') !== true || !(yield* lookForName(/"configuration_update"/, raw))) return { changes: {}, paths: [] }
  const input = yield* body.parsing('input')
  const paths: string[] = []
  const kept = yield* editElementsInSteps(raw, (text, at) => {
    const item = Array.isArray(input) ? input[at] : undefined
    if (!isObject(item) || item['type'] !== UPDATE) return text
    const held = locked.filter((name) => (item[name] ?? null) !== null)
    if (held.length === 0) return text
    paths.push(...held.map((name) => `input[${at}].${name}`))
    return saysMore(item, held) ? editMembers(text, Object.fromEntries(held.map((name) => [name, null]))) : null
  })
  return paths.length === 0 ? { changes: {}, paths } : { changes: { input: kept }, paths }
}

const saysMore = (item: Readonly<Record<string, unknown>>, held: readonly Updatable[]): boolean =>
  UPDATABLE.some((name) => !held.includes(name) && (item[name] ?? null) !== null)

const UPDATABLE: readonly Updatable[] = ['reasoning', 'text']
