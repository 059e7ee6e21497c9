/** A call of the API as a shell command. */
import { pathOf, type Query } from './api/path.ts'

export interface Call {
  readonly method?: string
  readonly path: string
  readonly query?: Query
  readonly body?: unknown
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export const curlOf = ({ method = 'GET', path, query, body }: Call, key = 'MANAGEMENT_KEY'): string =>
  [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$PATCHBAY_URL"${quoted(`/api/v1${pathOf(path, query)}`)}`,
    `-H "Authorization: Bearer $${key}"`,
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ].join(' \\\n  ')
