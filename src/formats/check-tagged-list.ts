import { isObject } from '../lib/json/json.ts'
import type { TaggedList } from '../request-fields/tagged-list.ts'
import { type Findings, shortText } from './findings.ts'

/**
 * Checks each item against the shape that its tag names, so that a fault is reported within that shape. An item with an unknown
 * tag comes from a client newer than this release and is accepted with a warning.
 */
export const checkTaggedList = (list: TaggedList, value: unknown, at: readonly PropertyKey[], findings: Findings): void => {
  if (!Array.isArray(value)) return findings.fault(at, 'Expected an array.')
  for (const [index, item] of value.entries()) {
    if (findings.full) return
    checkItem(list, item, [...at, index], findings)
  }
}

const checkItem = (list: TaggedList, item: unknown, at: readonly PropertyKey[], findings: Findings): void => {
  if (!isObject(item)) return findings.fault(at, 'Expected an object.')
  const tag = Object.hasOwn(item, list.tag) ? (item[list.tag] ?? undefined) : undefined
  if (tag === undefined && list.untagged !== undefined) {
    findings.check(list.untagged, item, at)
    return
  }
  if (typeof tag !== 'string') return findings.fault([...at, list.tag], 'Expected a string.')
  const shape = list.shapes.get(tag)
  if (shape === undefined) {
    if (list.vendors?.test(tag) === true) return
    return findings.warn(list.unknown, [...at, list.tag], `"${shortText(tag)}" is not known here; it is kept as it is.`)
  }
  findings.check(shape, item, at)
}
