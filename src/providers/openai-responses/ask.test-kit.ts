/** Asks a scripted upstream over a real socket, and returns the parts of its answer that the tests check. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { pulled } from '../../../test/support/frame-pulling.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { dataEvent, type FakeUpstream, type Script } from '../../../test/support/fake-upstream.ts'
import type { ClientDialect } from '../../canonical/call.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import type { Usage } from '../../canonical/usage.ts'
import { GatewayError } from '../../errors.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import type { Attempt } from '../provider.ts'
import { attemptTo } from '../attempt.test-kit.ts'
import { createUpstream } from '../transport/upstream.ts'
import { openaiResponses } from './openai-responses.ts'

export const API_KEY = 'acme-secret-key-0123456789'
const TIMEOUTS = { streamHeadersMs: 60_000, wholeHeadersMs: 600_000, idleMs: 90_000 }

export interface Read {
  readonly frames: readonly Frame[]
  readonly events: readonly ModelEvent[]
  /** The error that the adapter threw. */
  readonly error: GatewayError | null
}

export interface Options {
  readonly stream?: boolean
  readonly dialect?: ClientDialect
}

export const attemptOf = (baseUrl: string, { stream = true, dialect = 'responses' }: Options = {}): Attempt =>
  attemptTo(
    {
      provider: 'acme',
      providerName: 'Acme',
      baseUrl,
      apiKey: API_KEY,
      modelId: 'acme/one',
      upstreamModel: 'one-1',
      maxCompletionTokens: null,
    },
    { dialect, body: JsonBody.read('{"model":"acme/one","input":"Hi"}'), stream },
  )

export type Ask = (script: Script, options?: Options) => Promise<Read>

/** The caller owns the upstream, which ends with the test file. */
export const asking =
  (upstream: FakeUpstream): Ask =>
  async (script, options) => {
    upstream.script(script)
    const clock = createFakeClock()
    const answer = pulled((take) =>
      openaiResponses(attemptOf(upstream.url, options), { upstream: createUpstream(clock, TIMEOUTS), clock }, take),
    )
    const frames: Frame[] = []
    let error: GatewayError | null = null
    try {
      for await (const batch of answer) frames.push(...batch)
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown
      error = thrown
    }
    const events = frames.flatMap(({ events }) => events)
    return { frames, events, error }
  }

/** A stream of one event for each object, with a clean end and no end marker. */
export const streaming =
  (...objects: readonly object[]): Script =>
  async (exchange) => {
    await exchange.head(200)
    await exchange.piece(objects.map((object) => dataEvent(JSON.stringify(object))).join(''))
    await exchange.done()
  }

export const whole =
  (body: object): Script =>
  (exchange) =>
    exchange.answer(200, JSON.stringify(body))

export const textOf = (events: readonly ModelEvent[], type: 'text' | 'reasoning' | 'refusal' = 'text'): string =>
  events.map((event) => (event.type === type ? event.text : '')).join('')

export const usageIn = (events: readonly ModelEvent[]): Usage | undefined => events.findLast((event) => event.type === 'usage')?.usage

export const finishIn = (events: readonly ModelEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'finish' ? [`${event.reason} ${event.native}`] : []))

/** The arguments of each call, by its id and name. */
export const argumentsIn = (events: readonly ModelEvent[]): Record<string, string> => {
  const calls: Record<string, string> = {}
  const ids: string[] = []
  for (const event of events) {
    if (event.type === 'tool-call') {
      if (event.index !== ids.length) throw new Error('The indices of calls are not dense.')
      ids.push(`${event.id} ${event.name}`)
      calls[`${event.id} ${event.name}`] = ''
    }
    if (event.type === 'tool-arguments') calls[ids[event.index] ?? ''] += event.json
  }
  return calls
}

const RECORDED = join(import.meta.dir, '../../../test/fixtures/recorded/openai-responses')
export const recordedBody = (name: string): string => readFileSync(join(RECORDED, `${name}.json`), 'utf8')

/** The recorded answers of a conversation, each as a list of lines. */
const recordedStreams = (name: string): string[][] => {
  const streams: string[][] = []
  for (const line of readFileSync(join(RECORDED, `${name}.chunks.txt`), 'utf8').split('\n')) {
    if (line.includes('"type":"response.created"')) streams.push([])
    if (line !== '') streams.at(-1)?.push(line)
  }
  return streams
}
export const recorded = (name: string): string[] => recordedStreams(name)[0] ?? []

export const CREATED = { type: 'response.created', response: { id: 'resp_1', model: 'one-1', status: 'in_progress', error: null } }
export const ended = (response: object = {}, type = 'completed'): object => ({
  type: `response.${type}`,
  response: { id: 'resp_1', model: 'one-1', status: type, ...response },
})
export const saying = (delta: string): object => ({
  type: 'response.output_text.delta',
  output_index: 0,
  content_index: 0,
  item_id: 'msg_1',
  delta,
})
export const item = (kind: 'added' | 'done', output_index: number, about: object): object => ({
  type: `response.output_item.${kind}`,
  output_index,
  item: about,
})
