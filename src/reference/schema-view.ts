/** Renders a schema as expandable lists of fields. The amount that is expanded in place is bounded; the rest is linked. */
import { type JsonObject, membersOf } from '../lib/json/json.ts'
import type { Steps } from '../lib/steps.ts'
import type { DocumentReader } from './document-reader.ts'
import { type Markup, anchor, html, prose } from './markup.ts'
import { entriesOf, isEmpty, objectAt, textAt, textsAt } from './read-json.ts'
import { alternatives, discriminator, limitTexts, referenceName, typeText, typesOf } from './schema-text.ts'

/** A named schema with more fields is linked, not expanded in place: the tools of an interface have hundreds. */
const INLINE_FIELDS_MAX = 15

/** A list with at least this many fields shows the essential ones first. */
const FOLD_FIELDS_MIN = 14

export interface SchemaView {
  /** The fields of a body. `essential`: those to show if there are many; others are folded. */
  body(schema: JsonObject, essential: ReadonlySet<string>): Markup
  answer(schema: JsonObject): Markup
  /** The fields of a schema in the section of schemas, where references are only linked. */
  section(name: string, schema: JsonObject): Markup
}

interface Place {
  /** The number of nested references that may still be expanded in place. */
  readonly references: number
  readonly answer: boolean
}

export const schemaView = (reader: DocumentReader): SchemaView => {
  const openable = (schema: JsonObject, place: Place): readonly Markup[] => {
    const name = referenceName(schema)
    if (name !== null) {
      const target = reader.resolve(schema).value
      return place.references === 0 || fieldCount(target) > INLINE_FIELDS_MAX
        ? []
        : openable(target, { ...place, references: place.references - 1 })
    }
    const choices = alternatives(schema).filter((choice) => !isPlain(choice))
    if (choices.length > 0) return variants(choices, place)
    const values = objectAt(schema, 'additionalProperties')
    const items = objectAt(schema, 'items')
    return [
      ...(isEmpty(objectAt(schema, 'properties')) ? [] : [fieldList(schema, place, null)]),
      ...(isEmpty(items) ? [] : openable(items, place)),
      ...(isEmpty(values) ? [] : openable(values, place)),
    ]
  }

  const variants = (choices: readonly JsonObject[], place: Place): readonly Markup[] => {
    const only = choices[0]
    if (choices.length === 1 && only !== undefined) return openable(only, place)
    const rows = choices.map((choice) => {
      const label = discriminator(reader.resolve(choice).value)
      const inside = openable(choice, place)
      const link = referenceName(choice) === null ? null : typeText(choice)
      const title = html`${label === null ? null : html`<code>${label}</code> `}${label === null && link === null ? typeText(choice) : link}`
      if (inside.length === 0) return html`<li class="variant">${title}</li>`
      return html`<li class="variant">
        <details>
          <summary>${title}</summary>
          ${inside}
        </details>
      </li>`
    })
    return [
      html`<ul class="variants">
        ${rows}
      </ul>`,
    ]
  }

  const fieldList = (schema: JsonObject, place: Place, essential: ReadonlySet<string> | null): Markup => {
    const required = new Set(textsAt(schema, 'required'))
    const rows = entriesOf(objectAt(schema, 'properties')).map(([name, field]) => ({
      first: required.has(name) || essential?.has(name) === true,
      row: fieldRow(name, field, required.has(name), place),
    }))
    const first = rows.filter((row) => row.first)
    const rest = rows.filter((row) => !row.first)
    if (essential === null || rows.length < FOLD_FIELDS_MIN || first.length === 0)
      return html`<ul class="fields">
        ${rows.map(({ row }) => row)}
      </ul>`
    return html`<ul class="fields">
        ${first.map(({ row }) => row)}
      </ul>
      <details class="more">
        <summary>${rest.length} more fields, all optional</summary>
        <ul class="fields">
          ${rest.map(({ row }) => row)}
        </ul>
      </details>`
  }

  const fieldRow = (name: string, field: JsonObject, required: boolean, place: Place): Markup => {
    const target = reader.resolve(notNull(field)).value
    const description = textAt(field, 'description') || textAt(target, 'description')
    const deprecated = field['deprecated'] === true || target['deprecated'] === true
    const limits = limitTexts(field)
    const inside = openable(field, place)
    return html`<li>
      <div>
        <dfn>${name}</dfn>
        <span class="type">${typeText(field)}</span
        >${presence(required, place)}${deprecated ? html` <span class="flag deprecated">deprecated</span>` : null}
      </div>
      ${description === '' ? null : prose(description)}${limitList(limits)}${
        inside.length === 0
          ? null
          : html`<details>
              <summary>${openLabel(field)}</summary>
              ${inside}
            </details>`
      }
    </li>`
  }

  const openLabel = (field: JsonObject): string => {
    const choices = alternatives(field).filter((choice) => !isPlain(choice))
    if (choices.length > 1) return `${choices.length} shapes`
    const inner = choices[0] ?? objectAt(field, 'items')
    return isEmpty(inner) ? 'Fields' : openLabel(reader.resolve(inner).value)
  }

  const whole = (schema: JsonObject, place: Place, essential: ReadonlySet<string> | null): Markup => {
    const { value } = reader.resolve(schema)
    if (!isEmpty(objectAt(value, 'properties'))) return fieldList(value, place, essential)
    const inside = openable(value, place)
    return html`<div class="shape"><span class="type">${typeText(value)}</span>${limitList(limitTexts(value))}${inside}</div>`
  }

  return {
    body: (schema, essential) => whole(schema, { references: 1, answer: false }, essential),
    answer: (schema) => whole(schema, { references: 1, answer: true }, null),
    section: (name, schema) => whole(schema, { references: 0, answer: reader.answerSchemas.has(name) }, null),
  }
}

/** Marks required fields of a request and optional fields of an answer, since most of the latter are always present. */
const presence = (required: boolean, { answer }: Place): Markup | null => {
  if (answer) return required ? null : html` <span class="flag">optional</span>`
  return required ? html` <span class="flag required">required</span>` : null
}

export const limitList = (limits: readonly Markup[]): Markup | null =>
  limits.length === 0
    ? null
    : html`<ul class="limits">
        ${limits.map((limit) => html`<li>${limit}</li>`)}
      </ul>`

/** Returns the only alternative besides null, if there is exactly one; else the schema. */
const notNull = (schema: JsonObject): JsonObject => {
  const [only = schema, ...others] = alternatives(schema).filter((choice) => choice['type'] !== 'null')
  return others.length === 0 ? only : schema
}

/** Returns true for a plain value, which has nothing to expand. */
const isPlain = (schema: JsonObject): boolean => {
  if (referenceName(schema) !== null) return false
  const types = typesOf(schema)
  if (types.includes('array')) return isPlain(objectAt(schema, 'items'))
  return alternatives(schema).length === 0 && isEmpty(objectAt(schema, 'properties')) && isEmpty(objectAt(schema, 'additionalProperties'))
}

/** Counts the fields of a schema and of the schemas in it, without following references. */
const fieldCount = (schema: JsonObject): number => {
  const properties = entriesOf(objectAt(schema, 'properties'))
  const parts = [
    ...properties.map(([, field]) => field),
    ...alternatives(schema),
    objectAt(schema, 'items'),
    membersOf(schema['additionalProperties']),
  ]
  return properties.length + alternatives(schema).length + parts.reduce((sum, part) => sum + (isEmpty(part) ? 0 : fieldCount(part)), 0)
}

/** The section with every named schema that is not described with its operation, preceded by an index. */
export function* schemaSections(reader: DocumentReader, view: SchemaView): Steps<Markup> {
  const sections: Markup[] = []
  for (const [name, schema] of reader.schemas.filter(([one]) => !reader.bodySchemas.has(one))) {
    sections.push(
      html`<section class="schema" id="${anchor('schema', name)}">
        <h3><a class="self" href="#${anchor('schema', name)}">${name}</a></h3>
        ${prose(textAt(schema, 'description'))}${view.section(name, schema)}
      </section> `,
    )
    yield
  }
  return html`<section class="chapter" id="schemas">
    <h2>Schemas</h2>
    <ul class="index">
      ${reader.schemas.map(([name]) => html`<li><a href="#${anchor('schema', name)}">${name}</a></li>`)}
    </ul>
    ${sections}
  </section>`
}
