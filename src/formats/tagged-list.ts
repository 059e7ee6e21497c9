import { z } from 'zod'

import type { WarningCode } from '../canonical/warning.ts'
import { isObject } from '../lib/json.ts'
import { type Findings, shortText } from './findings.ts'

/** A list whose items say what they are by one member: tools by `type`, plugins by `id`. */
export interface TaggedList {
  readonly tag: string
  readonly shapes: ReadonlyMap<string, z.ZodType>
  /** The shape of an item without the tag; such an item is a fault where there is none. */
  readonly untagged: z.ZodType | undefined
  readonly unknown: WarningCode
}

export const taggedList = (
  tag: string,
  shapes: readonly z.ZodObject[],
  options: { unknown: WarningCode; untagged?: z.ZodType },
): TaggedList => ({
  tag,
  shapes: new Map(shapes.flatMap((shape) => tagValues(shape, tag).map((value) => [value, shape] as const))),
  untagged: options.untagged,
  unknown: options.unknown,
})

/**
 * Each item against the shape that its tag names, so that a fault is told within that shape. An item of an unknown tag
 * comes from a client newer than we are: it is let through with a warning.
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
  const tag = Object.hasOwn(item, list.tag) ? item[list.tag] : undefined
  if (tag === undefined && list.untagged !== undefined) {
    findings.check(list.untagged, item, at)
    return
  }
  if (typeof tag !== 'string') return findings.fault([...at, list.tag], 'Expected a string.')
  const shape = list.shapes.get(tag)
  if (shape === undefined)
    return findings.warn(list.unknown, [...at, list.tag], `"${shortText(tag)}" is not known here; it is kept as it is.`)
  findings.check(shape, item, at)
}

const tagValues = (shape: z.ZodObject, tag: string): string[] => {
  const member = shape.shape[tag]
  const schema = member instanceof z.ZodOptional ? member.unwrap() : member
  if (schema instanceof z.ZodLiteral) return [...schema.values].map(String)
  if (schema instanceof z.ZodEnum) return schema.options.map(String)
  throw new TypeError(`A shape of a tagged list has no fixed "${tag}".`)
}
