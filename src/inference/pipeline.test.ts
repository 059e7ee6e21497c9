import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { playing, pulled } from '../../test/support/frame-pulling.ts'
import { createFakeClock, turn } from '../../test/support/fake-clock.ts'
import { admittedBy, partsOfPipeline, pipelineOf, receivedFrom } from '../../test/support/pipelines.ts'
import { model } from '../../test/support/plans.ts'
import { createTestRouting } from '../../test/support/test-routing.ts'
import type { Frame, ModelEvent, TakeFrames } from '../canonical/event.ts'
import { usageOf, type Usage } from '../canonical/usage.ts'
import { recordedGeneration } from '../contract/generation.ts'
import { ERROR_TYPES, GatewayError, type ErrorType } from '../errors.ts'
import { serviceStop } from './service-stop.ts'
import type { PriceEntry } from '../models/catalogue-schema.ts'
import { createModels, plainEndpoint } from '../models/models.ts'
import { type AnswerRoom, createAnswerRoom } from '../providers/transport/answer-room.ts'
import { noConnectionLeft } from '../providers/transport/own-limits.ts'
import type { Attempt, ProviderAdapter } from '../providers/provider.ts'
import { providerRegistry } from '../providers/registry.ts'
import type { Clock } from '../lib/clock.ts'
import type { Health } from '../routing/health.ts'
import type { Admitted, Finished } from './admitted.ts'
import { generationRecord } from './settle/generation-record.ts'
import type { PipelineParts } from './pipeline.ts'
import { Refused } from './refused.ts'
import { describesRequest } from './run/failover.ts'
import { run } from './run/run.ts'
import type { AttemptReport } from '../routing/endpoint-health.ts'
import type { Provider } from '../models/model.ts'

const FIRST_TOKEN_MS = 120_000

/** One attempt of a scripted provider: frames, waits, and how it ends. */
type Step =
  | { readonly do: 'frames'; readonly frames: readonly Frame[] }
  | { readonly do: 'wait'; readonly ms: number }
  /** The translation loses this field of the request. */
  | { readonly do: 'lose'; readonly field: string }
  | { readonly do: 'throw'; readonly thrown: unknown }
  /** Bytes of a whole answer are read. */
  | { readonly do: 'read'; readonly bytes: number }
type Script = readonly Step[]

const frame = (...events: readonly ModelEvent[]): Frame => ({ events })
const say = (...said: readonly string[]): Step => ({ do: 'frames', frames: said.map((text) => frame({ type: 'text', text })) })
const event = (...events: readonly ModelEvent[]): Step => ({ do: 'frames', frames: events.map((each) => frame(each)) })
const wait = (ms: number): Step => ({ do: 'wait', ms })
const lose = (field: string): Step => ({ do: 'lose', field })
const fail = (type: ErrorType): Step => ({ do: 'throw', thrown: new GatewayError(type, `told ${type}`) })
const start: Step = event({ type: 'start', upstreamId: 'up-1' })
const finish: Step = event({ type: 'finish', reason: 'stop', native: 'end_turn' })
const used = (counts: Partial<Usage>): Step => event({ type: 'usage', usage: usageOf(counts) })

const provider = (slug: string, keys: number): Provider => ({
  slug,
  name: slug.toUpperCase(),
  dialects: ['openai-chat'],
  baseUrl: `https://${slug}.example/v1`,
  apiKeys: Array.from({ length: keys }, (_, index) => `${slug}-key-${index + 1}`),
  anyModel: false,
})

interface Options {
  readonly stream?: boolean
  readonly prices?: PriceEntry | null
  readonly fields?: Readonly<Record<string, unknown>>
  /** The number of keys of each provider. */
  readonly keys?: number
  readonly totalMs?: number
  /** The model's own limit. */
  readonly firstTokenMs?: number | null
  readonly answerRoom?: AnswerRoom
}

/** An admitted request whose providers a, b, c … each play one script. */
const begin = async (scripts: readonly Script[], options: Options = {}) => {
  const {
    stream = true,
    prices = { prompt: 1, completion: 2 },
    fields = {},
    keys = 1,
    totalMs = 1_800_000,
    firstTokenMs = null,
    answerRoom,
  } = options
  const clock = createFakeClock()
  const attempts: Attempt[] = []
  const refused: string[] = []
  const reports: AttemptReport[] = []
  let open = 0
  const adapter: ProviderAdapter = playing(async function* play(attempt, { sending, answerSpace }) {
    await sending?.('')
    attempts.push(attempt)
    open += 1
    const { signal } = attempt.connection
    try {
      for (const step of scripts[attempt.number] ?? []) {
        signal.throwIfAborted()
        if (step.do === 'throw') throw step.thrown
        if (step.do === 'frames') yield step.frames
        else if (step.do === 'read') answerSpace?.take(step.bytes)
        else if (step.do === 'lose') attempt.warn({ code: 'unsupported_field', field: step.field, message: `${step.field} was left out.` })
        else {
          await new Promise<void>((resolve, reject) => {
            const leave = (): void => {
              cancel()
              reject(signal.reason as Error)
            }
            const cancel = clock.after(step.ms, () => {
              signal.removeEventListener('abort', leave)
              resolve()
            })
            signal.addEventListener('abort', leave, { once: true })
          })
        }
      }
    } finally {
      open -= 1
    }
  })
  const endpoints = [...'abcdef'].slice(0, scripts.length).map((slug) => plainEndpoint(provider(slug, keys), 'one-1', { prices }))
  const models = createModels(
    [
      {
        id: 'm/one',
        name: 'One',
        created: 0,
        contextLength: null,
        inputModalities: ['text'],
        outputModalities: ['text'],
        supportedParameters: [],
        endpoints,
        firstTokenMs,
      },
    ],
    [],
  )
  const settled: Finished[] = []
  const began: unknown[] = []
  const pipeline = pipelineOf(clock, {
    models,
    adapters: { ...providerRegistry, adapterFor: () => adapter },
    routing: { ...createTestRouting(clock, (slug, index) => refused.push(`${slug} ${index}`)), health: watchedHealth(reports, clock) },
    firstTokenMs: FIRST_TOKEN_MS,
    answerRoom,
    totalMs,
    running: { began: (connection) => began.push(connection) },
    settle: (finished) => settled.push(finished),
  })
  const body = { model: 'm/one', messages: [{ role: 'user', content: 'Hi' }], stream, ...fields }
  const run = await admittedBy(pipeline, receivedFrom(body, { userAgent: 'agent/1', referer: 'https://app.example' }))
  const answer = (take: TakeFrames): Promise<GatewayError | null> => pipeline.answer(run, take)
  const bodyLength = JSON.stringify(body).length
  return { refused, reports, run, answer, clock, settled, began, attempts, bodyLength, open: () => open }
}

/** Admits every attempt and records the reports. */
const watchedHealth = (reports: AttemptReport[], clock: Clock): Health => ({
  ...createTestRouting(clock).health,
  end: (_key, _provider, report) => void reports.push(report),
})

interface Outcome {
  /** The content of each batch: text, `finish`, or the type of another event. */
  readonly batches: readonly string[]
  /** The failure that ended the answer; null if it ended without one. */
  readonly failure: GatewayError | null
}

const spell = (batch: readonly Frame[]): string =>
  batch
    .flatMap(({ events }) => events)
    .map((each) => (each.type === 'text' ? each.text : each.type))
    .join(' ')

/** Reads to the end, advancing the clock whenever nothing else is left to do. */
const readAll = async ({ answer, clock }: Pick<Awaited<ReturnType<typeof begin>>, 'answer' | 'clock'>, stepMs = 1000): Promise<Outcome> => {
  const batches: string[] = []
  let over = false
  const reading = answer((batch) => void batches.push(spell(batch))).finally(() => (over = true))
  for (let turns = 0; turns < 2000; turns += 1) {
    await turn()
    if (over) break
    clock.advance(stepMs)
  }
  return { batches, failure: await reading }
}

const outcome = async (scripts: readonly Script[], options?: Options) => {
  const parts = await begin(scripts, options)
  const read = await readAll(parts)
  return { ...parts, ...read }
}

describe('a stream', () => {
  test('comes as it is said, what was before its first content together with it', async () => {
    const { batches, failure, settled, run, attempts } = await outcome([
      [start, event({ type: 'text', text: '' }), say('a'), say('b', 'c'), used({ output: 3 }), finish],
    ])
    expect(batches).toEqual(['start  a', 'b c', 'usage', 'finish'])
    expect(failure).toBeNull()
    expect(settled.map(({ generationId }) => generationId)).toEqual([run.generationId])
    expect(attempts).toHaveLength(1)
  })

  test('fails over before its first content, and nothing of the failed attempt is seen', async () => {
    const { batches, run, attempts } = await outcome([
      [
        start,
        used({ inputFresh: 1 }),
        event({ type: 'text', text: '' }),
        event({ type: 'reasoning', text: '' }),
        fail('provider_overloaded'),
      ],
      [say('b'), finish],
    ])
    expect(batches).toEqual(['b', 'finish'])
    expect(run.log.error).toBeNull()
    expect(attempts.map(({ target, number }) => [target.provider, target.apiKey, number])).toEqual([
      ['a', 'a-key-1', 0],
      ['b', 'b-key-1', 1],
    ])
    expect(run.log.attempts.map(({ error }) => error?.type ?? null)).toEqual(['provider_overloaded', null])
  })

  test.each<[string, ModelEvent]>([
    ['text', { type: 'text', text: 'a' }],
    ['reasoning', { type: 'reasoning', text: 'a' }],
    ['a refusal', { type: 'refusal', text: 'a' }],
    ['a tool call', { type: 'tool-call', index: 0, id: 'call_0', name: 'f' }],
    ['arguments', { type: 'tool-arguments', index: 0, json: '{' }],
    ['the finish', { type: 'finish', reason: 'stop', native: null }],
  ])('never fails over after %s: the failure ends it', async (_, content) => {
    const { batches, failure, attempts } = await outcome([
      [event(content), fail('provider_unavailable')],
      [say('b'), finish],
    ])
    expect(batches).toHaveLength(1)
    expect(failure?.type).toBe('provider_unavailable')
    expect(attempts).toHaveLength(1)
  })

  test('a failure is the same failure, before and after content', async () => {
    const failure = fail('provider_unavailable')
    const before = await outcome([[start, failure]])
    expect([before.batches, before.failure?.type]).toEqual([[], 'provider_unavailable'])
    const after = await outcome([[say('a'), failure]])
    expect([after.batches, after.failure?.type]).toEqual([['a'], 'provider_unavailable'])
    expect(after.run.log.error).toBe(after.failure)
  })

  test('a fault of our own is a masked server error', async () => {
    const thrown = new TypeError('secret detail')
    const { batches, failure } = await outcome([[say('a'), { do: 'throw', thrown }]])
    expect(batches).toEqual(['a'])
    expect([failure?.type, failure?.publicMessage, failure?.cause]).toEqual(['server', 'Internal Server Error', thrown])
  })

  test('is given up when it says nothing for the time of a first token, and the next one answers', async () => {
    const { batches, run, clock } = await outcome([
      [start, wait(FIRST_TOKEN_MS + 1), say('late')],
      [say('b'), finish],
    ])
    expect(batches).toEqual(['b', 'finish'])
    expect(run.log.attempts[0]?.error?.message).toBe('A sent no content in time.')
    expect(run.log.attempts[0]?.error?.type).toBe('timeout')
    expect(clock.waiting).toBe(0)
  })

  test('has its time of a first token anew at each attempt, and none after its first content', async () => {
    const { batches, clock } = await outcome([
      [wait(FIRST_TOKEN_MS - 1000), fail('timeout')],
      [wait(FIRST_TOKEN_MS - 1000), say('b'), wait(FIRST_TOKEN_MS * 3), say('c'), finish],
    ])
    expect(batches).toEqual(['b', 'c', 'finish'])
    expect(clock.waiting).toBe(0)
  })

  test('that sends ten thousand frames without content is a broken one', async () => {
    const empty = Array.from({ length: 10_001 }, () => frame({ type: 'text', text: '' }))
    const { batches } = await outcome([
      [{ do: 'frames', frames: empty }, say('late')],
      [say('b'), finish],
    ])
    expect(batches).toEqual(['b', 'finish'])
  })
})

describe('a whole answer', () => {
  test('comes at its end, in one batch', async () => {
    const { batches } = await outcome([[start, say('a'), say('b'), finish]], { stream: false })
    expect(batches).toEqual(['start a b finish'])
  })

  test('fails over after partial content too: the client has seen nothing of it', async () => {
    const { batches, attempts } = await outcome(
      [
        [say('a'), fail('provider_unavailable')],
        [say('b'), finish],
      ],
      { stream: false },
    )
    expect(batches).toEqual(['b finish'])
    expect(attempts).toHaveLength(2)
  })

  test('shows what was said and the failure only where every attempt has failed', async () => {
    const { batches, failure } = await outcome(
      [
        [say('a'), fail('timeout')],
        [say('b'), say('c'), used({ output: 2 }), fail('provider_unavailable')],
      ],
      { stream: false },
    )
    expect([batches, failure?.type]).toEqual([['b c usage'], 'provider_unavailable'])
  })

  test('ends in the last failure alone where the last attempt said nothing', async () => {
    const { batches, failure } = await outcome(
      [
        [say('a'), fail('timeout')],
        [start, fail('provider_unavailable')],
      ],
      { stream: false },
    )
    expect([batches, failure?.type]).toEqual([[], 'provider_unavailable'])
  })

  test('may take longer than a first token may, and be longer than what is held before one', async () => {
    const { batches } = await outcome([[wait(FIRST_TOKEN_MS * 4), say(...Array.from({ length: 12_000 }, () => 'x')), finish]], {
      stream: false,
    })
    expect(batches).toHaveLength(1)
    expect(batches[0]).toHaveLength(24_000 + 'finish'.length)
  })
})

describe('failover', () => {
  test.each(ERROR_TYPES.map((type) => [type, describesRequest(type)] as const))(
    '%s: describes the request: %p',
    async (type, described) => {
      const { batches, failure, attempts } = await outcome([[fail(type)], [say('b'), finish]])
      expect(attempts).toHaveLength(described ? 1 : 2)
      if (!described) expect(batches).toEqual(['b', 'finish'])
      else expect(failure?.type).toBe(type)
    },
  )

  test('ends with the last failure where all have failed', async () => {
    const { failure, run, attempts } = await outcome([[fail('timeout')], [fail('rate_limit_exceeded')], [fail('provider_overloaded')]])
    expect(failure?.type).toBe('provider_overloaded')
    expect(attempts).toHaveLength(3)
    expect(run.log.attempts.map(({ error }) => error?.type)).toEqual(['timeout', 'rate_limit_exceeded', 'provider_overloaded'])
    expect(failure?.metadata['previous_errors']).toEqual([
      { provider_name: 'A', model: 'm/one', code: 504, error_type: 'timeout', message: 'told timeout' },
      { provider_name: 'B', model: 'm/one', code: 429, error_type: 'rate_limit_exceeded', message: 'told rate_limit_exceeded' },
    ])
  })

  test('a failure after content lists the attempts before it too', async () => {
    const { run } = await outcome([[fail('server')], [say('b'), fail('timeout')]])
    expect(run.log.error?.metadata['previous_errors']).toEqual([
      { provider_name: 'A', model: 'm/one', code: 500, error_type: 'server', message: 'Internal Server Error' },
    ])
  })

  test('after a rate-limited key the next key of the same provider is used, then the next provider', async () => {
    const limited = fail('rate_limit_exceeded')
    const { attempts, batches, reports } = await outcome([[limited], [limited], [say('b'), finish]], { keys: 2 })
    expect(attempts.map(({ target }) => target.apiKey)).toEqual(['a-key-1', 'a-key-2', 'b-key-1'])
    expect(batches).toEqual(['b', 'finish'])
    // The endpoint is reported as limited only if its last key is limited.
    expect(reports.map((report) => report.outcome)).toEqual(['cancelled', 'rate-limited', 'ok'])
  })

  test('keys that are set aside for their first fault do not count as attempts', async () => {
    const limited = Array.from({ length: 6 }, () => [fail('rate_limit_exceeded')])
    const { attempts, batches } = await outcome([...limited, [say('c'), finish]], { keys: 3 })
    const expected = ['a-key-1', 'a-key-2', 'a-key-3', 'b-key-1', 'b-key-2', 'b-key-3', 'c-key-1']
    expect(attempts.map(({ target }) => target.apiKey)).toEqual(expected)
    expect(batches).toEqual(['c', 'finish'])
  })

  test('every attempt is reported to the health of its endpoint, once', async () => {
    const retry: Step = { do: 'throw', thrown: new GatewayError('rate_limit_exceeded', 'slow', { retryAfterSeconds: 7 }) }
    const { reports } = await outcome([
      [wait(100), fail('timeout')],
      [retry],
      [wait(1000), say('c'), wait(2000), used({ output: 100 }), finish],
    ])
    expect(reports).toEqual([
      { outcome: 'failure', startedMs: 0, firstTokenMs: null, tokensPerSecond: null, retryAfterSeconds: null, retry: false },
      { outcome: 'rate-limited', startedMs: 1000, firstTokenMs: null, tokensPerSecond: null, retryAfterSeconds: 7, retry: false },
      { outcome: 'ok', startedMs: 1000, firstTokenMs: 1000, tokensPerSecond: 50, retryAfterSeconds: null, retry: false },
    ])
    expect((await outcome([[fail('invalid_request')]])).reports[0]?.outcome).toBe('fault-of-request')
  })

  test('names the smallest hint of all attempts, where the last failure is one to wait for', async () => {
    const hinted = (type: ErrorType, retryAfterSeconds: number): Step => ({
      do: 'throw',
      thrown: new GatewayError(type, 'Wait.', { retryAfterSeconds }),
    })
    const hint = async (...steps: readonly Step[]): Promise<number | undefined> => {
      const { failure } = await outcome(steps.map((step) => [step]))
      return failure?.retryAfterSeconds
    }
    expect(await hint(hinted('rate_limit_exceeded', 7), hinted('provider_overloaded', 30))).toBe(7)
    expect(await hint(hinted('rate_limit_exceeded', 7), fail('provider_overloaded'))).toBe(7)
    expect(await hint(hinted('rate_limit_exceeded', 7), fail('timeout'))).toBeUndefined()
  })

  test('closes the upstream of every attempt', async () => {
    const { open } = await outcome([
      [say(''), fail('timeout')],
      [say(''), fail('timeout')],
      [say('c'), finish],
    ])
    expect(open()).toBe(0)
  })
})

describe('the client leaves', () => {
  test('before anything was read: no content, no second attempt', async () => {
    const { run, answer, clock, settled, attempts } = await begin([[say('a'), finish], [say('b')]])
    run.connection.leave()
    const { batches, failure } = await readAll({ answer, clock })
    expect([batches, failure?.type]).toEqual([[], 'timeout'])
    expect([attempts.length, settled.length, run.log.cancelled]).toEqual([1, 1, true])
  })

  test('while a provider is waited for: its connection is closed, and no other provider is asked', async () => {
    const { run, answer, clock, settled, attempts, open } = await begin([[start, wait(10_000), say('a')], [say('b')]])
    const reading = readAll({ answer, clock }, 0)
    await turn()
    run.connection.leave()
    const { batches, failure } = await reading
    expect([batches, failure?.type]).toEqual([[], 'timeout'])
    expect([attempts.length, settled.length, open(), clock.waiting]).toEqual([1, 1, 0, 0])
    expect(attempts[0]?.connection.signal.aborted).toBe(true)
  })

  test('in the middle, by closing the stream: settled once with what was said', async () => {
    const { run, answer, settled, open, clock, bodyLength } = await begin([[say('12345678'), say('9'), wait(10_000), finish]])
    const frames = pulled(answer)
    await frames.next()
    clock.advance(500)
    await frames.next()
    run.connection.leave()
    await frames.return()
    expect([settled.length, open(), clock.waiting]).toEqual([1, 0, 0])
    expect(run.bill.usage).toEqual(usageOf({ inputFresh: Math.ceil(bodyLength / 4), output: 3, estimated: true }))
    expect(run.log.cancelled).toBe(true)
    const { record } = generationRecord(run)
    expect(record).toMatchObject({
      cancelled: true,
      error_type: null,
      usage_estimated: true,
      generation_time: 500,
      provider_responses: [{ latency: 500 }],
    })
  })

  test('after the end: nothing changes any more', async () => {
    const parts = await begin([[say('a'), finish]])
    await readAll(parts)
    parts.run.connection.leave()
    expect([parts.run.log.cancelled, parts.run.log.error, parts.settled.length]).toEqual([false, null, 1])
  })
})

describe('the time of a whole request', () => {
  test('a stream that goes on for fifteen minutes survives', async () => {
    const minute = [wait(60_000), say('x')]
    const { batches, clock } = await outcome([[...Array.from({ length: 15 }, () => minute).flat(), finish]])
    expect(batches).toEqual([...Array.from({ length: 15 }, () => 'x'), 'finish'])
    expect(clock.waiting).toBe(0)
  })

  test('ends a stream that never ends, and asks nobody else', async () => {
    const minute = [wait(60_000), say('x')]
    const { batches, failure, attempts, run } = await outcome([Array.from({ length: 60 }, () => minute).flat(), [say('b')]])
    expect(batches).toHaveLength(29)
    expect(failure?.message).toBe('The answer took longer than its limit of 1800 seconds.')
    expect(failure?.metadata).toEqual({ provider_name: 'A' })
    expect([attempts.length, run.log.cancelled]).toEqual([1, false])
  })

  test('counts all attempts together', async () => {
    const { failure, attempts } = await outcome(
      Array.from({ length: 4 }, () => [wait(50_000), fail('timeout')]),
      { totalMs: 120_000 },
    )
    expect([failure?.type, attempts.length]).toEqual(['timeout', 3])
  })
})

test('a model that thinks for long has a time of its own until its first content', async () => {
  const script = [start, wait(FIRST_TOKEN_MS * 4), say('a'), finish]
  expect((await outcome([script], { firstTokenMs: FIRST_TOKEN_MS * 5 })).batches).toEqual(['start a', 'finish'])
  expect((await outcome([script])).failure?.type).toBe('timeout')
})

test('stopped by the service: the stream ends with its reason, and no other provider is asked', async () => {
  const { run, answer, clock, attempts, reports } = await begin([[say('a'), wait(60_000), say('b')], [say('c')]])
  const reading = readAll({ answer, clock }, 0)
  await turn()
  run.connection.stop(serviceStop())
  const { batches, failure } = await reading
  expect([batches, failure?.type, failure?.retryAfterSeconds]).toEqual([['a'], 'provider_overloaded', 1])
  expect([run.log.error?.message, run.log.cancelled, attempts.length]).toEqual([serviceStop().message, false, 1])
  // The error does not name the provider, which has done nothing wrong.
  expect([failure?.metadata, reports.map(({ outcome: reported }) => reported)]).toEqual([{}, ['cancelled']])
})

test('nothing is registered before the answer begins: what is admitted and never answered leaves nothing behind', async () => {
  const planned = await begin([[finish]])
  expect([planned.began, planned.settled, planned.clock.waiting]).toEqual([[], [], 0])
  await readAll(planned)
  expect([planned.began, planned.settled.length]).toEqual([[planned.run.connection], 1])
})

describe('the permit of a request', () => {
  const asking = async (more: Partial<PipelineParts> = {}) => {
    const clock = createFakeClock()
    const reported: string[] = []
    const permit = { handOver: () => reported.push('handed over'), end: () => reported.push('ended') }
    const pipeline = pipelineOf(clock, { settle: ({ request }) => request.permit?.end(0), ...more })
    const outcome = await pipeline.admit(receivedFrom({ model: 'm/one', messages: [{ role: 'user', content: 'Hi' }] }, { permit }))
    return { reported, pipeline, outcome, clock }
  }

  test('stays with the door where the request is refused, by whatever step', async () => {
    const unknownModel = await asking()
    expect([unknownModel.outcome instanceof Refused, unknownModel.reported]).toEqual([true, []])
    const models = createModels([model('m/one', [plainEndpoint(provider('a', 1), 'one-1', {})])], [])
    const noMoney = await asking({ models, admit: () => Promise.reject(new GatewayError('payment_required')) })
    expect([noMoney.outcome instanceof Refused && noMoney.outcome.error.type, noMoney.reported]).toEqual(['payment_required', []])
  })

  test('is taken over when the answer begins, and ended with it', async () => {
    const models = createModels([model('m/one', [plainEndpoint(provider('a', 1), 'one-1', {})])], [])
    const { reported, pipeline, outcome } = await asking({ models })
    expect(reported).toEqual([])
    if (outcome instanceof Refused) throw outcome.error
    await pipeline.answer(outcome, () => undefined)
    expect(reported).toEqual(['handed over', 'ended'])
  })
})

test('a run settles nothing: a request that was admitted once may take several', async () => {
  const clock = createFakeClock()
  const models = createModels([model('m/one', [plainEndpoint(provider('a', 1), 'one-1', {})])], [])
  const adapter: ProviderAdapter = async ({ number }, _, take) => {
    await take([frame({ type: 'text', text: `answer ${number}` }, { type: 'finish', reason: 'stop', native: null })])
  }
  const parts = partsOfPipeline(clock, { models, adapters: { ...providerRegistry, adapterFor: () => adapter } })
  const body = { model: 'm/one', messages: [{ role: 'user', content: 'Hi' }], stream: true }
  const admitted = await admittedBy(pipelineOf(clock, parts), receivedFrom(body))
  const batches: string[] = []
  const take: TakeFrames = (batch) => void batches.push(spell(batch))
  expect([await run(admitted, parts, take), await run(admitted, parts, take)]).toEqual([null, null])
  expect(batches).toEqual(['answer 0 finish', 'answer 1 finish'])
  expect([admitted.log.ended, admitted.log.attempts.length]).toEqual([false, 2])
})

describe('what an attempt could not honour', () => {
  const fieldsOf = ({ run }: { readonly run: Admitted }): readonly (string | null)[] => run.warnings.map(({ field }) => field)

  test('is a warning of its answer', async () => {
    expect(fieldsOf(await outcome([[lose('seed'), say('a'), finish]]))).toEqual(['seed'])
  })

  test('is none of the answer of the next, which may have honoured it', async () => {
    const { run, attempts } = await outcome([
      [lose('seed'), fail('provider_unavailable')],
      [lose('logit_bias'), say('a'), finish],
    ])
    expect([attempts.length, fieldsOf({ run })]).toEqual([2, ['logit_bias']])
  })
})

test('settled exactly once, with every upstream closed and no timer left, in whatever order things happen', async () => {
  const step = fc.oneof(
    fc.constantFrom(start, finish, say('x'), say(''), fail('timeout'), fail('invalid_request')),
    fc.integer({ min: 1, max: 200_000 }).map(wait),
  )
  const action = fc.constantFrom('next', 'next', 'advance', 'turn', 'leave', 'stop', 'return')
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { maxLength: 5 }), { minLength: 1, maxLength: 3 }),
      fc.array(action, { maxLength: 12 }),
      fc.boolean(),
      async (scripts, actions, stream) => {
        const { run, answer, clock, settled, began, open } = await begin(scripts, { stream })
        const frames = pulled(answer)
        const pending: Promise<unknown>[] = [frames.next().catch(() => null)]
        const handedOver: Frame[] = []
        for (const each of actions) {
          if (each === 'next')
            pending.push(
              frames.next().then(
                ({ value }) => handedOver.push(...(value ?? [])),
                () => null,
              ),
            )
          else if (each === 'advance') clock.advance(90_000)
          else if (each === 'turn') await turn()
          else if (each === 'leave') run.connection.leave()
          else if (each === 'stop') run.connection.stop(new GatewayError('provider_unavailable'))
          else pending.push(frames.return().catch(() => null))
        }
        pending.push(frames.return().catch(() => null))
        let over = false
        const all = Promise.all(pending).then(() => (over = true))
        for (let turns = 0; turns < 200 && !over; turns += 1) {
          await turn()
          clock.advance(300_000)
        }
        await all
        expect([began.length, settled.length, open(), clock.waiting]).toEqual([1, 1, 0, 0])
        expect(run.log.attempts.every(({ startedMs, endedMs }) => endedMs >= startedMs)).toBe(true)
        expect(recordedGeneration.strict().parse(generationRecord(run).record)).toBeDefined()
      },
    ),
    { numRuns: 300 },
  )
}, 300_000)

test('an attempt for which this machine has no connection left asks nobody, teaches nothing of its provider, and the next one answers', async () => {
  const lack: Step = { do: 'throw', thrown: noConnectionLeft(new Error('EMFILE')) }
  const { run, reports } = await outcome([[lack], [say('a'), finish]])
  expect(reports.map(({ outcome: reported }) => reported)).toEqual(['cancelled', 'ok'])
  expect(run.log.error).toBeNull()
  const alone = await outcome([[lack]])
  expect([alone.run.log.asked, alone.run.log.error?.status, alone.run.log.error?.retryAfterSeconds]).toEqual([false, 503, 1])
})

test('an attempt for whose answer there is no room teaches nothing of its provider, and the next one answers', async () => {
  const lack: Step = {
    do: 'throw',
    thrown: createAnswerRoom(() => 0)
      .enter('a')
      .take(2 * 1024 * 1024),
  }
  const { run, reports } = await outcome([[lack], [say('a'), finish]])
  expect(reports.map(({ outcome: reported }) => reported)).toEqual(['cancelled', 'ok'])
  expect([run.log.asked, run.log.error]).toEqual([true, null])
})

test('the room that an attempt took for its answer is free again when it has ended, well or not', async () => {
  const answerRoom = createAnswerRoom(() => 8 * 1024 * 1024)
  const read: Step = { do: 'read', bytes: 3 * 1024 * 1024 }
  const { run, reports } = await outcome(
    [
      [read, fail('provider_unavailable')],
      [read, say('a'), finish],
    ],
    { stream: false, answerRoom },
  )
  expect([run.log.error, reports.length, answerRoom.bytes]).toEqual([null, 2, 0])
})

describe('usage', () => {
  test('is the newest that the provider told', async () => {
    const { run } = await outcome([[say('a'), used({ output: 1 }), used({ inputFresh: 5, output: 9 }), finish]])
    expect(run.bill.usage).toEqual(usageOf({ inputFresh: 5, output: 9 }))
  })

  test('that no provider reported is estimated from what was delivered, and marked', async () => {
    const { run, bodyLength } = await outcome([
      [
        event({ type: 'reasoning', text: '1234' }, { type: 'text', text: '5678' }, { type: 'refusal', text: '9' }),
        event({ type: 'tool-call', index: 0, id: 'call_0', name: 'get' }, { type: 'tool-arguments', index: 0, json: '{}' }),
        finish,
      ],
    ])
    // 4 + 4 + 1 + 3 + 2 characters make fourteen, at four characters to a token.
    expect(run.bill.usage).toEqual(usageOf({ inputFresh: Math.ceil(bodyLength / 4), output: 4, estimated: true }))
  })

  test.each<[string, Partial<Usage>, Partial<Usage>]>([
    ['no output at all', { inputFresh: 5 }, { inputFresh: 5, output: 2 }],
    ['no input at all', { output: 9 }, { output: 9 }],
  ])('of an answer that tells %s is estimated there, and marked', async (_what, reported, expected) => {
    const { run, bodyLength } = await outcome([[say('12345678'), used(reported), finish]])
    expect(run.bill.usage).toEqual(usageOf({ inputFresh: Math.ceil(bodyLength / 4), ...expected, estimated: true }))
  })

  test('of an answer that is cut after its last count covers all that was delivered', async () => {
    const { run } = await outcome([[used({ inputFresh: 5, output: 1 }), say('12345678', '90123456'), fail('timeout')]])
    expect(run.bill.usage).toEqual(usageOf({ inputFresh: 5, output: 4, estimated: true }))
  })

  test('of an answer that is cut right after its last count is that count', async () => {
    const { run } = await outcome([[say('12345678'), used({ inputFresh: 5, output: 1 }), fail('timeout')]])
    expect(run.bill.usage).toEqual(usageOf({ inputFresh: 5, output: 1 }))
  })

  test('of an attempt that failed is not that of the next one', async () => {
    const { run } = await outcome([
      [used({ inputFresh: 100 }), fail('timeout')],
      [say('1234'), finish],
    ])
    expect(run.bill.usage).toMatchObject({ estimated: true, output: 1 })
  })
})

describe('cost', () => {
  test.each<[string, Script, PriceEntry | null, number | null]>([
    ['is that of what was used', [say('a'), used({ inputFresh: 10, output: 20 }), finish], { prompt: 1, completion: 2 }, 50_000],
    [
      'has the price of the request',
      [say('a'), used({ inputFresh: 10, output: 1 }), finish],
      { prompt: 1, completion: 2, request: 0.001 },
      1_012_000,
    ],
    ['is unknown without a price', [say('a'), used({ inputFresh: 10 }), finish], null, null],
    ['is what the provider reports, without a price of ours', [say('a'), used({ inputFresh: 10, reportedCostNanos: 7 }), finish], null, 7],
    [
      'a failure before anything was used costs nothing',
      [start, fail('provider_unavailable')],
      { prompt: 1, completion: 2, request: 0.001 },
      0,
    ],
    ['a failure costs nothing where no price is known either', [fail('provider_unavailable')], null, 0],
    [
      'a failure after content costs what was delivered',
      [say('12345678'), used({ inputFresh: 10, output: 2 }), fail('provider_unavailable')],
      { prompt: 1, completion: 2 },
      14_000,
    ],
    [
      'a failure costs the prompt that the provider says it charged',
      [used({ inputFresh: 10 }), fail('provider_unavailable')],
      { prompt: 1, completion: 2 },
      10_000,
    ],
  ])('%s', async (_, script, prices, nanos) => {
    const { isKnown, totalNanos } = (await outcome([script], { prices })).run.bill.cost
    expect(isKnown ? totalNanos : null).toBe(nanos)
  })
})

describe('the generation record', () => {
  const keys = Object.keys(recordedGeneration.shape).sort()

  test('has every key of the contract, in every outcome', async () => {
    const outcomes = [
      await outcome([
        [start, say('a'), used({ inputFresh: 10, inputCacheRead: 4, output: 3, outputReasoning: 2, webSearches: 1 }), finish],
      ]),
      await outcome([[fail('timeout')], [start, say('b'), fail('server')]]),
      await outcome([[fail('invalid_request')]], { stream: false, prices: null }),
    ]
    for (const { run } of outcomes) {
      const { record } = generationRecord(run)
      expect(Object.keys(record).sort()).toEqual(keys)
      expect(recordedGeneration.strict().parse(record)).toEqual(record as never)
    }
  })

  test('tells what a good answer was', async () => {
    const { run } = await outcome(
      [[start, wait(2000), say('a'), wait(3000), used({ inputFresh: 10, inputCacheRead: 4, output: 3, outputReasoning: 2 }), finish]],
      { fields: { user: 'u-1', session_id: 's-1' } },
    )
    expect(generationRecord(run)).toMatchObject({
      id: run.generationId,
      createdAt: '2026-11-20T10:00:00.000Z',
      keyHash: 'ab'.repeat(32),
      model: 'm/one',
      provider: 'a',
      streamed: true,
      cancelled: false,
      tokensPrompt: 14,
      tokensCompletion: 5,
      costNanos: 24_000,
      record: {
        request_id: 'req-1',
        upstream_id: 'up-1',
        provider_name: 'A',
        session_id: 's-1',
        external_user: 'u-1',
        finish_reason: 'stop',
        native_finish_reason: 'end_turn',
        error_type: null,
        native_tokens_reasoning: 2,
        native_tokens_cached: 4,
        total_cost: 0.000024,
        usage: 0.000024,
        cost_known: true,
        usage_estimated: false,
        latency: 2000,
        generation_time: 5000,
        provider_responses: [{ id: 'up-1', provider_name: 'A', status: 200, latency: 5000, error_type: null }],
      },
    })
  })

  test('lists every attempt, and only for the last one what it said', async () => {
    const { run } = await outcome(
      [
        [start, wait(1000), say('a'), event({ type: 'finish', reason: 'length', native: 'max' }), fail('provider_overloaded')],
        [wait(2000), fail('timeout')],
      ],
      { stream: false },
    )
    const { record, provider: slug } = generationRecord(run)
    expect(slug).toBe('b')
    expect(record).toMatchObject({
      provider_name: 'B',
      upstream_id: null,
      finish_reason: 'error',
      native_finish_reason: null,
      error_type: 'timeout',
      latency: null,
      total_cost: 0,
      cost_known: true,
      provider_responses: [
        { provider_name: 'A', status: 503, latency: 1000, error_type: 'provider_overloaded', started_ms: 0, first_token_ms: 1000 },
        { provider_name: 'B', status: 504, latency: 2000, error_type: 'timeout', started_ms: 1000, first_token_ms: null },
      ],
    })
  })

  test('latency is that of the content that the client got, not of an attempt that was thrown away', async () => {
    const { run } = await outcome(
      [
        [wait(1000), say('a'), fail('timeout')],
        [wait(4000), say('b'), finish],
      ],
      { stream: false },
    )
    expect(generationRecord(run).record).toMatchObject({ latency: 5000, generation_time: 5000 })
  })

  test('holds neither prompt nor answer, and nothing of a length that others choose', async () => {
    const long = 'z'.repeat(100_000)
    const { run } = await outcome(
      [[event({ type: 'start', upstreamId: long }), say('the answer'), event({ type: 'finish', reason: 'stop', native: long })]],
      { fields: { messages: [{ role: 'user', content: 'the prompt' }] } },
    )
    const text = JSON.stringify(generationRecord(run))
    expect(text).not.toMatch(/the answer|the prompt/)
    expect(text.length).toBeLessThan(5000)
  })
})
