import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { decoded, finish, frames, HEAD, TAIL, text } from '../../../test/support/answers.ts'
import { createFakeClock, turn } from '../../../test/support/fake-clock.ts'
import type { Frame } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import type { StreamRenderer, Written } from '../../formats/format.ts'
import { chatFormat } from '../../formats/openai-chat/openai-chat.ts'
import { inWholeTexts } from '../../formats/with-texts.ts'
import { turnOf } from '../../lib/clock.ts'
import { openEventStream } from './event-stream.ts'
import { createKeepAlive } from './keep-alive.ts'

const ANSWER = [...frames(text('a'), text('b'), text('c')), ...frames(finish('stop'))]
const KEEP_ALIVE = ': SERVICE PROCESSING\n\n'

/** A stream with a simulated socket: it is full when the test says so. */
const open = ({
  openRenderer = () => chatFormat.openStream(HEAD),
  unreadMs = 60_000,
}: { openRenderer?: () => StreamRenderer<Written>; unreadMs?: number } = {}) => {
  const clock = createFakeClock()
  const seen = { left: 0, faults: [] as unknown[] }
  const written: string[] = []
  const socket = { state: 'open', full: false, leave: () => undefined as void, drained: Promise.withResolvers<void>() }
  const stream = openEventStream(
    {
      openRenderer,
      tail: () => TAIL,
      leave: () => (seen.left += 1),
      onUnread: () => undefined,
      onInternalError: (fault) => seen.faults.push(fault),
      clock,
      turn: () => turnOf(clock),
      unreadMs,
    },
    createKeepAlive(clock, 10_000),
    (onGone) => {
      socket.leave = onGone
      return {
        body: new ReadableStream<Uint8Array>(),
        write(said) {
          expect(socket.state).toBe('open')
          written.push(said)
          return socket.full ? socket.drained.promise : undefined
        },
        end(said) {
          expect(socket.state).toBe('open')
          written.push(said)
          socket.state = 'ended'
        },
        cut: () => void (socket.state = 'cut'),
        get full() {
          return socket.full
        },
      }
    },
  )
  const bytes = (): string => written.join('')
  return { clock, seen, socket, stream, written, bytes }
}

describe('the bytes', () => {
  test('are what the renderer says of every frame, and end with the end marker', () => {
    const { stream, bytes, seen, socket, clock } = open()
    const renderer = inWholeTexts(chatFormat.openStream(HEAD))
    const expected = ANSWER.map((frame) => renderer.frames([frame])).join('') + renderer.finish(TAIL)
    for (const frame of ANSWER) expect(stream.take([frame])).toBeUndefined()
    stream.finish()
    expect(bytes()).toBe(expected)
    expect(expected).toEndWith('data: [DONE]\n\n')
    clock.advance(60_000)
    expect([socket.state, seen.left, seen.faults, clock.waiting]).toEqual(['ended', 0, [], 0])
  })

  test('of frames that come together are one write', () => {
    const { stream, written } = open()
    void stream.take(ANSWER)
    expect(written).toHaveLength(1)
  })

  test('of a failure after content are its event and the end marker, and nothing after them', () => {
    const error = new GatewayError('provider_unavailable', 'Broke off.')
    const { stream, bytes, seen, socket } = open()
    void stream.take(frames(text('a')))
    stream.fail(error)
    stream.finish()
    void stream.take(frames(text('later')))
    expect(bytes()).toContain('Broke off.')
    expect(bytes()).not.toContain('later')
    expect(decoded(bytes()).at(-1)?.data).toBe('[DONE]')
    expect([socket.state, seen.left, seen.faults]).toEqual(['ended', 0, []])
  })

  test('of a failure of which nothing was said, with or without a comment before it, are an event too', () => {
    for (const opened of [false, true]) {
      const { stream, bytes, seen } = open()
      if (opened) stream.open()
      stream.fail(new GatewayError('provider_overloaded', 'Busy.'))
      expect(bytes().startsWith(KEEP_ALIVE)).toBe(opened)
      expect(bytes()).toContain('Busy.')
      expect(bytes()).toEndWith('data: [DONE]\n\n')
      expect(seen.faults).toEqual([])
    }
  })

  test('have no raw character that ends a line for some readers, and the text is the same', () => {
    const said = 'a\u2028b\u2029c\u0085d\\\u2028\u000B'
    const { stream, bytes } = open()
    void stream.take([...frames(text(said)), ...frames(finish('stop'))])
    stream.fail(new GatewayError('provider_unavailable', 'Broke\u2028off.'))
    for (const end of ['\u0085', '\u2028', '\u2029', '\v']) expect(bytes()).not.toContain(end)
    const [first, ...rest] = decoded(bytes())
    expect(JSON.parse(first?.data ?? '')).toMatchObject({ choices: [{ delta: { content: said } }] })
    expect(rest.map(({ data }) => data).join('\n')).toContain('Broke\\u2028off.')
  })

  test('of a fault that is not ours to tell are masked', () => {
    const { stream, bytes } = open()
    stream.fail(new GatewayError('server', 'secret', { cause: new TypeError('secret') }))
    expect(bytes()).not.toContain('secret')
    expect(bytes()).toContain('Internal Server Error')
  })
})

describe('a keep-alive', () => {
  test('comes after each ten seconds of silence', () => {
    const { stream, bytes, clock } = open()
    void stream.take(frames(text('a')))
    clock.advance(35_000)
    expect(bytes().split(KEEP_ALIVE)).toHaveLength(4)
  })

  test('does not come while frames do', () => {
    const { stream, bytes, clock } = open()
    for (let frame = 0; frame < 12; frame += 1) {
      void stream.take(frames(text('x')))
      clock.advance(9000)
    }
    expect(bytes()).not.toContain(KEEP_ALIVE)
  })

  test('does not pile up for a reader that is behind', () => {
    const { stream, written, clock, socket } = open({ unreadMs: 3_600_000 })
    void stream.take(frames(text('a')))
    socket.full = true
    clock.advance(100_000)
    expect(written).toHaveLength(1)
  })

  test('never stands inside a frame nor after the end, whenever time passes', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('frame', 'time', 'full', 'free'), { maxLength: 40 }), (steps) => {
        const { stream, clock, written, bytes, socket } = open({ unreadMs: 3_600_000 })
        for (const step of steps) {
          if (step === 'frame') void stream.take(frames(text('x')))
          else if (step === 'time') clock.advance(11_000)
          else socket.full = step === 'full'
        }
        void stream.take(frames(finish('stop')))
        stream.finish()
        clock.advance(60_000)
        for (const piece of written) expect(piece).toMatch(/\n\n$/)
        expect(written.at(-1)).toEndWith('data: [DONE]\n\n')
        expect(decoded(bytes()).filter(({ data }) => data === '[DONE]')).toHaveLength(1)
        expect(clock.waiting).toBe(0)
      }),
      { numRuns: 200 },
    )
  })
})

describe('a reader that is behind', () => {
  test('is waited for: what takes the frames gets its promise', async () => {
    const { stream, socket } = open()
    socket.full = true
    const behind = stream.take(frames(text('a')))
    expect(behind).toBe(socket.drained.promise)
    socket.drained.resolve()
    await behind
  })

  test('for a minute is disconnected: the upstream is closed, and the stream breaks', () => {
    const { stream, clock, seen, socket } = open()
    socket.full = true
    void stream.take(frames(text('a')))
    clock.advance(59_000)
    expect([seen.left, socket.state]).toEqual([0, 'open'])
    clock.advance(11_000)
    expect([seen.left, socket.state, clock.waiting]).toEqual([1, 'cut', 0])
  })

  test('for less, and then goes on, gets all of it', () => {
    const { stream, clock, seen, socket, bytes } = open()
    for (let pause = 0; pause < 5; pause += 1) {
      socket.full = true
      void stream.take(frames(text('x')))
      clock.advance(50_000)
      socket.full = false
      void stream.take(frames(text('y')))
    }
    void stream.take(frames(finish('stop')))
    stream.finish()
    expect(bytes()).toEndWith('data: [DONE]\n\n')
    expect([seen.left, socket.state]).toEqual([0, 'ended'])
  })
})

test('a fault in the making of a long text breaks the connection after whole events, and is logged once', async () => {
  const { stream, seen, socket, written, clock } = open({
    openRenderer: () => ({
      ...chatFormat.openStream(HEAD),
      *frames() {
        yield 'data: a\n\n'
        throw new TypeError('a bug')
      },
    }),
  })
  const taken = stream.take(frames(text('x')))
  clock.advance(0)
  await turn()
  await taken
  stream.finish()
  await turn()
  expect(written).toEqual(['data: a\n\n'])
  expect([socket.state, seen.left, seen.faults.map(String)]).toEqual(['cut', 1, ['TypeError: a bug']])
})

describe('a client that leaves', () => {
  test('closes the upstream once; what still comes is written nowhere', () => {
    const { stream, seen, socket, written, clock } = open()
    void stream.take(frames(text('a')))
    socket.leave()
    expect(stream.take(frames(text('b')))).toBeUndefined()
    stream.finish()
    stream.fail(new GatewayError('timeout'))
    expect([seen, written.length]).toEqual([{ left: 1, faults: [] }, 1])
    clock.advance(60_000)
    expect(clock.waiting).toBe(0)
  })
})

describe('a long text', () => {
  const LONG = 'x'.repeat(2_500_000)
  const long = () =>
    open({ openRenderer: () => ({ ...chatFormat.openStream(HEAD), frames: () => ['a', LONG], finish: () => ['b', LONG, 'c'] }) })

  test('that takes work gives others a turn after each step of it', async () => {
    const steps: number[] = []
    const opened = open({
      openRenderer: () => ({
        *frames() {
          for (const step of [1, 2, 3]) {
            steps.push(step)
            yield ''
          }
          yield 'said'
        },
        finish: () => '',
        fail: () => '',
      }),
    })
    void opened.stream.take([...frames(text('a'))])
    for (const step of [1, 2, 3]) {
      expect(steps).toHaveLength(step)
      expect(opened.written).toEqual([])
      opened.clock.advance(0)
      await turn()
    }
  })

  test('goes out in parts, with turns for others between them, and no comment falls into it', async () => {
    const { stream, bytes, written, clock, socket } = long()
    const taken = stream.take(frames(text('x')))
    expect(written).toEqual([])
    for (let part = 1; part <= 4; part += 1) {
      clock.advance(20_000)
      await turn()
      expect(written).toHaveLength(part)
    }
    await taken
    stream.finish()
    stream.finish()
    for (let part = 1; part <= 5; part += 1) {
      expect(socket.state).toBe('open')
      clock.advance(20_000)
      await turn()
    }
    expect(socket.state).toBe('ended')
    expect(bytes() === `a${LONG}b${LONG}c`).toBe(true)
    clock.advance(60_000)
    expect(clock.waiting).toBe(0)
  })

  test('that is one text goes out in parts too', async () => {
    const { stream, bytes, written, clock } = open({ openRenderer: () => ({ ...chatFormat.openStream(HEAD), frames: () => LONG }) })
    const taken = stream.take(frames(text('x')))
    expect(written).toEqual([])
    for (let part = 1; part <= 3; part += 1) {
      clock.advance(20_000)
      await turn()
      expect(written).toHaveLength(part)
    }
    await taken
    expect(bytes() === LONG).toBe(true)
  })

  test('is cut between characters, never within one', async () => {
    const emoji = `x${'\u{1F600}'.repeat(1_200_000)}`
    const { stream, bytes, written, clock } = open({ openRenderer: () => ({ ...chatFormat.openStream(HEAD), frames: () => [emoji] }) })
    const taken = stream.take(frames(text('x')))
    for (let part = 1; part <= 3; part += 1) {
      clock.advance(0)
      await turn()
    }
    await taken
    expect(written).toHaveLength(3)
    expect(bytes() === emoji).toBe(true)
  })

  test('is complete before the failure that ends the answer', async () => {
    const { stream, bytes, clock, socket } = open({
      openRenderer: () => ({ ...chatFormat.openStream(HEAD), frames: () => [LONG], fail: () => 'failed' }),
    })
    void stream.take(frames(text('x')))
    clock.advance(0)
    await turn()
    stream.fail(new GatewayError('timeout'))
    expect(socket.state).toBe('open')
    for (let part = 1; part <= 3; part += 1) {
      clock.advance(0)
      await turn()
    }
    expect(socket.state).toBe('ended')
    expect(bytes() === `${LONG}failed`).toBe(true)
  })

  test('goes no further where the client leaves, or does not read', async () => {
    for (const leave of ['leaves', 'does not read'] as const) {
      const { stream, written, clock, socket, seen } = long()
      socket.full = leave === 'does not read'
      stream.finish()
      clock.advance(0)
      await turn()
      if (leave === 'leaves') socket.leave()
      else clock.advance(80_000)
      await turn()
      clock.advance(60_000)
      await turn()
      expect([written.length, seen.left, clock.waiting]).toEqual([1, 1, 0])
    }
  })
})

describe('a fault of our own rendering', () => {
  const bug = (): never => {
    throw new TypeError('a bug')
  }
  const broken = (method: 'frames' | 'finish' | 'fail') => (): StreamRenderer<Written> => ({
    ...chatFormat.openStream(HEAD),
    [method]: bug,
  })

  test.each<[string, () => StreamRenderer<Written>]>([
    ['in a frame', broken('frames')],
    ['in the end', broken('finish')],
    ['in a failure', broken('fail')],
    ['when it is opened', bug],
  ])('%s breaks the connection instead of ending it, closes the upstream, and is logged', (where, openRenderer) => {
    const { stream, seen, socket, clock } = open({ openRenderer })
    if (where === 'in a failure') stream.fail(new GatewayError('timeout'))
    else {
      const given: readonly Frame[] = where === 'in the end' ? [] : ANSWER
      for (const frame of given) void stream.take([frame])
      stream.finish()
    }
    expect([socket.state, seen.left, seen.faults.map(String)]).toEqual(['cut', 1, ['TypeError: a bug']])
    clock.advance(60_000)
    expect(clock.waiting).toBe(0)
  })
})
