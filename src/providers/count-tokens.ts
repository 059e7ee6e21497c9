/**
 * How a provider is asked for its own count of a request's input tokens: it gets the request as it would get it for an answer, without the
 * members that only an answer needs, at an address of its own.
 */
import { isObject, jsonIn } from '../lib/json/json.ts'
import type { Steps } from '../lib/steps.ts'
import type { Body, JsonPost } from './transport/json-post.ts'
import type { Attempt, ProviderContext } from './provider.ts'
import { retryHint } from './failures/retry-hint.ts'
import { isSuccess } from './transport/upstream-response.ts'
import { wireBody } from './transport/upstream.ts'

export interface CountPost extends Pick<JsonPost, 'url' | 'headers' | 'failure'> {
  readonly body: string
  /** The member of the answer that has the count. */
  readonly member: string
  /** Returns true for a status with which the provider says that it does not count such a request. */
  readonly doesNotCount: (status: number) => boolean
}

const BODY_MAX = 64 * 1024

/** Null if the provider does not count such a request, or answers without a count. Throws a GatewayError for every other failure. */
export const askForCount = async (
  { url, headers, body, member, failure, doesNotCount }: CountPost,
  { target, connection }: Attempt,
  { upstream, clock }: ProviderContext,
): Promise<number | null> => {
  const response = await upstream.post({ url, headers: { ...JSON_HEADERS, ...headers }, body, stream: false, connection })
  const { status } = response
  if (isSuccess(status)) return countIn(await response.text(BODY_MAX), member)
  const reported = await response.beginning(BODY_MAX)
  if (doesNotCount(status)) return null
  throw failure(status, reported, target, retryHint(response.headers, clock.now()))
}

/** Compression would gain nothing, and a compressed answer can be a bomb. */
export const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json', 'accept-encoding': 'identity' } as const

/** Returns the text of an encoded request with only these members; the endpoints that count refuse others. */
export function* countedText(encoded: Body, members: ReadonlySet<string>): Steps<string> {
  const body = yield* wireBody(encoded)
  yield
  return body.textWith(Object.fromEntries(body.keys.filter((key) => !members.has(key)).map((key) => [key, null])))
}

/**
 * For the endpoints of Google, OpenAI and Amazon, which count less than their models answer: a refusal may be about the count alone, since
 * the model is not counted, or the credential may only ask for answers.
 */
export const isRefusal = (status: number): boolean => status >= 400 && status < 500 && status !== 408 && status !== 429

const countIn = (text: string, member: string): number | null => {
  const answer = jsonIn(text)
  const count = isObject(answer) ? answer[member] : undefined
  return typeof count === 'number' ? count : null
}
