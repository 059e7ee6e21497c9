import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { decoded, finish, frames, HEAD, TAIL, text } from '../../test/support/answers.ts'
import { createFakeClock, turn } from '../../test/support/fake-clock.ts'
import type { Frame } from '../canonical/event.ts'
import { GatewayError } from '../errors.ts'
import type { StreamRenderer } from '../formats/format.ts'
import { chatFormat } from '../formats/openai-chat/openai-chat.ts'
import { rejection } from '../storage/testing/rejection.ts'
import { eventStream } from './event-stream.ts'
import { createKeepAlive } from './keep-alive.ts'

const ANSWER = [...frames(text('a'), text('b'), text('c')), ...frames(finish('stop'))]

interface Options {
  readonly given?: readonly Frame[]
  /** Thrown behind the given frames. */
  readonly thrown?: unknown
  /** Before each frame but the first: what the upstream waits for. */
  readonly gate?: () => Promise<void>
  readonly openRenderer?: () => StreamRenderer
  readonly unreadMs?: number
}

const open = ({
  given = ANSWER,
  thrown,
  gate = async () => undefined,
  openRenderer = () => chatFormat.openStream(HEAD),
  unreadMs = 60_000,
}: Options = {}) => {
  const clock = createFakeClock()
  const seen = { produced: 0, closed: 0, left: 0, faults: [] as unknown[] }
  let abort: (reason: GatewayError) => void = () => undefined
  const aborted = new Promise<never>((_, reject) => (abort = reject))
  aborted.catch(() => undefined)
  async function* produce(): AsyncGenerator<readonly Frame[], void, undefined> {
    try {
      for (const [index, frame] of given.entries()) {
        if (index > 0) await Promise.race([gate(), aborted])
        seen.produced += 1
        yield [frame]
      }
      if (thrown !== undefined) throw thrown
    } finally {
      seen.closed += 1
    }
  }
  const rest = produce()
  const stream = eventStream(
    {
      first: rest.next(),
      rest,
      silent: false,
      openRenderer,
      tail: () => TAIL,
      leave: () => {
        seen.left += 1
        abort(new GatewayError('timeout', 'The client closed the connection.'))
      },
      onInternalError: (fault) => seen.faults.push(fault),
      clock,
      unreadMs,
    },
    createKeepAlive(clock, 10_000),
  )
  return { clock, seen, stream, reader: stream.getReader() }
}

type Reader = ReturnType<typeof open>['reader']

const readText = async (reader: Reader): Promise<string> => {
  let all = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return all
    all += Buffer.from(value).toString()
  }
}

/** A gate that a test opens as often as it likes. */
const gateOf = () => {
  const waiting: (() => void)[] = []
  return { gate: () => new Promise<void>((resolve) => waiting.push(resolve)), pass: () => waiting.shift()?.() }
}

describe('the bytes', () => {
  test('are what the renderer says of every frame, and end with the end marker', async () => {
    const { reader, seen, clock } = open()
    const renderer = chatFormat.openStream(HEAD)
    const expected = ANSWER.map((frame) => renderer.frames([frame])).join('') + renderer.finish(TAIL)
    expect(await readText(reader)).toBe(expected)
    expect(expected).toEndWith('data: [DONE]\n\n')
    clock.advance(60_000)
    expect([seen.closed, seen.left, seen.faults, clock.waiting]).toEqual([1, 0, [], 0])
  })

  test('of a failure after content are its event and the end marker', async () => {
    const error = new GatewayError('provider_unavailable', 'Broke off.')
    const { reader, seen } = open({ given: [...frames(text('a')), { events: [{ type: 'error', error }] }] })
    const bytes = await readText(reader)
    expect(bytes).toContain('Broke off.')
    expect(decoded(bytes).at(-1)?.data).toBe('[DONE]')
    expect([seen.closed, seen.left, seen.faults]).toEqual([1, 0, []])
  })

  test('keep what came in one batch with the failure', async () => {
    const error = new GatewayError('provider_unavailable', 'Broke off.')
    const batch: Frame[] = [...frames(text('before')), { events: [{ type: 'error', error }] }]
    async function* once(): AsyncGenerator<readonly Frame[], void, undefined> {
      yield batch
    }
    const rest = once()
    const stream = eventStream(
      {
        first: rest.next(),
        rest,
        silent: false,
        openRenderer: () => chatFormat.openStream(HEAD),
        tail: () => TAIL,
        leave: () => undefined,
        onInternalError: () => undefined,
        clock: createFakeClock(),
        unreadMs: 60_000,
      },
      createKeepAlive(createFakeClock(), 10_000),
    )
    const bytes = await readText(stream.getReader())
    expect(bytes.indexOf('before')).toBeGreaterThan(0)
    expect(bytes.indexOf('Broke off.')).toBeGreaterThan(bytes.indexOf('before'))
  })

  test('of a failure that is thrown, before any frame or after some, are an event too', async () => {
    for (const given of [[], frames(text('a'))]) {
      const { reader, seen } = open({ given, thrown: new GatewayError('provider_overloaded', 'Busy.') })
      const bytes = await readText(reader)
      expect(bytes).toContain('Busy.')
      expect(bytes).toEndWith('data: [DONE]\n\n')
      expect(seen.faults).toEqual([])
    }
  })

  test('of a fault that is not ours to tell are masked', async () => {
    const { reader } = open({ given: [], thrown: new TypeError('secret') })
    const bytes = await readText(reader)
    expect(bytes).not.toContain('secret')
    expect(bytes).toContain('Internal Server Error')
  })
})

describe('the reader’s pace is the upstream’s pace', () => {
  test('nothing is produced beyond one frame ahead of what was read', async () => {
    const { reader, seen } = open({ given: frames(...Array.from({ length: 50 }, () => text('x')), finish('stop')) })
    for (let read = 0; read < 20; read += 1) {
      for (let turns = 0; turns < 3; turns += 1) await turn()
      expect(seen.produced).toBeLessThanOrEqual(read + 1)
      await reader.read()
    }
    await reader.cancel()
  })

  test('a reader that never reads costs one frame, and no keep-alive piles up', async () => {
    const { clock, seen, reader } = open({ given: frames(...Array.from({ length: 50 }, () => text('x'))) })
    for (let pause = 0; pause < 10; pause += 1) {
      await turn()
      clock.advance(5000)
    }
    expect(seen.produced).toBe(1)
    const first = await reader.read()
    expect(Buffer.from(first.value ?? []).toString()).toContain('"x"')
    await reader.cancel()
  })
})

describe('a keep-alive', () => {
  test('comes after each ten seconds of silence, while the upstream thinks, and stands between frames', async () => {
    const { gate, pass } = gateOf()
    const { clock, reader } = open({ gate })
    let all = ''
    const reading = readText(reader).then((rest) => (all += rest))
    await turn()
    clock.advance(35_000)
    await turn()
    pass()
    await turn()
    clock.advance(9000)
    for (let frame = 0; frame < 3; frame += 1) {
      pass()
      await turn()
    }
    await reading
    const parts = all.split(': SERVICE PROCESSING\n\n')
    expect(parts.length).toBeGreaterThan(1)
    for (const part of parts) expect(part === '' || part.endsWith('\n\n')).toBe(true)
    expect(decoded(all)).toEqual(decoded(parts.join('')))
  })

  test('does not come while frames do', async () => {
    const { gate, pass } = gateOf()
    const { clock, reader } = open({ gate, given: frames(...Array.from({ length: 10 }, () => text('x')), finish('stop')) })
    const reading = readText(reader)
    for (let frame = 0; frame < 12; frame += 1) {
      await turn()
      clock.advance(9000)
      pass()
    }
    expect(await reading).not.toContain('SERVICE PROCESSING')
  })

  test('never stands inside a frame nor after the end, whenever time passes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('pass', 'read', 'time', 'turn'), { maxLength: 40 }), async (steps) => {
        const { gate, pass } = gateOf()
        const { clock, reader } = open({ gate, unreadMs: 3_600_000 })
        const pieces: string[] = []
        const reads: Promise<unknown>[] = []
        const read = (): void =>
          void reads.push(reader.read().then(({ value }) => value === undefined || pieces.push(Buffer.from(value).toString())))
        for (const step of steps) {
          if (step === 'pass') pass()
          else if (step === 'read') read()
          else if (step === 'time') clock.advance(11_000)
          else await turn()
        }
        for (let turns = 0; turns < 12; turns += 1) {
          pass()
          read()
          await turn()
        }
        await Promise.all(reads)
        clock.advance(60_000)
        for (const piece of pieces) expect(piece).toMatch(/\n\n$/)
        expect(pieces.at(-1)).toEndWith('data: [DONE]\n\n')
        const said = decoded(pieces.join(''))
        expect(said.map(({ data }) => data).filter((data) => data === '[DONE]')).toHaveLength(1)
        expect(clock.waiting).toBe(0)
      }),
      { numRuns: 200 },
    )
  })
})

describe('the client leaves', () => {
  test('while the upstream is waited for: the upstream is closed, and nothing is a fault of ours', async () => {
    const { gate } = gateOf()
    const { reader, seen, clock } = open({ gate })
    await reader.read()
    await turn()
    await reader.cancel()
    await turn()
    expect(seen).toEqual({ produced: 1, closed: 1, left: 1, faults: [] })
    clock.advance(60_000)
    expect(clock.waiting).toBe(0)
  })

  test('between two reads', async () => {
    const { reader, seen } = open()
    await reader.read()
    await turn()
    await reader.cancel()
    await turn()
    expect([seen.closed, seen.left, seen.faults]).toEqual([1, 1, []])
  })

  test('before anything was read', async () => {
    const { reader, seen } = open()
    await reader.cancel()
    await turn()
    expect([seen.closed, seen.left, seen.faults]).toEqual([1, 1, []])
  })

  test('after the end: nothing is left to close', async () => {
    const { reader, seen } = open()
    await readText(reader)
    await reader.cancel()
    expect([seen.closed, seen.left, seen.faults]).toEqual([1, 0, []])
  })
})

describe('a fault of our own rendering', () => {
  const broken = (method: 'frames' | 'finish' | 'fail'): (() => StreamRenderer) => {
    return () => ({
      ...chatFormat.openStream(HEAD),
      [method]: () => {
        throw new TypeError('a bug')
      },
    })
  }

  test.each<[string, Options]>([
    ['in a frame', { openRenderer: broken('frames') }],
    ['in the end', { openRenderer: broken('finish') }],
    ['in a failure', { openRenderer: broken('fail'), thrown: new GatewayError('timeout') }],
    [
      'when it is opened',
      {
        openRenderer: () => {
          throw new TypeError('a bug')
        },
      },
    ],
  ])('%s breaks the connection instead of ending it, closes the upstream, and is told', async (_, options) => {
    const { reader, seen, clock } = open(options)
    const outcome = await readText(reader).then(
      () => 'ended',
      (thrown: unknown) => String(thrown),
    )
    expect(outcome).toBe('TypeError: a bug')
    await turn()
    expect([seen.closed, seen.left, seen.faults.map(String)]).toEqual([1, 1, ['TypeError: a bug']])
    clock.advance(60_000)
    expect(clock.waiting).toBe(0)
  })
})

describe('a client that takes nothing', () => {
  test('for a minute is given up: the upstream is closed, and the stream breaks', async () => {
    const { reader, clock, seen } = open({ given: frames(...Array.from({ length: 100 }, () => text('x'))) })
    await reader.read()
    await turn()
    const { produced } = seen
    expect(produced).toBeLessThan(5)
    clock.advance(59_000)
    await turn()
    expect([seen.left, seen.produced]).toEqual([0, produced])
    clock.advance(11_000)
    await turn()
    expect([seen.left, seen.closed, clock.waiting]).toEqual([1, 1, 0])
    expect(await rejection(reader.read())).toBeInstanceOf(Error)
  })

  test('for less, and then goes on, gets all of it', async () => {
    const { reader, clock, seen } = open({ given: frames(...Array.from({ length: 10 }, () => text('x')), finish('stop')) })
    for (let pause = 0; pause < 5; pause += 1) {
      await reader.read()
      await turn()
      clock.advance(50_000)
    }
    expect(await readText(reader)).toEndWith('data: [DONE]\n\n')
    expect([seen.left, seen.closed]).toEqual([0, 1])
  })
})
