/** Renders one operation: its parameters and body, its responses, its errors, and its shell command. */
import type { JsonObject, JsonValue } from '../lib/json/json.ts'
import { codeBlock, curlCommand, jsonCode, keyKind } from './code-view.ts'
import { type DocumentReader, type OperationEntry, bodySchema } from './document-reader.ts'
import { type Markup, anchor, html, joined, prose } from './markup.ts'
import { entriesOf, isEmpty, objectAt, objectsAt, textAt } from './read-json.ts'
import { sampleOf } from './sample.ts'
import { limitList, type SchemaView } from './schema-view.ts'
import { limitTexts, referenceName, typeText } from './schema-text.ts'

const KEY_LABELS = { public: 'no key', any: 'any key', management: 'management key', inference: 'inference key' } as const

export const methodBadge = (method: string): Markup => html`<span class="method ${method.toLowerCase()}">${method}</span>`

export const operationView = (reader: DocumentReader, view: SchemaView, entry: OperationEntry): Markup => {
  const { id, method, path, operation } = entry
  const kind = keyKind(operation)
  const body = objectAt(objectAt(objectAt(operation, 'requestBody'), 'content'), 'application/json')
  const schema = bodySchema(operation)
  const name = referenceName(schema)
  const example = isEmpty(body) ? undefined : (body['example'] ?? sampleOf(reader, schema))
  return html`<article class="operation" id="${anchor('op', id)}">
    <div class="about">
      <h3><a class="self" href="#${anchor('op', id)}">${textAt(operation, 'summary') || id}</a></h3>
      <div class="endpoint">
        ${methodBadge(method)} <code>${pathText(path)}</code> <span class="flag key ${kind}">${KEY_LABELS[kind]}</span>
      </div>
      ${prose(textAt(operation, 'description'))} ${parameters(operation, 'path', 'Path parameters')}
      ${parameters(operation, 'query', 'Query parameters')} ${parameters(operation, 'header', 'Headers')}
      ${
        isEmpty(body)
          ? null
          : html`<section class="part" ${name !== null && reader.bodySchemas.has(name) ? html` id="${anchor('schema', name)}"` : null}>
              <h4>Body ${schemaLink(schema)}</h4>
              ${prose(textAt(reader.resolve(schema).value, 'description'))}${view.body(schema, essentialFields(operation, example))}
            </section>`
      }
      <section class="part">
        <h4>Answers</h4>
        ${entriesOf(objectAt(operation, 'responses')).map(([status, answer]) => answerView(reader, view, status, answer))}
      </section>
      ${errorTable(reader, operation)}
    </div>
    <div class="examples">
      ${codeBlock('Request', html`<code>${curlCommand(reader.document, entry, example)}</code>`, 'command')}
      ${entriesOf(objectAt(operation, 'responses')).map(([status, answer]) => answerExample(reader, status, answer))}
    </div>
  </article> `
}

/** The path with its parameters highlighted and with line break opportunities. */
const pathText = (path: string): Markup =>
  html`${path.split(/(?=\/)/).map((segment) => html`<wbr />${segment.startsWith('/{') ? html`/<var>${segment.slice(1)}</var>` : segment}`)}`

const schemaLink = (schema: JsonObject): Markup | null =>
  textAt(schema, '$ref') === '' ? null : html`<span class="type">${typeText(schema)}</span>`

/** The fields that the example sets, and the field that switches to streaming if there is one. */
const essentialFields = (operation: JsonObject, example: JsonValue | undefined): ReadonlySet<string> => {
  const streams = entriesOf(objectAt(operation, 'responses')).some(
    ([, answer]) => objectAt(answer, 'content')['text/event-stream'] !== undefined,
  )
  const set = typeof example === 'object' && example !== null && !Array.isArray(example) ? Object.keys(example) : []
  return new Set(streams ? [...set, 'stream'] : set)
}

const parameters = (operation: JsonObject, place: string, title: string): Markup | null => {
  const all = objectsAt(operation, 'parameters').filter((parameter) => parameter['in'] === place)
  if (all.length === 0) return null
  return html`<section class="part">
    <h4>${title}</h4>
    <ul class="fields">
      ${all.map((parameter) => {
        const schema = objectAt(parameter, 'schema')
        return html`<li>
          <div>
            <dfn>${textAt(parameter, 'name')}</dfn> <span class="type">${typeText(schema)}</span>${
              parameter['required'] === true ? html` <span class="flag required">required</span>` : null
            }
          </div>
          ${prose(textAt(parameter, 'description'))}${limitList(limitTexts(schema))}
        </li>`
      })}
    </ul>
  </section>`
}

/** Errors are references to components; an inline response is the operation's own. */
const isError = (answer: JsonObject): boolean => textAt(answer, '$ref') !== ''

const statusBadge = (status: string): Markup => html`<span class="status s${status.slice(0, 1)}">${status}</span>`

const answerView = (reader: DocumentReader, view: SchemaView, status: string, answer: JsonObject): Markup | null => {
  if (isError(answer)) return null
  const content = objectAt(answer, 'content')
  const json = objectAt(objectAt(content, 'application/json'), 'schema')
  const stream = objectAt(objectAt(content, 'text/event-stream'), 'schema')
  const headers = entriesOf(objectAt(answer, 'headers'))
  const reported = reader.resolve(json).value
  const hasFields = !isEmpty(objectAt(reported, 'properties'))
  return html`<div class="answer">
    <div class="head">${statusBadge(status)} ${prose(textAt(answer, 'description'))}</div>
    ${
      hasFields
        ? html`<details>
            <summary>Fields of the answer</summary>
            ${view.answer(json)}
          </details>`
        : null
    }
    ${isEmpty(stream) ? null : html`<div class="note"><code>text/event-stream</code> ${prose(textAt(stream, 'description'))}</div>`}
    ${
      headers.length === 0
        ? null
        : html`<details>
            <summary>Headers of the answer</summary>
            <ul class="fields">
              ${headers.map(([name, header]) => {
                const { value } = reader.resolve(header)
                return html`<li>
                  <div><dfn>${name}</dfn> <span class="type">${typeText(objectAt(value, 'schema'))}</span></div>
                  ${prose(textAt(value, 'description'))}
                </li>`
              })}
            </ul>
          </details>`
    }
  </div>`
}

const errorTable = (reader: DocumentReader, operation: JsonObject): Markup | null => {
  const errors = entriesOf(objectAt(operation, 'responses')).filter(([, answer]) => isError(answer))
  if (errors.length === 0) return null
  return html`<section class="part">
    <h4>Errors</h4>
    <table class="errors">
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">When</th>
          <th scope="col"><code>error_type</code></th>
        </tr>
      </thead>
      <tbody>
        ${errors.map(([status, answer]) => {
          const { name, value } = reader.resolve(answer)
          const retry = isEmpty(objectAt(objectAt(value, 'headers'), 'Retry-After')) ? null : html` <span class="flag">Retry-After</span>`
          return html`<tr>
            <td><a href="#${anchor('error', name ?? '')}">${statusBadge(status)}</a></td>
            <td>${textAt(value, 'description')}${retry}</td>
            <td>
              ${joined(
                errorTypes(value).map((type) => html`<code>${type}</code>`),
                ' ',
              )}
            </td>
          </tr>`
        })}
      </tbody>
    </table>
  </section>`
}

/** The error types in an error component, each once, read from the examples of any shape. */
const errorTypes = (response: JsonObject): readonly string[] => {
  const examples = entriesOf(objectAt(objectAt(objectAt(response, 'content'), 'application/json'), 'examples'))
  const types = examples.map(([name, example]) => {
    const value = objectAt(example, 'value')
    const error = objectAt(value, 'error')
    return textAt(value, 'error_type') || textAt(error, 'error_type') || textAt(objectAt(error, 'metadata'), 'error_type') || name
  })
  return [...new Set(types)]
}

const answerExample = (reader: DocumentReader, status: string, answer: JsonObject): Markup | null => {
  if (isError(answer)) return null
  const content = objectAt(answer, 'content')
  const json = objectAt(content, 'application/json')
  const stream = textAt(objectAt(content, 'text/event-stream'), 'example')
  const value = json['example'] ?? sampleOf(reader, objectAt(json, 'schema'))
  const isSaying = !isEmpty(json) && JSON.stringify(value) !== '{}'
  return html`${isSaying ? codeBlock(`Answer ${status}`, jsonCode(value)) : null}${stream === '' ? null : codeBlock('Answer as a stream', html`<code>${stream.trimEnd()}</code>`)}`
}
