/** The chapter on errors: the table of types, and every error response with its examples. */
import type { JsonObject } from '../lib/json/json.ts'
import { jsonCode } from './code-view.ts'
import type { DocumentReader } from './document-reader.ts'
import { type Markup, anchor, html, prose } from './markup.ts'
import { entriesOf, objectAt, objectsAt, textAt } from './read-json.ts'
import { typeText } from './schema-text.ts'

export const errorsChapter = (reader: DocumentReader): Markup => {
  const types = objectsAt(reader.document, 'x-error-types')
  const responses = entriesOf(objectAt(objectAt(reader.document, 'components'), 'responses'))
  const surfaces = Map.groupBy(responses, ([name]) => name.replace(/\d.*$/, ''))
  return html`<section class="chapter" id="errors">
    <h2>Errors</h2>
    <p>
      Every error has a type from this table, wherever its interface puts it. Statuses are those of an error that is told before anything
      was answered.
    </p>
    <div class="scroll">
      <table class="types">
        <thead>
          <tr>
            <th scope="col"><code>error_type</code></th>
            <th scope="col">Status</th>
            <th scope="col">Meaning</th>
            <th scope="col">Responses <code>code</code></th>
            <th scope="col">Messages <code>type</code></th>
          </tr>
        </thead>
        <tbody>
          ${types.map(typeRow)}
        </tbody>
      </table>
    </div>
    ${[...surfaces].map(
      ([surface, members]) =>
        html`<section class="surface">
          <h3>${surface} error answers</h3>
          ${members.map(([name, response]) => responseView(name, response))}
        </section>`,
    )}
  </section>`
}

const typeRow = (row: JsonObject): Markup => {
  const status = JSON.stringify(row['status'] ?? '')
  return html`<tr id="${anchor('type', textAt(row, 'error_type'))}">
    <td><code>${textAt(row, 'error_type')}</code></td>
    <td><span class="status s${status.slice(0, 1)}">${status}</span></td>
    <td>${textAt(row, 'meaning')}</td>
    <td><code>${textAt(row, 'responses_code')}</code></td>
    <td><code>${textAt(row, 'messages_type')}</code></td>
  </tr>`
}

const responseView = (name: string, response: JsonObject): Markup => {
  const json = objectAt(objectAt(response, 'content'), 'application/json')
  const status = /\d{3}/.exec(name)?.[0] ?? ''
  return html`<section class="error-answer" id="${anchor('error', name)}">
    <div class="head">
      <span class="status s${status.slice(0, 1)}">${status}</span> ${prose(textAt(response, 'description'))}
      <span class="type">${typeText(objectAt(json, 'schema'))}</span>
    </div>
    ${entriesOf(objectAt(json, 'examples')).map(
      ([label, example]) =>
        html`<details>
          <summary><code>${label}</code> <span class="summary">${textAt(example, 'summary')}</span></summary>
          <pre tabindex="0">${jsonCode(objectAt(example, 'value'))}</pre>
        </details>`,
    )}
  </section>`
}
