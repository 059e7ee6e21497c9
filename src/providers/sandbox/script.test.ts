import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import type { ModelEvent } from '../../canonical/event.ts'
import type { Message, OutputFormat, Part, Prompt } from '../../canonical/prompt.ts'
import type { ReasoningSetting } from '../../canonical/settings.ts'
import { outputTokens, type Usage } from '../../canonical/usage.ts'
import { ERROR_TYPES, errorRow, type GatewayError } from '../../errors.ts'
import { promptOf } from '../attempt.test-kit.ts'
import { SANDBOX_MODELS } from './models.ts'
import { sandboxScript } from './script.ts'
import type { SandboxInput, SandboxStep } from './step.ts'

const user = (...parts: Part[]): Message => ({ role: 'user', parts })
const text = (text: string): Part => ({ type: 'text', text })

const prompt = (more: Partial<Prompt> = {}): Prompt => promptOf({ messages: [user(text('Three short words'))], ...more })

const input = (more: Partial<SandboxInput> = {}): SandboxInput => ({
  prompt: prompt(),
  maxOutputTokens: null,
  settings: { tokens: null, delayMs: null },
  attempt: 0,
  ...more,
})

const steps = (model: string, more: Partial<SandboxInput> = {}): SandboxStep[] => [...sandboxScript(`sandbox/${model}`, input(more))]

const eventsOf = (script: readonly SandboxStep[]): ModelEvent[] => script.flatMap((step) => (step.kind === 'frame' ? step.events : []))

const said = (script: readonly SandboxStep[], type: 'text' | 'reasoning' | 'refusal' = 'text'): string =>
  eventsOf(script)
    .flatMap((event) => (event.type === type ? [event.text] : []))
    .join('')

const usageOf = (script: readonly SandboxStep[]): Usage | undefined => eventsOf(script).findLast((event) => event.type === 'usage')?.usage
const finishOf = (script: readonly SandboxStep[]): string | undefined =>
  eventsOf(script).findLast((event) => event.type === 'finish')?.reason
const waitsOf = (script: readonly SandboxStep[]): number[] => script.flatMap((step) => (step.kind === 'wait' ? [step.ms] : []))
const errorOf = (script: readonly SandboxStep[]): GatewayError | undefined => script.find((step) => step.kind === 'fail')?.error

describe('sandbox/echo', () => {
  test('answers with the text of the last user message, and counts words', () => {
    const script = steps('echo')
    expect(said(script)).toBe('Three short words')
    expect(usageOf(script)).toMatchObject({ inputFresh: 3, output: 3, outputReasoning: 0, estimated: false })
    expect(finishOf(script)).toBe('stop')
    expect(waitsOf(script)).toEqual([])
  })

  test('keeps every character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (words) => {
        expect(said(steps('echo', { prompt: prompt({ messages: [user(text(words))] }) }))).toBe(words)
      }),
    )
  })

  test('describes the request where the user said nothing', () => {
    const messages = [{ role: 'system', parts: [text('x')] }, user({ type: 'image', url: 'data:image/png;base64,AA==' })] as const
    expect(
      JSON.parse(
        said(steps('echo', { prompt: prompt({ messages, tools: [{ type: 'function', name: 'f', description: null, parameters: {} }] }) })),
      ),
    ).toEqual({
      messages: [
        { role: 'system', parts: ['text'] },
        { role: 'user', parts: ['image'] },
      ],
      tools: ['f'],
      tool_choice: 'auto',
      output_format: 'text',
    })
  })

  test('a long text comes in a bounded number of frames', () => {
    const long = 'word '.repeat(100_000)
    const script = steps('echo', { prompt: prompt({ messages: [user(text(long))] }) })
    expect(said(script)).toBe(long)
    expect(script.length).toBeLessThan(1000)
  })

  test('a text of megabytes is cut, and no step of its answer holds more than a small part of it', () => {
    const huge = 'a b\n'.repeat(4_500_000)
    const script = steps('echo', { prompt: prompt({ messages: [user(text(huge))] }) })
    expect(said(script)).toBe(huge.slice(0, 512 * 1024))
    expect(finishOf(script)).toBe('stop')
    const events = eventsOf(script)
    expect(events.length).toBeLessThan(1000)
    expect(usageOf(script)?.inputFresh).toBeGreaterThan(8_000_000)
  })

  test('an answer is made as it is taken: leaving after the first frames makes no more', () => {
    const long = 'word '.repeat(100_000)
    let made = 0
    for (const step of sandboxScript('echo', input({ prompt: prompt({ messages: [user(text(long))] }) }))) {
      if (step.kind === 'frame') made += step.events.reduce((sum, event) => sum + (event.type === 'text' ? event.text.length : 0), 0)
      if (made > 0) break
    }
    expect(made).toBeLessThan(long.length / 100)
  })
})

describe('sandbox/lorem', () => {
  test('has the length and the pace that the request sets', () => {
    const script = steps('lorem', { settings: { tokens: 5, delayMs: 40 } })
    expect(said(script)).toBe('Lorem ipsum dolor sit amet,')
    expect(waitsOf(script)).toEqual([40, 40, 40, 40])
    expect(usageOf(script)?.output).toBe(5)
  })

  test('stops at the most output tokens, with finish length', () => {
    const script = steps('lorem', { maxOutputTokens: 2 })
    expect(said(script)).toBe('Lorem ipsum')
    expect(usageOf(script)?.output).toBe(2)
    expect(finishOf(script)).toBe('length')
  })
})

describe('sandbox/tools', () => {
  const tools = [
    {
      type: 'function' as const,
      name: 'weather',
      description: 'Now',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
    { type: 'function' as const, name: 'ping', description: null, parameters: { type: 'object', properties: {} } },
  ]
  const calls = (script: readonly SandboxStep[]) =>
    eventsOf(script).flatMap((event) => {
      if (event.type !== 'tool-call') return []
      const json = eventsOf(script).flatMap((piece) => (piece.type === 'tool-arguments' && piece.index === event.index ? [piece.json] : []))
      return [{ index: event.index, id: event.id, name: event.name, arguments: json.join('') }]
    })

  test('calls each tool once, in one turn, one block after the other', () => {
    const script = steps('tools', { prompt: prompt({ tools }) })
    expect(calls(script)).toEqual([
      { index: 0, id: 'call_sandbox_0', name: 'weather', arguments: '{"city":"text"}' },
      { index: 1, id: 'call_sandbox_1', name: 'ping', arguments: '{}' },
    ])
    expect(finishOf(script)).toBe('tool_calls')
    const indices = eventsOf(script).flatMap((event) => ('index' in event ? [event.index] : []))
    expect(indices).toEqual(indices.toSorted((one, other) => one - other))
  })

  test('heeds the choice of a tool', () => {
    expect(
      calls(steps('tools', { prompt: prompt({ tools, toolChoice: { type: 'tool', name: 'ping' } }) })).map(({ name }) => name),
    ).toEqual(['ping'])
    expect(calls(steps('tools', { prompt: prompt({ tools, toolChoice: { type: 'none' } }) }))).toEqual([])
    expect(said(steps('tools'))).toContain('no tool')
  })

  test('calls the first tool alone where the request wants no parallel calls', () => {
    const settings = (value: boolean) => ({ parallelToolCalls: { value, field: 'parallel_tool_calls' } })
    expect(calls(steps('tools', { prompt: prompt({ tools, settings: settings(false) }) })).map(({ name }) => name)).toEqual(['weather'])
    expect(calls(steps('tools', { prompt: prompt({ tools, settings: settings(true) }) }))).toHaveLength(2)
  })

  test('answers with the results of its calls, by the names of the tools; ids of later calls are new', () => {
    const called: Message = { role: 'assistant', parts: [{ type: 'tool-call', id: 'call_sandbox_0', name: 'weather', arguments: '{}' }] }
    const messages = [
      called,
      user({ type: 'tool-result', callId: 'call_sandbox_0', text: '3 °C' }, { type: 'tool-result', callId: 'x', text: 'lost' }),
    ]
    const script = steps('tools', { prompt: prompt({ tools, messages }) })
    expect(said(script)).toBe('weather returned: 3 °C\nx returned: lost')
    expect(finishOf(script)).toBe('stop')
    const later = steps('tools', { prompt: prompt({ tools, messages: [...messages, user(text('Again'))] }) })
    expect(calls(later).map(({ id }) => id)).toEqual(['call_sandbox_1', 'call_sandbox_2'])
  })
})

test('sandbox/reasoning thinks, then answers, and counts the two apart', () => {
  const script = steps('reasoning')
  expect(said(script, 'reasoning')).toContain('3 words')
  expect(said(script)).toBe('Your message has 3 words.')
  expect(usageOf(script)).toMatchObject({ output: 5, outputReasoning: said(script, 'reasoning').split(' ').length })
})

test('sandbox/reasoning does not think where the request says so, and keeps its thinking to itself where it says that', () => {
  const asked = (value: ReasoningSetting) =>
    steps('reasoning', { prompt: prompt({ settings: { reasoning: { value, field: 'reasoning' } } }) })
  for (const off of [asked({ enabled: false }), asked({ effort: 'none' }), asked({ maxTokens: 0 })]) {
    expect([said(off, 'reasoning'), said(off)]).toEqual(['', 'Your message has 3 words.'])
    expect(usageOf(off)).toMatchObject({ outputReasoning: 0 })
  }
  const hidden = asked({ exclude: true })
  expect(said(hidden, 'reasoning')).toBe('')
  expect(usageOf(hidden)).toMatchObject(usageOf(steps('reasoning')) ?? {})
})

describe('a stop sequence', () => {
  const stopped = (model: string, value: readonly string[], more: Partial<SandboxInput> = {}) =>
    steps(model, { prompt: prompt({ settings: { stop: { value, field: 'stop' } } }), ...more })
  const endOf = (script: readonly SandboxStep[]) => eventsOf(script).findLast((event) => event.type === 'finish')

  test('ends the text before it, and is named', () => {
    const script = stopped('echo', ['words', 'short '])
    expect(said(script)).toBe('Three ')
    expect(endOf(script)).toMatchObject({ reason: 'stop', stopSequence: 'short ' })
    expect(usageOf(script)?.output).toBe(1)
  })

  test('that is complete first is the one that counts', () => {
    expect(endOf(stopped('echo', ['short words', 'hort']))).toMatchObject({ stopSequence: 'hort' })
    expect(said(stopped('echo', ['rds', 'ords']))).toBe('Three short w')
  })

  test('that does not come, or comes after the limit, ends nothing', () => {
    expect(endOf(stopped('echo', ['long', '']))).toEqual({ type: 'finish', reason: 'stop', native: null })
    expect(endOf(stopped('echo', ['words'], { maxOutputTokens: 1 }))).toEqual({ type: 'finish', reason: 'length', native: null })
  })

  test('keeps what was to come behind it from happening, and leaves thinking and calls as they are', () => {
    expect(endOf(stopped('cut', ['dolor']))).toMatchObject({ reason: 'stop', stopSequence: 'dolor' })
    const thinking = stopped('reasoning', ['message'])
    expect(said(thinking, 'reasoning')).toContain('message')
    expect(said(thinking)).toBe('Your ')
  })

  test('property: the text is a beginning of the whole one and holds no sequence', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 30 }),
        fc.array(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 3 }),
        (whole, sequences) => {
          const messages = [user(text(`x${whole}`))]
          const script = steps('echo', { prompt: prompt({ messages, settings: { stop: { value: sequences, field: 'stop' } } }) })
          expect(`x${whole}`.startsWith(said(script))).toBe(true)
          expect(sequences.some((sequence) => said(script).includes(sequence))).toBe(false)
        },
      ),
    )
  })
})

test('sandbox/refusal refuses in its own words, as a completed output', () => {
  const script = steps('refusal')
  expect(said(script, 'refusal')).not.toBe('')
  expect(said(script)).toBe('')
  expect(finishOf(script)).toBe('content_filter')
  expect(errorOf(script)).toBeUndefined()
})

test.each<[string, OutputFormat, unknown]>([
  ['without a schema', { type: 'json' }, { ok: true, messages: 1 }],
  ['as text', { type: 'text' }, { ok: true, messages: 1 }],
  ['with a schema', { type: 'json-schema', name: 'n', schema: { type: 'object', properties: { a: { enum: ['x'] } } } }, { a: 'x' }],
])('sandbox/json %s', (_, outputFormat, expected) => {
  expect(JSON.parse(said(steps('json', { prompt: prompt({ outputFormat }) })))).toEqual(expected)
})

test('sandbox/slow begins after three seconds and goes on slowly', () => {
  const script = steps('slow')
  expect(waitsOf(script)).toEqual([3000, 250, 250])
  expect(said(script)).toBe('Three short words')
})

test('sandbox/cut breaks off after some text, without a finish', () => {
  const script = steps('cut')
  expect(script.at(-1)).toEqual({ kind: 'cut' })
  expect(said(script)).not.toBe('')
  expect(finishOf(script)).toBeUndefined()
})

test('sandbox/empty spends everything on reasoning and says nothing', () => {
  const script = steps('empty', { maxOutputTokens: 77 })
  expect(eventsOf(script).map(({ type }) => type)).toEqual(['start', 'usage', 'usage', 'finish'])
  expect(usageOf(script)).toMatchObject({ output: 0, outputReasoning: 77 })
  expect(finishOf(script)).toBe('length')
})

test('sandbox/flaky fails in the first attempt, before any content, and works in the next', () => {
  expect(errorOf(steps('flaky'))?.type).toBe('provider_overloaded')
  expect(steps('flaky')).toHaveLength(1)
  expect(finishOf(steps('flaky', { attempt: 1 }))).toBe('stop')
})

describe.each(ERROR_TYPES)('%s', (type) => {
  test('sandbox/error fails at once, as a provider would say it', () => {
    const script = steps(`error/${type}`)
    expect(script).toHaveLength(1)
    const error = errorOf(script)
    expect(error).toMatchObject({ type, status: errorRow(type).status })
    expect(error?.metadata['provider_name']).toBe('Sandbox')
    const raw = JSON.parse(String(error?.metadata['raw'])) as { error: { code: string; message: string } }
    expect(raw.error.code).toBe(String(error?.metadata['provider_code']))
    expect(error?.message).toBe(`Sandbox: ${raw.error.message}`)
  })

  test('sandbox/midstream fails after some tokens, which are counted', () => {
    const script = steps(`midstream/${type}`)
    expect(errorOf(script)?.type).toBe(type)
    expect(script.at(-1)?.kind).toBe('fail')
    expect(said(script)).not.toBe('')
    expect(usageOf(script)?.output).toBe(12)
    expect(finishOf(script)).toBeUndefined()
  })
})

test('only a rate limit and an overload say when to come back', () => {
  const waiting = ERROR_TYPES.filter((type) => errorOf(steps(`error/${type}`))?.retryAfterSeconds !== undefined)
  expect(waiting).toEqual(['rate_limit_exceeded', 'provider_overloaded'])
})

test.each(['', 'nothing', 'echo/x', 'error', 'error/nothing', 'error/server/x', 'midstream', 'toString', 'constructor/server'])(
  'not_found: sandbox/%s',
  (model) => {
    expect(errorOf(steps(model))?.type).toBe('not_found')
  },
)

describe('every listed model', () => {
  const ids = SANDBOX_MODELS.map(({ id }) => id)

  test('is there once, 11 and one for each error in two ways', () => {
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toHaveLength(11 + 2 * ERROR_TYPES.length)
  })

  const part: fc.Arbitrary<Part> = fc.oneof(
    fc.string().map(text),
    fc.record({ type: fc.constant('tool-result' as const), callId: fc.string(), text: fc.string() }),
    fc.constant({ type: 'image', url: 'https://example.com/a.png' } as const),
  )
  const anyInput: fc.Arbitrary<SandboxInput> = fc.record({
    prompt: fc.record({
      messages: fc.array(fc.record({ role: fc.constantFrom('user', 'assistant', 'system'), parts: fc.array(part, { maxLength: 3 }) }), {
        maxLength: 4,
      }),
      tools: fc.array(
        fc.record({
          type: fc.constant('function' as const),
          name: fc.string(),
          description: fc.constant(null),
          parameters: fc.jsonValue({ maxDepth: 2 }),
        }),
        {
          maxLength: 3,
        },
      ),
      toolChoice: fc.constantFrom({ type: 'auto' } as const, { type: 'none' } as const),
      outputFormat: fc.constant({ type: 'json' } as const),
      settings: fc.constant({}),
      otherFields: fc.constant([]),
    }),
    maxOutputTokens: fc.option(fc.integer({ min: 1, max: 50 })),
    settings: fc.record({ tokens: fc.option(fc.integer({ min: 1, max: 50 })), delayMs: fc.option(fc.integer({ min: 0, max: 50 })) }),
    attempt: fc.nat(3),
  })

  test('says the same to the same request', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ids), anyInput, (id, input) => {
        expect(JSON.stringify([...sandboxScript(id, input)])).toBe(JSON.stringify([...sandboxScript(id, input)]))
      }),
    )
  })

  test('keeps within the most output tokens, and ends with usage and a finish, a failure or a cut', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ids), anyInput, (id, input) => {
        const script = [...sandboxScript(id, input)]
        const last = script.at(-1)
        if (last?.kind === 'frame') expect(last.events.map(({ type }) => type)).toEqual(['usage', 'finish'])
        else expect(['fail', 'cut']).toContain(last?.kind as string)
        const usage = usageOf(script)
        if (usage !== undefined && input.maxOutputTokens !== null) expect(outputTokens(usage)).toBeLessThanOrEqual(input.maxOutputTokens)
      }),
    )
  })
})
