import { describe, expect, test } from 'bun:test'

import { pulled } from '../../../test/support/frame-pulling.ts'
import type { Frame } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import type { ProviderContext } from '../provider.ts'
import { attemptTo } from '../attempt.test-kit.ts'
import { runScript, sandboxProvider } from './sandbox.ts'
import { readSandboxSettings } from './settings.ts'
import type { SandboxStep } from './step.ts'

/** A clock whose time advances only when the test says so. */
const standingClock = () => {
  const tasks: { delayMs: number; task: () => void }[] = []
  const clock: Clock = {
    now: () => 0,
    monotonicMs: () => 0,
    after(delayMs, task) {
      const entry = { delayMs, task }
      tasks.push(entry)
      return () => void tasks.splice(tasks.indexOf(entry), 1)
    },
  }
  return { clock, tasks, goOn: () => tasks.shift()?.task() }
}

const word = (text: string): SandboxStep => ({ kind: 'frame', events: [{ type: 'text', text }] })
const said = (frames: readonly Frame[] | void): string =>
  (frames ?? []).flatMap(({ events }) => events.flatMap((event) => (event.type === 'text' ? [event.text] : []))).join('|')

const failure = async (act: Promise<unknown>): Promise<unknown> => {
  try {
    await act
  } catch (thrown) {
    return thrown
  }
  throw new Error('It did not fail.')
}

describe('runScript', () => {
  const run = (steps: readonly SandboxStep[], { clock } = standingClock(), signal = new AbortController().signal) =>
    pulled((take) => runScript(steps, clock, signal, take))

  test('frames that no wait keeps apart come together, and a wait lasts as long as the clock says', async () => {
    const time = standingClock()
    const frames = run([word('a'), word('b'), { kind: 'wait', ms: 250 }, word('c')], time)
    expect(said((await frames.next()).value)).toBe('a|b')
    const next = frames.next()
    await Promise.resolve()
    expect(time.tasks.map(({ delayMs }) => delayMs)).toEqual([250])
    time.goOn()
    expect(said((await next).value)).toBe('c')
    expect(await frames.next()).toEqual({ done: true, value: undefined })
  })

  test('a long script comes in batches', async () => {
    const sizes: number[] = []
    for await (const frames of run(Array.from({ length: 150 }, () => word('a')))) sizes.push(frames.length)
    expect(sizes).toEqual([64, 64, 22])
  })

  test('lets other work run when its turn says so, after the frames before that are handed over', async () => {
    const order: string[] = []
    let asked = 0
    const turn = () => ((asked += 1) % 2 === 0 ? Promise.resolve().then(() => void order.push('turn')) : undefined)
    const { clock } = standingClock()
    await runScript(['a', 'b', 'c', 'd'].map(word), clock, new AbortController().signal, (batch) => void order.push(said(batch)), turn)
    expect(order).toEqual(['a|b|c', 'turn', 'd'])
  })

  test('a failure is thrown after the frames before it', async () => {
    const error = new GatewayError('provider_overloaded')
    const frames = run([word('a'), { kind: 'fail', error }, word('b')])
    expect(said((await frames.next()).value)).toBe('a')
    expect(await failure(frames.next())).toBe(error)
  })

  test('a cut is provider_unavailable', async () => {
    expect(await failure(run([{ kind: 'cut' }]).next())).toMatchObject({ type: 'provider_unavailable' })
  })

  test('an abort ends a wait at once, with its reason and without a timer left behind', async () => {
    const time = standingClock()
    const controller = new AbortController()
    const next = run([{ kind: 'wait', ms: 250 }, word('a')], time, controller.signal).next()
    expect(time.tasks).toHaveLength(1)
    const reason = new GatewayError('timeout')
    controller.abort(reason)
    expect(await failure(next)).toBe(reason)
    expect(time.tasks).toHaveLength(0)
  })

  test('an aborted signal lets nothing out', async () => {
    expect(await failure(run([word('a')], standingClock(), AbortSignal.abort(new GatewayError('timeout'))).next())).toMatchObject({
      type: 'timeout',
    })
  })
})

/** The frames of an answer of two words by `sandbox/lorem`. */
const play = async (body: JsonBody, context: Partial<ProviderContext> = {}): Promise<readonly Frame[]> => {
  const target = {
    provider: 'sandbox',
    providerName: 'Sandbox',
    baseUrl: '',
    apiKey: null,
    modelId: 'sandbox/lorem',
    upstreamModel: 'lorem',
    maxCompletionTokens: null,
  }
  const all: Frame[] = []
  const upstream = (): never => {
    throw new Error('The sandbox calls nobody.')
  }
  const { clock } = standingClock()
  await sandboxProvider(
    attemptTo(target, { body, stream: true }),
    { clock, upstream: upstream as never, ...context },
    (frames) => void all.push(...frames),
  )
  return all
}

const TWO_WORDS = '"sandbox":{"tokens":2,"delay_ms":0}'

test('the provider plays the script of the model that the target names', async () => {
  expect(said(await play(JsonBody.read(`{"model":"sandbox/lorem",${TWO_WORDS}}`)))).toBe('Lorem| ipsum')
})

test('the body of a large request is made from its original bytes, and other requests run before and after it', async () => {
  const user = 'é'.repeat(200_000)
  const steps: unknown[] = []
  await play(JsonBody.ofBytes(Buffer.from(`{"model":"sandbox/lorem","user":"${user}",${TWO_WORDS}}`)), {
    turn: () => void steps.push('turn'),
    sending: (body) => void steps.push(body),
  })
  const [made, ...behind] = steps.splice(3)
  expect(steps).toEqual(['turn', 'turn', 'turn'])
  // These turns are for the frames of the answer.
  expect(new Set(behind)).toEqual(new Set(['turn']))
  expect(made).toBeInstanceOf(Uint8Array)
  expect(JSON.parse(Buffer.from(made as Uint8Array).toString())).toEqual({ model: 'lorem', user })
})

describe('the body field sandbox', () => {
  test('sets tokens and delay, each or none', () => {
    expect(readSandboxSettings(undefined)).toEqual({ tokens: null, delayMs: null })
    expect(readSandboxSettings(null)).toEqual({ tokens: null, delayMs: null })
    expect(readSandboxSettings({ tokens: 5, delay_ms: null })).toEqual({ tokens: 5, delayMs: null })
    expect(readSandboxSettings({ delay_ms: 0 })).toEqual({ tokens: null, delayMs: 0 })
  })

  test.each([
    [7],
    [[]],
    [{ tokens: 0 }],
    [{ tokens: 10_001 }],
    [{ tokens: 1.5 }],
    [{ delay_ms: -1 }],
    [{ delay_ms: 10_001 }],
    [{ speed: 1 }],
  ])('invalid_request: %j', (value) => {
    expect(() => readSandboxSettings(value)).toThrow(expect.objectContaining({ type: 'invalid_request' }))
  })
})
