/** Edits of JSON text: everything that is not changed stays byte for byte. */
import { ACCEPTED } from './json-limits.ts'
import { type JsonMember, scanElements, scanMembers } from './json-scan.ts'
import type { JsonSpan } from './json-skip.ts'
import type { JsonChanges } from './json.ts'
import { startPace, type Steps } from '../steps.ts'

/** A few names are compared faster than they are put into a set. */
const FEW = 16

/** The text of an object with some members replaced in place, added at the end, or removed. `members` says where its members stand. */
export const spliceMembers = (text: string, members: readonly JsonMember[], changes: JsonChanges): string => {
  let out = ''
  let cursor = 0
  let kept = 0
  for (let position = 0; position < members.length; position += 1) {
    const member = members[position]
    if (member === undefined) break
    const change = Object.hasOwn(changes, member.key) ? changes[member.key] : undefined
    if (change === undefined) {
      kept += 1
      continue
    }
    if (change !== null) {
      out += text.slice(cursor, member.start) + change
      cursor = member.end
      kept += 1
      continue
    }
    out += text.slice(cursor, member.keyStart)
    const next = members[position + 1]
    cursor = next === undefined ? member.end : next.keyStart
    // The last member is removed, and so is the comma before it, which was copied already.
    if (next === undefined && kept > 0) out = out.slice(0, out.lastIndexOf(','))
  }
  const end = members.at(-1)?.end ?? text.indexOf('{') + 1
  let added = ''
  const names = members.length > FEW ? new Set(members.map(({ key }) => key)) : null
  for (const key in changes) {
    const change = changes[key]
    if (change === null || change === undefined || (names?.has(key) ?? isNamed(members, key))) continue
    added += `${kept > 0 ? ',' : ''}${JSON.stringify(key)}:${change}`
    kept += 1
  }
  return out + text.slice(cursor, end) + added + text.slice(end)
}

const isNamed = (members: readonly JsonMember[], name: string): boolean => {
  for (const { key } of members) if (key === name) return true
  return false
}

/**
 * The text of an object inside a body with members changed. Such an object may name a member twice, and every parser uses the last one,
 * so a change applies to all members of that name. Throws JsonTextError.
 */
export const editMembers = (objectText: string, changes: JsonChanges): string =>
  spliceMembers(objectText, nestedMembers(objectText), changes)

/** The JSON text of a member of an object inside a body; if the name occurs twice, the last one. Throws JsonTextError. */
export const rawMember = (objectText: string, key: string): string | undefined => {
  const member = nestedMembers(objectText).findLast((one) => one.key === key)
  return member === undefined ? undefined : objectText.slice(member.start, member.end)
}

/** The JSON texts of the members of an object inside a body, by name. Throws JsonTextError. */
export const readMembers = (objectText: string): ReadonlyMap<string, string> =>
  new Map(nestedMembers(objectText).map(({ key, start, end }) => [key, objectText.slice(start, end)]))

/** The positions of the members of an object inside a body. Throws JsonTextError. */
export const nestedMembers = (objectText: string): JsonMember[] => scanMembers(objectText, ACCEPTED, 'repeated')

/** A JSON array's text with elements replaced, or removed if `edit` returns null; every other byte stays. Throws JsonTextError. */
export const editElements = (arrayText: string, edit: (elementText: string, index: number) => string | null): string => {
  const elements = scanElements(arrayText)
  return spliceElements(
    arrayText,
    elements,
    elements.map(({ start, end }, index) => edit(arrayText.slice(start, end), index)),
  )
}

/** Like `editElements`, in steps, for long lists and for lists within their elements. */
export function* editElementsInSteps(
  arrayText: string,
  edit: (elementText: string, index: number) => Steps<string | null> | string | null,
): Steps<string> {
  const elements = scanElements(arrayText)
  const isStep = startPace()
  const put: (string | null)[] = []
  for (const [index, { start, end }] of elements.entries()) {
    const made = edit(arrayText.slice(start, end), index)
    put.push(typeof made === 'object' && made !== null ? yield* made : made)
    if (isStep(end - start)) yield
  }
  return spliceElements(arrayText, elements, put)
}

const spliceElements = (arrayText: string, elements: readonly JsonSpan[], put: readonly (string | null)[]): string => {
  let out = ''
  let cursor = 0
  let kept = 0
  for (const [index, { start, end }] of elements.entries()) {
    const next = put[index] ?? null
    if (next !== null) {
      kept += 1
      if (next.length === end - start && next === arrayText.slice(start, end)) continue
      out += arrayText.slice(cursor, start) + next
      cursor = end
      continue
    }
    out += arrayText.slice(cursor, start)
    const following = elements[index + 1]
    cursor = following === undefined ? end : following.start
    // The last element is removed, and so is the comma before it, which was copied already.
    if (following === undefined && kept > 0) out = out.slice(0, out.lastIndexOf(','))
  }
  return out + arrayText.slice(cursor)
}
