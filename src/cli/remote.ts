/** The management API of a running service, for the commands of the shell. */
import { SettingError, type RemoteSettings } from '../config.ts'
import { systemClock } from '../lib/clock.ts'
import { systemFault } from '../lib/system-fault.ts'
import { definedOnly } from '../lib/defined-only.ts'
import { isObject, type JsonObject, listOf, objectIn } from '../lib/json/json.ts'
import { VERSION } from '../version.ts'

export interface Remote {
  /** Without a slash at the end, and without the path of the API. */
  readonly url: string
  /** The workspace that every request names; if absent, that of the key. */
  readonly workspace?: string
  /** Rejects with RemoteRefused or RemoteUnreachable. */
  ask(method: RemoteMethod, path: string, options?: RemoteOptions): Promise<RemoteAnswer>
  /** Every entry of a list that is paged by `offset` and `limit`. */
  list(path: string, query?: RemoteOptions['query']): Promise<readonly JsonObject[]>
}

export type RemoteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface RemoteOptions {
  readonly body?: JsonObject
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly headers?: Readonly<Record<string, string>>
}

export interface RemoteAnswer {
  readonly status: number
  readonly headers: Headers
  readonly json: JsonObject
}

/** The service answered with a refusal. `issues` are the faulty places in the body, if the answer names them. */
export class RemoteRefused extends Error {
  override readonly name = 'RemoteRefused'
  readonly status: number
  readonly issues: readonly RemoteIssue[]

  constructor(status: number, message: string, issues: readonly RemoteIssue[]) {
    super(message)
    this.status = status
    this.issues = issues
  }
}

export interface RemoteIssue {
  readonly path: string
  readonly message: string
}

export class RemoteUnreachable extends Error {
  override readonly name = 'RemoteUnreachable'
}

const LIST_PAGE = 100
const TIMEOUT_MS = 60_000

/** `workspace` is an id or slug, for a management key of the default workspace. Throws SettingError if no key is set. */
export const createRemote = ({ url, managementKey }: RemoteSettings, workspace?: string): Remote => {
  if (managementKey === null)
    throw new SettingError('set PATCHBAY_MANAGEMENT_KEY to a management key of the service, and PATCHBAY_URL to its address.')
  const base = url.replace(/\/+$/, '').replace(/\/(?:api\/)?v1$/, '')
  const ask: Remote['ask'] = async (method, path, { body, query = {}, headers = {} } = {}) => {
    const named = { ...query, workspace_id: path.startsWith('/workspaces/') ? undefined : workspace }
    const search = new URLSearchParams(definedOnly(named)).toString()
    const target = `${base}/api/v1${path}${search === '' ? '' : `?${search}`}`
    const timeout = new AbortController()
    const cancel = systemClock.after(TIMEOUT_MS, () => timeout.abort(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)))
    let response: Response
    let text: string
    try {
      response = await fetch(target, {
        method,
        redirect: 'error',
        headers: {
          authorization: `Bearer ${managementKey}`,
          'user-agent': `patchbay-cli/${VERSION}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        signal: timeout.signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      text = await response.text()
    } catch (cause) {
      throw new RemoteUnreachable(`${base} cannot be reached (${systemFault(cause)}).`, { cause })
    } finally {
      cancel()
    }
    const json = objectIn(text)
    if (json === null) throw notPatchbay(base, response.status)
    if (!response.ok) throw refusalOf(response.status, json, `${method} ${path}`)
    return { status: response.status, headers: response.headers, json }
  }
  return {
    url: base,
    ...(workspace === undefined ? {} : { workspace }),
    ask,
    async list(path, query = {}) {
      const all: JsonObject[] = []
      for (;;) {
        const { json, status } = await ask('GET', path, { query: { ...query, offset: String(all.length), limit: String(LIST_PAGE) } })
        if (!Array.isArray(json['data'])) throw notPatchbay(base, status)
        const page = json['data'].filter((item): item is JsonObject => isObject(item))
        all.push(...page)
        if (page.length < LIST_PAGE) return all
      }
    },
  }
}

const notPatchbay = (base: string, status: number): RemoteUnreachable =>
  new RemoteUnreachable(`${base} does not answer as Patchbay does (status ${status}): is PATCHBAY_URL right?`)

const refusalOf = (status: number, json: JsonObject, asked: string): RemoteRefused => {
  const error = isObject(json['error']) ? json['error'] : {}
  const metadata = isObject(error['metadata']) ? error['metadata'] : {}
  const issues = listOf(metadata['issues']).flatMap((issue) =>
    isObject(issue) && typeof issue['path'] === 'string' && typeof issue['message'] === 'string'
      ? [{ path: issue['path'], message: issue['message'] }]
      : [],
  )
  // `message` of the management API is the same for every fault of a kind; what is wrong is in `reason`.
  const said = [metadata['reason'], error['message']].find((text) => typeof text === 'string') ?? 'no reason was given'
  return new RemoteRefused(status, `${asked} was refused with ${status}: ${said}`, issues)
}
