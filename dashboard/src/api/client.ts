/** All requests to the service go through this file. They use its public API, with the session's second half on each request. */
import { API_BASE } from '../page.ts'
import { ApiError, asLost, readApiError } from './api-error.ts'
import { doubt, markReached, markUnreached } from './connection.ts'
import { pathOf, type Query } from './path.ts'
import { endSession, sessionHalf } from './session-half.ts'

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly query?: Query
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/** Sends and receives JSON; returns undefined if the response has no body. Throws ApiError. */
export const ask = async <Answer>(path: string, request: ApiRequest = {}): Promise<Answer> => {
  const response = await askRaw(path, request)
  return response.status === 204 ? (undefined as Answer) : readAnswer(response)
}

/** Like `ask`, for an answer that has what was asked for in `data`. */
export const askData = async <Data>(path: string, request?: ApiRequest): Promise<Data> => (await ask<{ data: Data }>(path, request)).data

/** Throws ApiError if the connection is lost before the end. */
export const readAnswer = async <Answer>(response: Response): Promise<Answer> => JSON.parse(await response.text().catch(asLost)) as Answer

/** Returns the raw response, for streams and files. Throws ApiError if it is not 2xx, and if there is none. */
export const askRaw = async (path: string, request: ApiRequest): Promise<Response> => {
  const half = sessionHalf()
  const late = setTimeout(() => void doubt(), LATE_MS)
  const response = await fetch(API_BASE + pathOf(path, request.query), {
    method: request.method ?? 'GET',
    headers: {
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(half === null ? {} : { 'x-patchbay-csrf': half }),
      ...request.headers,
    },
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    signal: request.signal ?? null,
    credentials: 'same-origin',
    cache: 'no-store',
  })
    .catch((thrown: unknown) => {
      if (request.signal?.aborted === true) throw thrown
      return null
    })
    .finally(() => clearTimeout(late))
  if (response === null || isOfProxy(response)) {
    markUnreached()
    throw new ApiError(request.method === 'POST' ? UNREACHED_POST : UNREACHED, { status: 0 })
  }
  markReached()
  if (response.ok) return response
  const error = await readApiError(response)
  if (response.status !== 401 || path === SESSIONS) throw error
  endSession(half)
  // Stays where it is shown until somebody has signed in again, so it says what has become of the request.
  throw new ApiError('Your session had ended, so this was not done. Sign in, and do it again.', {
    status: 401,
    type: error.type,
    requestId: error.requestId,
  })
}

const UNREACHED = 'The service could not be reached.'

/** The response may be what was lost, and another POST would do the same once more. */
const UNREACHED_POST = `${UNREACHED} This may have been done all the same: look before you repeat it.`

/** A model may take longer. Everything else has answered by then, unless the network swallows it (decisions/0186). */
const LATE_MS = 10_000

/** A proxy answers for a service that it does not reach. The service itself gives every response an id. */
const isOfProxy = ({ status, headers }: Response): boolean =>
  (status === 502 || status === 503 || status === 504) && !headers.has('x-request-id')

/** A 401 from this path means that a link or a key is bad, not that the session is over. */
const SESSIONS = '/sessions'

/** A name as one segment of a path. It is encoded, since model ids and slugs may hold any character. */
export const segment = (name: string): string => encodeURIComponent(name)
