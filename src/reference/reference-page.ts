/**
 * The API reference as one HTML page, generated only from the OpenAPI document. It loads nothing, runs no script, and works under
 * the policy below.
 */
import { createHash } from 'node:crypto'

import type { JsonObject } from '../lib/json/json.ts'
import type { Steps } from '../lib/steps.ts'
import { codeBlock } from './code-view.ts'
import { type DocumentReader, type OperationGroup, readDocument } from './document-reader.ts'
import { errorsChapter } from './errors-view.ts'
import { type Markup, anchor, html, prose } from './markup.ts'
import { methodBadge, operationView } from './operation-view.ts'
import { entriesOf, objectAt, textAt } from './read-json.ts'
import { schemaSections, type SchemaView, schemaView } from './schema-view.ts'
import { REFERENCE_STYLE } from './style.ts'

/** The page's Content-Security-Policy: its only style sheet is allowed by hash, and its icon is inline. */
export const REFERENCE_PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(REFERENCE_STYLE).digest('base64')}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Exactly the text that was hashed; a template would be re-indented. */
const STYLE_ELEMENT: Markup = { markup: `<style>${REFERENCE_STYLE}</style>` }

/**
 * Renders the complete HTML page in steps. The first time takes a good part of a second in total, so the caller should render it
 * once and keep it.
 */
export function* referencePage(document: JsonObject): Steps<string> {
  const reader = readDocument(document)
  yield
  const view = schemaView(reader)
  yield
  const chapters: Markup[] = []
  for (const group of reader.groups) chapters.push(yield* chapterOf(group, reader, view))
  const schemas = yield* schemaSections(reader, view)
  const errors = errorsChapter(reader)
  yield
  const info = objectAt(document, 'info')
  const title = textAt(info, 'title')
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} API reference</title>
        <link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}" />
        ${STYLE_ELEMENT}
      </head>
      <body>
        <a class="skip" href="#overview">Skip to the reference</a>
        <header class="bar">
          <a class="brand" href="#overview">${{ markup: ICON }}<span>${title}</span></a>
          <span class="version">${textAt(info, 'version')}</span>
        </header>
        <nav class="side" aria-label="Contents">${contents(reader)}</nav>
        <details class="contents">
          <summary>Contents</summary>
          <nav aria-label="Contents">${contents(reader)}</nav>
        </details>
        <main>${overview(reader)} ${chapters} ${errors} ${schemas}</main>
        <a class="up" href="#overview" aria-label="To the top">↑</a>
      </body>
    </html> `.markup
}

function* chapterOf({ name, description, operations }: OperationGroup, reader: DocumentReader, view: SchemaView): Steps<Markup> {
  const views: Markup[] = []
  for (const entry of operations) {
    views.push(operationView(reader, view, entry))
    yield
  }
  return html`<section class="chapter" id="${anchor('tag', name)}">
    <h2>${name}</h2>
    <div class="lead">${prose(description)}</div>
    ${views}
  </section> `
}

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#4f46e5"/><path d="M9 10c0 9 14 3 14 12" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/><circle cx="9" cy="9" r="3.4" fill="#fff"/><circle cx="23" cy="23" r="3.4" fill="#fff"/><circle cx="23" cy="9" r="2" fill="#fff" opacity=".45"/><circle cx="9" cy="23" r="2" fill="#fff" opacity=".45"/></svg>'

const contents = (reader: DocumentReader): Markup =>
  html`<ul class="top">
      <li><a href="#overview">Overview</a></li>
      <li><a href="#authentication">Authentication</a></li>
    </ul>
    ${reader.groups.map(groupContents)}
    <ul class="top">
      <li><a href="#errors">Errors</a></li>
      <li><a href="#schemas">Schemas</a></li>
    </ul>`

const groupContents = ({ name, operations }: OperationGroup): Markup =>
  html`<h2><a href="#${anchor('tag', name)}">${name}</a></h2>
    <ul>
      ${operations.map(
        ({ id, method, path, operation }) =>
          html`<li>
            <a href="#${anchor('op', id)}" title="${textAt(operation, 'summary')}"
              >${methodBadge(method)}<span class="path">${path.replace(/^\/api\/v1/, '')}</span></a
            >
          </li>`,
      )}
    </ul>`

const overview = (reader: DocumentReader): Markup => {
  const info = objectAt(reader.document, 'info')
  const schemes = entriesOf(objectAt(objectAt(reader.document, 'components'), 'securitySchemes'))
  return html`<section class="chapter intro" id="overview">
      <h1>${textAt(info, 'title')} API reference</h1>
      <div class="lead">${prose(textAt(info, 'summary'))}</div>
      ${prose(textAt(info, 'description'))}
      <p>The same as a machine reads it: <a href="openapi.json">openapi.json</a> (OpenAPI ${textAt(reader.document, 'openapi')}).</p>
    </section>
    <section class="chapter intro" id="authentication">
      <h2>Authentication</h2>
      <p>
        Send your key in one of these ways. Management keys work on presets and keys, inference keys call models; each operation says which
        one it wants.
      </p>
      <ul class="fields">
        ${schemes.map(
          ([, scheme]) =>
            html`<li>
              <div><dfn>${schemeHeader(scheme)}</dfn></div>
              ${prose(textAt(scheme, 'description'))}
            </li>`,
        )}
      </ul>
      ${codeBlock('The examples use these variables', html`<code>${KEY_VARIABLES}</code>`, 'command')}
    </section>`
}

const schemeHeader = (scheme: JsonObject): string =>
  textAt(scheme, 'type') === 'http' ? 'Authorization: Bearer <key>' : `${textAt(scheme, 'name')}: <key>`

const KEY_VARIABLES = 'export PATCHBAY_URL=http://127.0.0.1:8080\nexport MANAGEMENT_KEY=pb_mgmt_...\nexport INFERENCE_KEY=pb_inf_...'
