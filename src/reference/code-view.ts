/** Code blocks: highlighted JSON, commands, streams. */
import { type JsonObject, type JsonValue, listOf } from '../lib/json/json.ts'
import { type Markup, html } from './markup.ts'
import { listAt, objectAt, objectsAt, textAt } from './read-json.ts'
import type { OperationEntry } from './document-reader.ts'

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/g

/** Pretty-printed JSON, with the elements that the style sheet colours within `pre`: keys (`i`), strings (`s`) and other values (`u`). */
export const jsonCode = (value: JsonValue): Markup => {
  const text = JSON.stringify(value, null, 2)
  const pieces: Markup[] = []
  let end = 0
  for (const match of text.matchAll(TOKEN)) {
    const [token, string, colon] = match
    pieces.push(html`${text.slice(end, match.index)}`)
    if (string === undefined) pieces.push(html`<u>${token}</u>`)
    else pieces.push(colon === undefined ? html`<s>${string}</s>` : html`<i>${string}</i>${colon}`)
    end = match.index + token.length
  }
  return html`<code>${pieces}${text.slice(end)}</code>`
}

/** A titled block that can be scrolled by keyboard. */
export const codeBlock = (title: string, code: Markup, kind: 'command' | 'sample' = 'sample'): Markup =>
  html`<figure class="code ${kind}">
    <figcaption>${title}</figcaption>
    <pre tabindex="0">${code}</pre>
  </figure>`

/** The curl command for an operation. Keys appear as variables. */
export const curlCommand = (document: JsonObject, { method, path, operation }: OperationEntry, body: JsonValue | undefined): string => {
  const server = objectsAt(document, 'servers').map((one) => textAt(one, 'url'))[0] ?? ''
  const target = filledPath(path, operation) + requiredQuery(operation)
  // The page does not know the address by which its reader reaches the service.
  const url = /^https?:/.test(server) ? shellQuoted(server.replace(/\/$/, '') + target) : `"$PATCHBAY_URL"${shellQuoted(target)}`
  const key = keyVariable(operation)
  const impliedMethod = body === undefined ? 'GET' : 'POST'
  const lines = [
    `curl ${method === impliedMethod ? '' : `-X ${method} `}${url}`,
    ...(key === null ? [] : [`-H "Authorization: Bearer $${key}"`]),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${shellQuoted(JSON.stringify(body, null, 2).replaceAll('\n', '\n  '))}`]),
  ]
  return lines.join(' \\\n  ')
}

const shellQuoted = (text: string): string => (/^[\w:/.@~=&%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

const filledPath = (path: string, operation: JsonObject): string =>
  path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const parameter = objectsAt(operation, 'parameters').find((one) => one['in'] === 'path' && one['name'] === name)
    return encodeURIComponent(parameter === undefined ? name : parameterExample(parameter))
  })

const requiredQuery = (operation: JsonObject): string => {
  const needed = objectsAt(operation, 'parameters').filter((one) => one['in'] === 'query' && one['required'] === true)
  return needed.length === 0
    ? ''
    : `?${needed.map((one) => `${encodeURIComponent(textAt(one, 'name'))}=${encodeURIComponent(parameterExample(one))}`).join('&')}`
}

const parameterExample = (parameter: JsonObject): string => {
  const example = listAt(objectAt(parameter, 'schema'), 'examples')[0]
  if (example === undefined) return textAt(parameter, 'name').toUpperCase()
  return typeof example === 'string' ? example : JSON.stringify(example)
}

/** The kind of key that an operation requires: the role in its security requirement. */
export const keyKind = (operation: JsonObject): 'public' | 'any' | 'management' | 'inference' => {
  const requirement = objectsAt(operation, 'security')[0]
  if (requirement === undefined) return 'public'
  const role = Object.values(requirement).flatMap(listOf)[0]
  return role === 'management' || role === 'inference' ? role : 'any'
}

const keyVariable = (operation: JsonObject): string | null => {
  const kind = keyKind(operation)
  if (kind === 'public') return null
  return kind === 'management' ? 'MANAGEMENT_KEY' : 'INFERENCE_KEY'
}
