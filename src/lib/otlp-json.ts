/** The JSON form of OTLP: ids are hex, 64-bit integers are text, and each value names its type. */

/** The form in which the value of an attribute is sent. */
export type AttributeType = 'string' | 'int' | 'double' | 'bool' | 'strings'

export type AttributeValue = string | number | boolean | readonly string[]

/** In the protocol's own terms. */
export interface OtlpAttribute {
  readonly key: string
  readonly value: OtlpValue
}

type OtlpValue =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly boolValue: boolean }
  | { readonly arrayValue: { readonly values: readonly OtlpValue[] } }

export const otlpAttribute = (key: string, value: AttributeValue, type: AttributeType): OtlpAttribute => ({
  key,
  value: valueOf(value, type),
})

/** Takes the type from the value itself: whole numbers are integers. */
export const untypedAttribute = (key: string, value: AttributeValue): OtlpAttribute => otlpAttribute(key, value, typeOf(value))

const typeOf = (value: AttributeValue): AttributeType => {
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'int' : 'double'
  return 'strings'
}

const valueOf = (value: AttributeValue, type: AttributeType): OtlpValue => {
  if (Array.isArray(value)) return { arrayValue: { values: value.map((item) => ({ stringValue: wellFormed(String(item)) })) } }
  if (type === 'bool') return { boolValue: value === true }
  if (type === 'int') return { intValue: String(Math.round(Number(value))) }
  if (type === 'double') return { doubleValue: Number(value) }
  return { stringValue: wellFormed(String(value)) }
}

/** A lone surrogate cannot be encoded in UTF-8, which the protocol requires. */
const wellFormed = (text: string): string => text.toWellFormed()

/** Nanoseconds since the epoch, as text: a double cannot hold them exactly. */
export const nanosText = (epochMs: number): string => {
  const whole = Math.floor(epochMs)
  return `${whole}${String(Math.floor((epochMs - whole) * 1_000_000)).padStart(6, '0')}`
}
