/**
 * The small schemas of which every interface is built. Instances are shared because building schemas takes most of the start-up
 * time. A member that may be absent may also be null, since many SDKs write null for absent (docs/contract/requests.md#bodies).
 */
import { z } from 'zod'

/** Free-form JSON object: a JSON Schema, or a map that is passed to a provider. */
export const jsonObject = z.looseObject({})

export const texts = z.array(z.string())
export const positiveInteger = z.int().min(1)

export const optionalText = z.string().nullish()
export const optionalTexts = texts.nullish()
export const optionalFlag = z.boolean().nullish()
export const optionalNumber = z.number().nullish()
export const optionalPositiveInteger = positiveInteger.nullish()
export const optionalObject = jsonObject.nullish()

/** At most `max` characters, counted as JSON Schema counts them: by code point, so an emoji is one. */
export const textUpTo = (max: number) =>
  z
    .string()
    .refine((text) => text.length <= max || (text.length <= 2 * max && codePoints(text) <= max), `Too long: at most ${max} characters.`)
    .meta({ maxLength: max })

const codePoints = (text: string): number => {
  let count = 0
  for (const _ of text) count += 1
  return count
}
