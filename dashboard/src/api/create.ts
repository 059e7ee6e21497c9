/**
 * Creates an object, or a new secret, once for each attempt of a person: if an answer was lost, the same request is sent with the same `Idempotency-Key`, so
 * that the service creates nothing a second time and answers as before, with a new key too (docs/contract/management.md#repetition).
 */
import { ApiError } from './api-error.ts'
import { type ApiRequest, ask, askRaw, readAnswer } from './client.ts'
import type { Query } from './path.ts'

type Creation = Pick<ApiRequest, 'query' | 'headers' | 'body'>

/** The keys of the attempts that run, or that may have created something. A request that differs in anything is another attempt. */
const attempts = new Map<string, { readonly path: string; readonly key: string }>()

/** `read` reads the whole response. Throws ApiError. */
export const create = async <Answer>(
  path: string,
  request: Creation,
  read: (response: Response) => Promise<Answer> = readAnswer,
): Promise<Answer> => {
  const attempt = JSON.stringify([path, request])
  const known = attempts.get(attempt)
  const { key } = known ?? { key: newKey() }
  attempts.set(attempt, { path, key })
  try {
    const answer = await read(await askRaw(path, { ...request, method: 'POST', headers: { ...request.headers, 'idempotency-key': key } }))
    attempts.delete(attempt)
    return answer
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown
    if (thrown.isUnreachable) throw new ApiError(UNREACHED, { status: 0 })
    // A repetition that is refused says nothing about the request before it.
    if (known === undefined && thrown.status < 500) attempts.delete(attempt)
    throw thrown
  }
}

const UNREACHED =
  'The service could not be reached. This may have been done all the same: if you repeat it unchanged, it is done only once.'

/** Deletes an object that `create` made at this path. The next one like it is a new one, even if the answer to the first was lost. */
export const remove = async (path: string, query: Query = {}): Promise<unknown> => {
  const answer = await ask(path, { method: 'DELETE', query })
  for (const [attempt, { path: at }] of attempts) if (path.startsWith(`${at}/`)) attempts.delete(attempt)
  return answer
}

/** `crypto.randomUUID` is missing where the page is served without TLS. */
const newKey = (): string => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
