/** Describes a schema briefly: its type, its limits, its values. */
import { isObject, type JsonObject, type JsonValue, membersOf } from '../lib/json/json.ts'
import { type Markup, anchor, html, joined } from './markup.ts'
import { isEmpty, listAt, objectAt, objectsAt, textAt } from './read-json.ts'

/** If there are more alternatives, they are counted, not listed. */
const ALTERNATIVES_MAX = 4

export const typeText = (schema: JsonObject): Markup => {
  const name = referenceName(schema)
  if (name !== null) return html`<a href="#${anchor('schema', name)}">${name}</a>`
  const choices = alternatives(schema)
  if (choices.length > 0) return alternativesText(choices)
  if (schema['const'] !== undefined) return html`${JSON.stringify(schema['const'])}`
  const types = typesOf(schema)
  if (types.length === 0) return html`${isEmpty(objectAt(schema, 'properties')) ? 'any' : 'object'}`
  return joined(
    types.map((type) => oneType(type, schema)),
    ' or ',
  )
}

const oneType = (type: string, schema: JsonObject): Markup => {
  if (type === 'array') {
    const items = objectAt(schema, 'items')
    if (isEmpty(items)) return html`array`
    return alternatives(items).length > 1 ? html`array of (${typeText(items)})` : html`array of ${typeText(items)}`
  }
  if (type === 'object' && isEmpty(objectAt(schema, 'properties'))) {
    const values = objectAt(schema, 'additionalProperties')
    return isEmpty(values) ? html`object` : html`map to ${typeText(values)}`
  }
  const format = textAt(schema, 'format')
  return format === '' ? html`${type}` : html`${type} (${format})`
}

const alternativesText = (choices: readonly JsonObject[]): Markup => {
  const shown = new Map(choices.map((choice) => [typeText(choice).markup, typeText(choice)]))
  const isNull = (text: string): boolean => text === 'null'
  const texts = [...shown].filter(([text]) => !isNull(text)).map(([, markup]) => markup)
  const orNull = shown.has('null') ? [html`null`] : []
  if (texts.length > ALTERNATIVES_MAX) return html`${joined([html`one of ${choices.length - orNull.length} shapes`, ...orNull], ' or ')}`
  return joined([...texts, ...orNull], ' or ')
}

export const referenceName = (schema: JsonObject): string | null => {
  const reference = textAt(schema, '$ref')
  return reference === '' ? null : (reference.split('/').at(-1) ?? null)
}

export const alternatives = (schema: JsonObject): readonly JsonObject[] => [...objectsAt(schema, 'anyOf'), ...objectsAt(schema, 'oneOf')]

export const typesOf = (schema: JsonObject): readonly string[] => {
  const type = schema['type']
  return (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string')
}

/** Limits of the value itself and, for a list, of its items. */
export const limitTexts = (schema: JsonObject): readonly Markup[] => {
  const items = objectAt(schema, 'items')
  const nested = alternatives(schema).flatMap((choice) =>
    typesOf(choice).includes('object') || referenceName(choice) !== null ? [] : limitTexts(choice),
  )
  return [
    ...range(schema, 'minLength', 'maxLength', 'character'),
    ...range(schema, 'minimum', 'maximum', ''),
    ...range(schema, 'minItems', 'maxItems', 'item'),
    ...range(schema, 'minProperties', 'maxProperties', 'key'),
    ...pattern(schema),
    ...enumValues(schema),
    ...(isEmpty(items) || referenceName(items) !== null ? [] : limitTexts(items).map((text) => html`each: ${text}`)),
    ...nested,
    ...defaultValue(schema),
    ...(schema['additionalProperties'] === false ? [html`unknown fields are refused`] : []),
  ]
}

const range = (schema: JsonObject, low: string, high: string, unit: string): readonly Markup[] => {
  const min = schema[low]
  const max = schema[high]
  const of = (count: number): string => (unit === '' ? '' : ` ${unit}${count === 1 ? '' : 's'}`)
  if (typeof min === 'number' && typeof max === 'number') return [html`${min} to ${max}${of(max)}`]
  if (typeof min === 'number') return [unit === '' ? html`≥ ${min}` : html`at least ${min}${of(min)}`]
  if (typeof max === 'number') return [unit === '' ? html`≤ ${max}` : html`at most ${max}${of(max)}`]
  return []
}

const pattern = (schema: JsonObject): readonly Markup[] => {
  const text = textAt(schema, 'pattern')
  return text === '' ? [] : [html`matches <code>${text}</code>`]
}

/** If there are more values, they are folded. */
const VALUES_MAX = 16

const enumValues = (schema: JsonObject): readonly Markup[] => {
  const values = listAt(schema, 'enum').filter((value) => value !== null)
  if (values.length === 0) return []
  const list = html`<span class="values">${values.map((value) => html`<code>${plain(value)}</code> `)}</span>`
  return [
    values.length <= VALUES_MAX
      ? list
      : html`<details>
          <summary>one of ${values.length} values</summary>
          ${list}
        </details>`,
  ]
}

const defaultValue = (schema: JsonObject): readonly Markup[] => {
  const value = schema['default']
  return value === undefined ? [] : [html`default <code>${plain(value)}</code>`]
}

const plain = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Returns the value that distinguishes an alternative from the others: `type: "function"`; null if nothing does. */
export const discriminator = (schema: JsonObject): string | null => {
  const properties = objectAt(schema, 'properties')
  for (const name of ['type', 'role', 'id']) {
    const property = membersOf(properties[name])
    const values = property['const'] === undefined ? listAt(property, 'enum') : [property['const']]
    if (values.length > 0 && isObject(properties[name])) return `${name}: ${values.map((value) => JSON.stringify(value)).join(' | ')}`
  }
  return null
}
