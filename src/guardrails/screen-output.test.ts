import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { emailGuardrail, guardrailWith } from '../../test/support/guardrail.ts'
import type { Frame, ModelEvent } from '../canonical/event.ts'
import type { Effect } from '../canonical/effect.ts'
import type { FilterAction } from '../contract/guardrail.ts'
import { GatewayError } from '../errors.ts'
import { createDetections } from './detections.ts'
import { effectiveOf } from './effective.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { atOnce } from '../lib/steps.ts'
import { createRunScan } from './scan.ts'
import { createOutputScreen, type OutputScreen, screening } from './screen-output.ts'

const screenFor = (action: FilterAction, effects: Effect[] = [], guardrail = emailGuardrail(action, 'output')): OutputScreen => {
  const output = effectiveOf([guardrail])?.output
  if (output === null || output === undefined) throw new Error('no filters')
  return createOutputScreen(output, createDetections(effects, 'Response'), (name) => name === 'of-the-request@b.io')
}

const text = (said: string): ModelEvent => ({ type: 'text', text: said })
const NOBODY = { observe: () => {} }
const FINISH: ModelEvent = { type: 'finish', reason: 'stop', native: null }
const frame = (...events: ModelEvent[]): Frame => ({ events })

/** Passes each event through the screen in a frame of its own. */
const through = (screen: OutputScreen, ...events: ModelEvent[]): ModelEvent[] => [
  ...events.flatMap((event) => atOnce(screen.frames([frame(event)])).flatMap((one) => one.events)),
  ...screen.end().flatMap((one) => one.events),
]

describe('kinds of text', () => {
  test('are held apart: what one ends with is let go where another begins, and is found where it goes on', () => {
    const events = through(
      screenFor('redact'),
      text('I am jane'),
      { type: 'tool-call', index: 0, id: 'c', name: 'f' },
      { type: 'tool-arguments', index: 0, json: '{}' },
      text('@example.com, hello'),
    )
    const said = events.flatMap((event) => (event.type === 'text' ? [event.text] : []))
    expect(events.map(({ type }) => type)).toEqual(['text', 'text', 'tool-call', 'tool-arguments', 'text', 'text'])
    // The first half had already been sent; the second half is not.
    expect(said.join('')).toBe('I am jane[EMAIL], hello')
  })

  test('two calls that are woven into each other each keep their own arguments', () => {
    const piece = (index: number, json: string): ModelEvent => ({ type: 'tool-arguments', index, json })
    const events = through(screenFor('redact'), piece(0, '{"a":"x '), piece(1, '{"b":"y '), piece(0, 'a@b.io"}'), piece(1, 'c@d.io"}'))
    const of = (index: number): string =>
      events.flatMap((event) => (event.type === 'tool-arguments' && event.index === index ? [event.json] : [])).join('')
    expect([of(0), of(1)]).toEqual(['{"a":"x [EMAIL]"}', '{"b":"y [EMAIL]"}'])
  })

  test('a source whose address must not pass is left out, and the others have no position in a text that was changed', () => {
    const source = (url: string): ModelEvent => ({
      type: 'citation',
      citation: { url, title: 'About a@b.io', content: 'Write to a@b.io.', start: 3, end: 9 },
    })
    const cited = (screen: OutputScreen, said: string) =>
      through(screen, text(said), source('https://example.com/x'), source('https://example.com/?to=a@b.io')).flatMap((event) =>
        event.type === 'citation' ? [event.citation] : [],
      )
    const passed = { url: 'https://example.com/x', title: 'About [EMAIL]', content: 'Write to [EMAIL].' }
    expect(cited(screenFor('redact'), 'See there, it says so.')).toEqual([{ ...passed, start: 3, end: 9 }])
    expect(cited(screenFor('redact'), 'Ask c@d.io, it says so.')).toEqual([{ ...passed, start: null, end: null }])
    expect(() => cited(screenFor('block'), 'See there.')).toThrow(GatewayError)
  })

  test('403: a name of a call that the model made up is looked at, and cannot be replaced; one of the request passes', () => {
    const called = (name: string, namespace?: string): ModelEvent => ({
      type: 'tool-call',
      index: 0,
      id: 'c',
      name,
      ...(namespace === undefined ? {} : { namespace }),
    })
    for (const action of ['redact', 'block'] as const) {
      expect(() => through(screenFor(action), called('a@b.io'))).toThrow('[EMAIL]')
      expect(() => through(screenFor(action), called('f', 'a@b.io'))).toThrow('[EMAIL]')
      expect(through(screenFor(action), called('of-the-request@b.io'))).toEqual([called('of-the-request@b.io')])
    }
    const effects: Effect[] = []
    expect(through(screenFor('flag', effects), called('a@b.io'))).toEqual([called('a@b.io')])
    expect(effects).toHaveLength(1)
  })

  test('a picture whose address must not pass is left out', () => {
    const picture = (url: string): ModelEvent => ({ type: 'image', url })
    const kept = [picture('https://example.com/a.png'), picture('data:image/png;base64,AAAA')]
    expect(through(screenFor('redact'), picture('https://example.com/a@b.io.png'), ...kept)).toEqual(kept)
    expect(() => through(screenFor('block'), picture('https://example.com/a@b.io.png'))).toThrow('[EMAIL]')
  })

  test('the input of a tool that takes any text is read as it is written; the arguments of others are JSON and stay JSON', () => {
    const called = (custom: object, said: string) =>
      through(
        screenFor('redact'),
        { type: 'tool-call', index: 0, id: 'c', name: 'f', ...custom },
        { type: 'tool-arguments', index: 0, json: said },
      ).flatMap((event) => (event.type === 'tool-arguments' ? [event.json] : []))
    expect(called({ custom: true }, 'C:\\u to a@b.io, "now"').join('')).toBe('C:\\u to [EMAIL], "now"')
    expect(called({}, '{"to":"Jane\\na@b.io"}').join('')).toBe('{"to":"Jane\\n[EMAIL]"}')
  })

  test('refusals and summaries of thinking are looked at too', () => {
    const events = through(screenFor('redact'), { type: 'reasoning', text: 'a@b.io', summary: true }, { type: 'refusal', text: 'c@d.io' })
    expect(events).toEqual([
      { type: 'reasoning', text: '[EMAIL]', summary: true },
      { type: 'refusal', text: '[EMAIL]' },
    ])
  })
})

describe('a whole answer', () => {
  const piece = fc.constantFrom('jane', '@exam', 'ple.com', ' hi ', 'a@b.io', '\uff41@b\u200b.io', '.', ' ', '"', '\\n')
  const kinds = fc.constantFrom<(said: string) => ModelEvent>(
    text,
    (said) => ({ type: 'reasoning', text: said }),
    (said) => ({ type: 'refusal', text: said }),
    (said) => ({ type: 'tool-arguments', index: 0, json: said }),
    () => ({ type: 'text-break' }),
    () => ({ type: 'start', upstreamId: null }),
  )
  const events = fc.array(
    fc.tuple(kinds, piece).map(([make, said]) => make(said)),
    { maxLength: 12 },
  )
  /** Returns the output of each kind of text and the findings, or the error if it was refused. */
  const outcomeOf = (action: FilterAction, batches: readonly (readonly ModelEvent[])[]): unknown => {
    const effects: Effect[] = []
    const screen = screenFor(action, effects)
    try {
      const out = [...batches.flatMap((batch) => atOnce(screen.frames([frame(...batch)]))), ...screen.end()].flatMap((one) => one.events)
      const said: Record<string, string> = {}
      for (const event of out) {
        if (event.type === 'tool-arguments') said[event.type] = (said[event.type] ?? '') + event.json
        else if ('text' in event) said[event.type] = (said[event.type] ?? '') + event.text
      }
      return { said, effects }
    } catch (thrown) {
      return (thrown as GatewayError).type
    }
  }

  const actions = fc.constantFrom<FilterAction>('flag', 'redact', 'block')

  test('in one batch is judged as it is piece by piece, and so is what comes behind it', () => {
    fc.assert(
      fc.property(actions, events, events, (action, answer, behind) => {
        const pieces = [...answer, FINISH, ...behind].map((event) => [event])
        expect(outcomeOf(action, [[...answer, FINISH], ...behind.map((event) => [event])])).toEqual(outcomeOf(action, pieces))
      }),
      { numRuns: 500 },
    )
  })

  test('in batches is judged as it is piece by piece, wherever a batch ends: also where the last one alone holds nothing', () => {
    fc.assert(
      fc.property(actions, fc.array(events, { maxLength: 3 }), (action, answers) => {
        const batches = answers.map((answer) => [...answer, FINISH])
        const [first = [], ...rest] = answers
        const pieces = answers.flatMap((answer) => [...answer, FINISH]).map((event) => [event])
        expect(outcomeOf(action, batches)).toEqual(outcomeOf(action, pieces))
        const begun = [first, ...rest.map((answer) => [...answer, FINISH])]
        expect(outcomeOf(action, begun)).toEqual(
          outcomeOf(
            action,
            begun.flat().map((event) => [event]),
          ),
        )
      }),
      { numRuns: 500, examples: [['redact', [[text('I am jane@exam')], [text('ple.com')]]]] },
    )
  })
})

describe('beside the text', () => {
  test('a signature does not vouch for thinking that was changed; it stays with thinking that was not', () => {
    const proof = { format: 'anthropic-claude-v1', kind: 'signature', data: 'sig', text: 'mail a@b.io' } as const
    const changed = through(screenFor('redact'), { type: 'reasoning', text: 'mail a@b.io' }, { type: 'reasoning-end', proof })
    expect(changed.at(-1)).toEqual({ type: 'reasoning-end', proof: null })
    const whole = through(screenFor('redact'), { type: 'reasoning', text: 'mail nobody ' }, { type: 'reasoning-end', proof })
    expect(whole.at(-1)).toEqual({ type: 'reasoning-end', proof })
    // It is not about the text.
    const sealed = { ...proof, kind: 'encrypted' } as const
    const beside = through(screenFor('redact'), { type: 'reasoning', text: 'mail a@b.io' }, { type: 'reasoning-end', proof: sealed })
    expect(beside.at(-1)).toEqual({ type: 'reasoning-end', proof: sealed })
  })

  test('a thought that was not changed keeps its signature behind one that was', () => {
    const proof = { format: 'anthropic-claude-v1', kind: 'signature', data: 'sig', text: '' } as const
    const thought = (said: string): ModelEvent[] => [
      { type: 'reasoning', text: said },
      { type: 'reasoning-end', proof },
    ]
    const events = through(
      screenFor('redact'),
      ...thought('nobody. '),
      ...thought('a@b.io. '),
      text('a@b.io'),
      ...thought('nobody again. '),
    )
    expect(events.flatMap((event) => (event.type === 'reasoning-end' ? [event.proof] : []))).toEqual([proof, null, proof])
  })

  test('log probabilities, which spell the text, are left out; sources are screened', () => {
    const citation = { url: 'https://x.example', title: 'By jane@example.com', content: null, start: 0, end: 4 }
    const events = through(screenFor('redact'), { type: 'logprobs', content: [{ token: 'jane' }] }, { type: 'citation', citation })
    expect(events).toEqual([{ type: 'citation', citation: { ...citation, title: 'By [EMAIL]' } }])
  })

  test("an upstream's own text goes on only where nothing can be changed", () => {
    const native = { dialect: 'chat', json: '{"second":"choice"}' } as const
    expect(atOnce(screenFor('redact').frames([{ events: [text('hi ')], native }]))).toEqual([{ events: [text('hi ')] }])
    expect(atOnce(screenFor('block').frames([{ events: [text('hi ')], native }]))).toEqual([{ events: [text('hi ')] }])
    expect(atOnce(screenFor('flag').frames([{ events: [text('hi ')], native }]))).toEqual([{ events: [text('hi ')], native }])
  })
})

describe('what must not pass', () => {
  test('ends the answer with 403 and the filter, before anything of it was let go', () => {
    const screen = screenFor('block')
    expect(atOnce(screen.frames([frame(text('I am ja'))]))).toEqual([frame(text('I am '))])
    expect(() => atOnce(screen.frames([frame(text('ne@example.com.'))]))).toThrow('Response blocked by content filter: [EMAIL]')
  })

  test('is found in the arguments of a whole answer as they are meant, however they are escaped', () => {
    const pattern = { pattern: 'secret\\s+plan', action: 'redact', label: '[PLAN]' } as const
    const screen = screenFor('redact', [], guardrailWith({ content_filters: [pattern] }))
    const said = atOnce(screen.frames([frame({ type: 'tool-arguments', index: 0, json: '{"x":"secret\\nplan"}' }, FINISH)]))
    expect(said.flatMap(({ events }) => events)).toEqual([{ type: 'tool-arguments', index: 0, json: '{"x":"[PLAN]"}' }, FINISH])
  })

  test('is replaced in the words of a failure, also where it would end an answer', () => {
    for (const action of ['redact', 'block'] as const)
      expect(screenFor(action).hide('Cannot read "mail a@b.io".')).toBe('Cannot read "mail [EMAIL]".')
  })

  test('is found at the very end of an answer', () => {
    const screen = screenFor('block')
    expect(atOnce(screen.frames([frame(text('jane@b.io'))]))).toEqual([])
    expect(() => screen.end()).toThrow(GatewayError)
  })

  test('a reader that is behind is waited for', async () => {
    const reader = Promise.withResolvers<void>()
    const { take } = screening({ screen: screenFor('block'), run: createRunScan(systemClock, 2000) }, NOBODY, () => reader.promise)
    expect(take([frame(text('hi '))])).toBe(reader.promise)
    reader.resolve()
  })

  test('a screen that fails passes nothing: 403', async () => {
    const broken: OutputScreen = {
      rewriting: true,
      *frames() {
        yield
        throw new TypeError('broken')
      },
      end: () => [],
      hide: (said) => said,
    }
    const passed: unknown[] = []
    const { take } = screening({ screen: broken, run: createRunScan(systemClock, 2000) }, NOBODY, (frames) => void passed.push(frames))
    expect(() => take([frame(text('hi'))])).toThrow(
      expect.objectContaining({ type: 'permission_denied', status: 403, metadata: { patterns: [] } }),
    )
    expect(passed).toEqual([])
  })

  /** A clock on which each look takes that long. */
  const clockOf = (lookMs: number): Clock => {
    let nowMs = 0
    return {
      ...systemClock,
      monotonicMs: () => (nowMs += lookMs),
      after: (_, run) => {
        queueMicrotask(run)
        return () => {}
      },
    }
  }

  test('a long answer gives way to other work while it is screened, and passes whole', async () => {
    let waits = 0
    const clock = clockOf(1)
    const run = createRunScan({ ...clock, after: (ms, go) => ((waits += 1), clock.after(ms, go)) }, 10_000)
    const passed: Frame[] = []
    const { take, end } = screening({ screen: screenFor('redact'), run }, NOBODY, (frames) => void passed.push(...frames))
    await take([frame(text(`${'4 '.repeat(25_000)}a@b.io`), FINISH)])
    await end()
    expect(waits).toBeGreaterThan(15)
    const said = passed.flatMap(({ events }) => events.map((event) => ('text' in event ? event.text : event.type))).join('')
    expect(said).toBe(`${'4 '.repeat(25_000)}[EMAIL]finish`)
  })

  test('an answer whose screening takes longer than its time, in one frame or in many, is refused: 403, and no more of it passes', async () => {
    const many = Array.from({ length: 400 }, () => [frame(text('4 4 4 4 '))])
    const one = [[frame(text('4 '.repeat(200_000)), FINISH)]]
    for (const batches of [many, one]) {
      const passed: Frame[] = []
      const output = { screen: screenFor('flag'), run: createRunScan(clockOf(6), 1000) }
      const { take } = screening(output, NOBODY, (frames) => void passed.push(...frames))
      const all = (async () => {
        for (const batch of batches) await take(batch)
      })()
      const thrown: unknown = await all.catch((error: unknown) => error)
      expect(thrown).toMatchObject({ type: 'permission_denied', status: 403, metadata: { patterns: [] } })
      expect(passed.length).toBe(batches === one ? 0 : Math.ceil(1001 / 6))
    }
  })
})
