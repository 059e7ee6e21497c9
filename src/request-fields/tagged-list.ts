import { z } from 'zod'

import type { WarningCode } from '../canonical/warning.ts'

/** A list whose items carry a tag in one member: tools in `type`, plugins in `id`. */
export interface TaggedList {
  readonly tag: string
  readonly shapes: ReadonlyMap<string, z.ZodType>
  /** The shape of an item without the tag; if undefined, such an item is a fault. */
  readonly untagged: z.ZodType | undefined
  readonly unknown: WarningCode
  /** Tags of items whose shape only a vendor knows, and which are passed on to it: they are not reported as unknown. */
  readonly vendors: RegExp | undefined
}

export const taggedList = (
  tag: string,
  shapes: readonly z.ZodObject[],
  options: { unknown: WarningCode; untagged?: z.ZodType; vendors?: RegExp },
): TaggedList => ({
  tag,
  shapes: new Map(shapes.flatMap((shape) => tagValues(shape, tag).map((value) => [value, shape] as const))),
  untagged: options.untagged,
  unknown: options.unknown,
  vendors: options.vendors,
})

const tagValues = (shape: z.ZodObject, tag: string): string[] => {
  const member = shape.shape[tag]
  const schema = unwrapped(member)
  if (schema instanceof z.ZodLiteral) return [...schema.values].map(String)
  if (schema instanceof z.ZodEnum) return schema.options.map(String)
  throw new TypeError(`A shape of a tagged list has no fixed "${tag}".`)
}

const unwrapped = (schema: unknown): unknown =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? unwrapped(schema.unwrap()) : schema
