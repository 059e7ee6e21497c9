import { z } from 'zod'

import type { WarningCode } from '../canonical/warning.ts'

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

const tagValues = (shape: z.ZodObject, tag: string): string[] => {
  const member = shape.shape[tag]
  const schema = member instanceof z.ZodOptional ? member.unwrap() : member
  if (schema instanceof z.ZodLiteral) return [...schema.values].map(String)
  if (schema instanceof z.ZodEnum) return schema.options.map(String)
  throw new TypeError(`A shape of a tagged list has no fixed "${tag}".`)
}
