/** Tools that call other models: advisors, subagents, fusions and images; and patches, which go to the client. */
import { readFileSync } from 'node:fs'

import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'

import { type Answer, call, conversationOf, createKey, type Dialect, DIALECTS, infer, PATHS } from '../support/calls.ts'
import { readStream, streamEvents } from '../support/client-stream.ts'
import { FINISH_CHUNK, proseAnswer, proseChunk, startFakeUpstream, type Exchange } from '../support/fake-upstream.ts'
import { until, useServices, type StartedService } from '../support/started-service.ts'

const services = useServices()
const provider = await startFakeUpstream()

/** A dollar for a million tokens, so that ten tokens cost ten micro-dollars. */
const CONFIG = `
providers:
  acme: { name: Acme, dialects: [openai-chat], base_url: "${provider.url}", api_key: k }
models:
  t/wise: { endpoints: [{ provider: acme, model: wise, prices: { prompt: 1, completion: 1 } }] }
  t/other: { endpoints: [{ provider: acme, model: other, prices: { prompt: 1, completion: 1 } }] }
  t/third: { endpoints: [{ provider: acme, model: third, prices: { prompt: 1, completion: 1 } }] }
  t/dear: { endpoints: [{ provider: acme, model: dear, prices: { prompt: 1, completion: 100 } }] }
  t/unpriced: { endpoints: [{ provider: acme, model: unpriced }] }
  t/painter: { output_modalities: [text, image], endpoints: [{ provider: acme, model: painter, prices: { prompt: 1, completion: 1 } }] }
`

let service: StartedService
let forbidding: StartedService

beforeAll(async () => {
  service = await services.start({ config: CONFIG })
  forbidding = await services.start({ config: CONFIG })
})

type Json = Readonly<Record<string, unknown>>

const ADVICE = 'Measure twice, cut once.'
const DONE = { text: 'So be it.' }

const ask = (dialect: Dialect, script: readonly Json[], tools: readonly Json[], more: Json = {}): Promise<Answer> =>
  infer(
    service,
    {
      model: 'sandbox/agent',
      sandbox: { script },
      ...conversationOf(dialect, 'How?'),
      tools,
      ...more,
    },
    { path: PATHS[dialect] },
  )

const advise = (prompt: string, name = 'service:advisor'): Json => ({ call: { name, arguments: { prompt } } })
const ADVISOR = { type: 'service:advisor', parameters: { model: 't/wise' } }

/** The requests to the upstream since the test began. */
let asked: Exchange[] = []
beforeEach(() => {
  asked = []
  answerWith(({ answer }) => answer(200, proseAnswer(ADVICE)))
})
const answerWith = (answer: (exchange: Exchange) => void | Promise<void>): void =>
  provider.script((exchange) => {
    asked.push(exchange)
    return answer(exchange)
  })

const wordsOf = ({ body }: Exchange): string[] =>
  body.messages.map(({ role, content }) => `${role}: ${typeof content === 'string' ? content : textIn(content)}`)
const textIn = (content: unknown): string => (content as readonly { readonly text?: string }[]).map(({ text = '' }) => text).join('|')

interface Wire {
  readonly choices: readonly { readonly message: Json; readonly finish_reason: string }[]
  readonly output: readonly Json[]
  readonly content: readonly Json[]
  readonly usage: { readonly cost: number; readonly prompt_tokens?: number }
  readonly id: string
  readonly model: string
}
const wire = (answer: Answer): Wire => answer.json as Wire
const kept = (dialect: Dialect, answer: Answer): readonly unknown[] => {
  const { choices, output, content } = wire(answer)
  if (dialect === 'chat') return [choices[0]?.message]
  return dialect === 'responses' ? output : [{ role: 'assistant', content }]
}

describe.each(DIALECTS)('%s', (dialect) => {
  test('an advisor is asked, its advice reaches the model and the client, and its cost is part of the answer’s', async () => {
    const answer = await ask(dialect, [advise('Which saw?'), DONE], [ADVISOR])
    expect([answer.status, asked.length]).toEqual([200, 1])
    expect(wordsOf(asked[0] as Exchange)).toEqual(['user: Which saw?'])
    expect(answer.text).toContain(ADVICE)
    expect(wire(answer).usage.cost).toBeCloseTo(10 / 1_000_000, 12)
  })

  test('a stream with an advisor has exactly one beginning and one end', async () => {
    const { text } = await ask(dialect, [advise('Which saw?'), DONE], [ADVISOR], { stream: true })
    expect(readStream(dialect, text)).toEqual({ end: 'normal', faults: [] })
    expect(text).toContain(ADVICE)
  })

  test('max_tool_calls of an advisor, which makes no calls, causes a warning that it has no effect', async () => {
    const tools = [{ type: 'service:advisor', parameters: { model: 't/wise', max_tool_calls: 3 } }]
    const warnings = ({ headers }: Answer): number => Number(headers.get('x-service-warnings') ?? 0)
    const [bounded, plain] = [await ask(dialect, [DONE], tools), await ask(dialect, [DONE], [ADVISOR])]
    expect([bounded.status, warnings(bounded) - warnings(plain)]).toEqual([200, 1])
  })

  test('an advisor remembers what it was asked within an answer and when the answer comes back, and another advisor does not', async () => {
    const tools = [ADVISOR, { type: 'service:advisor', parameters: { model: 't/other', name: 'second' } }]
    const first = await ask(dialect, [advise('One?'), advise('Two?', 'service_advisor__1'), DONE], tools)
    expect(first.status).toBe(200)
    const history = [{ role: 'user', content: 'How?' }, ...kept(dialect, first), { role: 'user', content: 'And now?' }]
    asked = []
    await ask(dialect, [advise('Three?'), advise('Four?', 'service_advisor__1'), DONE], tools, {
      [dialect === 'responses' ? 'input' : 'messages']: history,
    })
    expect(asked.map((exchange) => [exchange.body.model, wordsOf(exchange)])).toEqual([
      ['wise', ['user: One?', `assistant: ${ADVICE}`, 'user: Three?']],
      ['other', ['user: Two?', `assistant: ${ADVICE}`, 'user: Four?']],
    ])
  })

  test('a subagent carries out a task with tools of the service, and reports its outcome', async () => {
    answerWith(({ body, answer }) =>
      answer(
        200,
        body.messages.some(({ role }) => role === 'tool')
          ? proseAnswer('It is done.')
          : proseAnswer('', {
              choices: [
                {
                  index: 0,
                  message: {
                    role: 'assistant',
                    content: null,
                    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'service_datetime', arguments: '{}' } }],
                  },
                  finish_reason: 'tool_calls',
                },
              ],
            }),
      ),
    )
    const task = { call: { name: 'service:subagent', arguments: { task_name: 'clock', task_description: 'Tell the time.' } } }
    const tools = [{ type: 'service:subagent', parameters: { model: 't/wise', tools: [{ type: 'service:datetime' }], max_tool_calls: 2 } }]
    const answer = await ask(dialect, [task, DONE], tools)
    expect([answer.status, asked.length]).toEqual([200, 2])
    expect(wordsOf(asked[0] as Exchange)).toEqual(['user: Tell the time.'])
    expect(answer.text).toContain('It is done.')
    expect(answer.text).not.toContain('+00:00')
    expect(wire(answer).usage.cost).toBeCloseTo(20 / 1_000_000, 12)
  })

  test('a fusion asks its models in parallel, and reports which failed and how the analyst compared the others', async () => {
    const analysis = { consensus: ['Yes'], contradictions: [], partial_coverage: [], unique_insights: [], blind_spots: [] }
    answerWith(({ body, answer }) => {
      if (body.model === 'third') return answer(200, proseAnswer(`Here it is: ${JSON.stringify(analysis)}`))
      return body.model === 'other' ? answer(400, '{"error":{"message":"no"}}') : answer(200, proseAnswer('Yes.'))
    })
    const fuse = { call: { name: 'service:fusion', arguments: { prompt: 'Is it?' } } }
    const tools = [{ type: 'service:fusion', parameters: { analysis_models: ['t/wise', 't/other'], model: 't/third', tools: [] } }]
    const answer = await ask(dialect, [fuse, fuse, DONE], tools)
    expect(answer.status).toBe(200)
    const plain = answer.text.replaceAll('\\', '')
    expect(plain).toContain('"consensus":["Yes"]')
    expect(plain).toMatch(/"failed_models":\[\{"model":"t\/other"/)
    // A request may have only one fusion.
    expect(plain).toContain(dialect === 'messages' ? 'A request has one fusion.' : 'fusion')
    expect(asked.length).toBe(3)
  })

  test('a fusion whose analyst fails still has the answers of the others, without an analysis', async () => {
    answerWith(({ body, answer }) =>
      body.model === 'third' ? answer(400, '{"error":{"message":"no"}}') : answer(200, proseAnswer(`It is ${body.model}.`)),
    )
    const fuse = { call: { name: 'service:fusion', arguments: { prompt: 'Is it?' } } }
    const tools = [{ type: 'service:fusion', parameters: { analysis_models: ['t/wise', 't/other'], model: 't/third', tools: [] } }]
    const answer = await ask(dialect, [fuse, DONE], tools)
    expect(answer.status).toBe(200)
    expect(asked.map(({ body }) => body.model).toSorted()).toEqual(['other', 'third', 'wise'])
    const plain = answer.text.replaceAll('\\', '')
    for (const words of ['It is wise.', 'It is other.', DONE.text]) expect(plain).toContain(words)
    expect(plain).toContain(dialect === 'responses' ? '"type":"service:fusion"' : '"status":"ok"')
    expect(plain).not.toContain('"analysis"')
    // The two that answered are charged; the one that failed is not.
    expect(wire(answer).usage.cost).toBeCloseTo(20 / 1_000_000, 12)
  })

  test('a second fusion in a request is refused with an error that the model reads, and asks no model', async () => {
    const fuse = { call: { name: 'service:fusion', arguments: { prompt: 'Which saw?' } } }
    const tools = [{ type: 'service:fusion', parameters: { analysis_models: ['t/wise'], model: 't/other', tools: [] } }]
    const answer = await ask(dialect, [fuse, fuse, DONE], tools)
    expect([answer.status, asked.length]).toEqual([200, 2])
    expect(answer.text).toContain(dialect === 'responses' ? '"failure_reason":"fusion_invocation_capped"' : 'fusion_invocation_capped')
  })

  test('a picture reaches the client once, and the model gets a result without its bytes', async () => {
    const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const url = `data:image/png;base64,${data}`
    let turn = 0
    const paint = { id: 'p1', type: 'function', function: { name: 'service_image_generation', arguments: '{"prompt":"A cat"}' } }
    answerWith(({ body, answer }) => {
      if (body.model === 'painter') {
        const message = { role: 'assistant', content: 'Here.', images: [{ type: 'image_url', image_url: { url } }] }
        return answer(200, proseAnswer('', { choices: [{ index: 0, message, finish_reason: 'stop' }] }))
      }
      turn += 1
      if (turn > 1) return answer(200, proseAnswer('Look at it.'))
      const message = { role: 'assistant', content: null, tool_calls: [paint] }
      return answer(200, proseAnswer('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))
    })
    const tools = [{ type: 'service:image_generation', parameters: { model: 't/painter', quality: 'low' } }]
    const answer = await ask(dialect, [], tools, { model: 't/wise' })
    expect([answer.status, asked.length]).toEqual([200, 3])
    expect(asked[1]?.body).toMatchObject({ model: 'painter', modalities: ['image', 'text'] })
    expect(asked[2]?.text).not.toContain(data)
    expect(asked[2]?.text).toContain('service-image:1')
    expect(answer.text).toContain(data)
  })
})

describe('an impossible setting is refused before any model is asked', () => {
  const TWICE = 'Only one advisor tool can serve as the default. All other advisor tools must have a name defined.'

  test.each([
    ['two advisors without a name', [ADVISOR, ADVISOR], TWICE],
    [
      'two of one name, spaces around it aside',
      [
        { type: 'service:advisor', parameters: { name: 'a' } },
        { type: 'service:advisor', parameters: { name: ' a ' } },
      ],
      'tools[1].parameters.name',
    ],
    ['a name of 65 characters', [{ type: 'service:advisor', parameters: { name: 'a'.repeat(65) } }], 'name'],
    [
      'a function for a subagent',
      [{ type: 'service:subagent', parameters: { tools: [{ type: 'function', function: { name: 'f' } }] } }],
      'tools[0].parameters.tools[0]',
    ],
    [
      'a subagent for a subagent',
      [{ type: 'service:subagent', parameters: { tools: [{ type: 'service:subagent' }] } }],
      'service:subagent cannot be one of its own tools',
    ],
    ['26 calls for a subagent', [{ type: 'service:subagent', parameters: { max_tool_calls: 26 } }], 'max_tool_calls'],

    ['nine models', [{ type: 'service:fusion', parameters: { analysis_models: Array(9).fill('t/wise') } }], 'analysis_models'],
    ['no models', [{ type: 'service:fusion' }], 'tools.fusion.presets'],
    ['no model for pictures', [{ type: 'service:image_generation' }], 'tools.image_generation.model'],
  ])('%s', async (_, tools, words) => {
    for (const dialect of DIALECTS) {
      const { status, error } = await ask(dialect, [DONE], tools)
      expect([dialect, status, error.message]).toEqual([dialect, 400, expect.stringContaining(words)])
    }
    expect(asked.length).toBe(0)
  })
})

test('the client’s choice of the advisor’s model takes precedence over the model’s, and without either it is the outer model', async () => {
  const named = (model?: string): Json => ({ call: { name: 'service:advisor', arguments: { prompt: 'x', ...(model ? { model } : {}) } } })
  await ask('chat', [named('t/other'), DONE], [ADVISOR])
  await ask('chat', [named('t/other'), DONE], [{ type: 'service:advisor' }])
  expect(asked.map(({ body }) => body.model)).toEqual(['wise', 'other'])
})

test('an unknown model is an error that the calling model reads, and the answer continues', async () => {
  const { status, text } = await ask('chat', [advise('x'), DONE], [{ type: 'service:advisor', parameters: { model: 'no/such' } }])
  expect([status, asked.length]).toEqual([200, 0])
  expect(text.replaceAll('\\', '')).toContain('"status":"error"')
})

describe('a model that a guardrail forbids', () => {
  const tools = [
    ['service:advisor', { model: 't/wise' }, { prompt: 'x' }],
    ['service:advisor', {}, { prompt: 'x', model: 't/wise' }],
    ['service:subagent', { model: 't/wise' }, { task_name: 'a', task_description: 'b' }],
    ['service:fusion', { analysis_models: ['t/wise'], tools: [] }, { prompt: 'x' }],
    ['service:image_generation', { model: 't/wise' }, { prompt: 'x' }],
  ] as const

  test.each(tools)(
    '%s with %j and %j: no model is asked, the failure is a result, and the answer continues',
    async (type, parameters, input) => {
      for (const rule of [{ allowed_models: ['sandbox/agent'] }, { allowed_models: null, ignored_models: ['t/wise'] }]) {
        await call(forbidding, 'PATCH', '/guardrails/default', { body: rule })
        const script = [{ call: { name: type, arguments: input } }, DONE]
        const { status, text } = await infer(
          forbidding,
          { model: 'sandbox/agent', sandbox: { script }, input: 'How?', tools: [{ type, parameters }] },
          { path: PATHS.responses },
        )
        expect([status, asked.length]).toEqual([200, 0])
        expect(text).toContain('No provider meets the requirements for t/wise')
        expect(text).toContain(DONE.text)
      }
    },
  )
})

test('an advisor with the transcript reads the conversation, without the calls of the service’s tools', async () => {
  const tools = [{ type: 'service:advisor', parameters: { model: 't/wise', forward_transcript: true, instructions: 'Be brief.' } }]
  await ask(
    'chat',
    [{ call: { name: 'service:datetime' } }, { call: { name: 'service:advisor', arguments: {} } }, DONE],
    [...tools, { type: 'service:datetime' }],
  )
  expect(asked.map(wordsOf)).toEqual([['system: Be brief.', 'user: How?']])
})

test('no header changes the depth at which an advisor runs, and it is offered no tools', async () => {
  const answer = await infer(
    service,
    {
      model: 'sandbox/agent',
      sandbox: { script: [advise('x'), DONE] },
      messages: [{ role: 'user', content: 'How?' }],
      tools: [ADVISOR],
    },
    { path: PATHS.chat, headers: { 'x-openrouter-advisor-depth': '9' } },
  )
  expect(answer.status).toBe(200)
  expect(asked[0]?.body.tools).toBeUndefined()
})

test('the plugin of that name offers a fusion with its options', async () => {
  const fuse = { call: { name: 'service:fusion', arguments: {} } }
  const { status, text } = await ask('chat', [fuse, DONE], [], { plugins: [{ id: 'fusion', analysis_models: ['t/wise', 't/other'] }] })
  expect(status).toBe(200)
  expect(
    asked
      .slice(0, 2)
      .map(({ body }) => body.model)
      .toSorted(),
  ).toEqual(['other', 'wise'])
  expect(asked.slice(0, 2).map(wordsOf)).toEqual([['user: How?'], ['user: How?']])
  expect(text).toContain(ADVICE)
})

describe.each(['service/fusion', 'openrouter/fusion', 'patchbay/fusion'])('the model %s', (model) => {
  const fuse = { call: { name: 'service:fusion', arguments: {} } }

  test('is the model that compares, and gets the fusion tool', async () => {
    const plugins = [{ id: 'fusion', model: 'sandbox/agent', analysis_models: ['t/wise', 't/other'] }]
    const answer = await ask('chat', [fuse, DONE], [], { model, plugins })
    expect(answer.status).toBe(200)
    expect(wire(answer).model).toBe('sandbox/agent')
    expect(answer.text).toContain(DONE.text)
    expect(asked.map(({ body }) => body.model).toSorted()).toEqual(['other', 'wise'])
  })

  test('is the first model of the panel if none is named, whether the plugin or the tool names the panel', async () => {
    const parameters = { analysis_models: ['t/wise', 't/other'] }
    for (const more of [{ plugins: [{ id: 'fusion', ...parameters }] }, { tools: [{ type: 'service:fusion', parameters }] }]) {
      asked = []
      expect(wire(await ask('chat', [], [], { model, sandbox: undefined, ...more })).model).toBe('t/wise')
      expect(asked[0]?.body.tools?.[0]?.function.name).toBe('service_fusion')
    }
  })

  test.each(['constructor', '__proto__'])('400: there is no preset named %s', async (preset) => {
    const tools = [{ type: 'service:fusion', parameters: { preset } }]
    expect((await ask('chat', [], tools, { model, sandbox: undefined })).status).toBe(400)
    expect((await ask('chat', [DONE], tools)).status).toBe(400)
    expect(asked).toEqual([])
  })

  test('400: no panel is named and none is configured', async () => {
    const { status, text } = await ask('chat', [], [], { model, sandbox: undefined })
    expect(status).toBe(400)
    expect(text).toContain('tools.fusion.presets')
    expect(asked).toEqual([])
  })
})

describe('docs/agents.md', () => {
  const page = readFileSync(new URL('../../docs/agents.md', import.meta.url), 'utf8')
  const commands = [...page.matchAll(/```sh\ncurl (?:-N )?"\$PATCHBAY_URL\/api\/v1(\S+)".*?-d '(.*?)'\n```/gs)]

  test('has a command for an advisor, whole and streamed, and for a fusion', () => {
    expect(commands.map(([, path]) => path)).toEqual(['/chat/completions', '/responses', '/chat/completions'])
  })

  test.each(commands.map(([, path = '', body = '']) => [path, body] as const))(
    'the command of %s with %s is answered',
    async (path, body) => {
      const { status, text } = await infer(service, body, { path })
      expect(status).toBe(200)
      const { sandbox } = JSON.parse(body) as { readonly sandbox: { readonly script: readonly { readonly text?: string }[] } }
      expect(text).toContain(sandbox.script.at(-1)?.text ?? 'no text')
    },
  )
})

describe('the progress of tools that ask models, in a stream of Responses', () => {
  const streamOf = async (script: readonly Json[], tools: readonly Json[], more: Json = {}): Promise<readonly Event[]> => {
    const { text } = await ask('responses', script, tools, { stream: true, ...more })
    return streamEvents(text).map(({ data }) => data as Event)
  }
  const ofItem = (events: readonly Event[], type: string): readonly Event[] => {
    const id = events.find(({ item }) => item?.type === type)?.item?.id
    return events.filter(({ item_id, item }) => item_id === id || item?.id === id)
  }
  const streamed = { type: 'service:advisor', parameters: { model: 't/wise', stream: true } }

  test('if its tool says stream: true, advice is streamed on its item and then sent whole', async () => {
    answerWith(({ stream }) => stream([proseChunk('Measure twice, '), proseChunk('cut once.'), FINISH_CHUNK]))
    const events = ofItem(await streamOf([advise('How?'), DONE], [streamed]), 'service:advisor')
    expect(events.map(({ type }) => type).filter((type) => type !== 'response.output_text.delta')).toEqual([
      'response.output_item.added',
      'response.output_text.done',
      'response.output_item.done',
    ])
    const pieces = events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta)
    expect(pieces).toEqual(['Measure twice, ', 'cut once.'])
    expect(events.find(({ type }) => type === 'response.output_text.done')?.text).toBe(ADVICE)
    expect(events.at(-1)?.item).toMatchObject({ status: 'completed', advice: ADVICE })
  })

  test('an advisor without stream: true, and one on Messages or Chat Completions, streams no pieces', async () => {
    expect(ofItem(await streamOf([advise('How?'), DONE], [ADVISOR]), 'service:advisor').length).toBe(2)
    for (const dialect of ['messages', 'chat'] as const) {
      const { text } = await ask(dialect, [advise('How?'), DONE], [streamed], { stream: true })
      expect(text.split(ADVICE).length, dialect).toBe(2)
    }
  })

  test('a fusion reports each model of its panel and then the comparison, in order', async () => {
    const analysis = { consensus: ['Yes'], contradictions: [], partial_coverage: [], unique_insights: [], blind_spots: [] }
    answerWith(({ body, answer }) => {
      if (body.model === 'third') return answer(200, proseAnswer(JSON.stringify(analysis)))
      return body.model === 'other' ? answer(400, '{"error":{"message":"no"}}') : answer(200, proseAnswer('Yes.'))
    })
    const tools = [{ type: 'service:fusion', parameters: { analysis_models: ['t/wise', 't/other'], model: 't/third', tools: [] } }]
    const fuse = { call: { name: 'service:fusion', arguments: { prompt: 'Is it?' } } }
    const events = ofItem(await streamOf([fuse, DONE], tools, { include: ['service:progress'] }), 'service:fusion')
    const types = events.map(({ type }) => type.replace('response.fusion_call.', ''))
    expect(types.slice(0, 2)).toEqual(['response.output_item.added', 'in_progress'])
    expect(types.slice(-4)).toEqual(['analysis.in_progress', 'analysis.completed', 'completed', 'response.output_item.done'])
    const of = (kind: string): readonly Event[] => events.filter(({ type }) => type === `response.fusion_call.panel.${kind}`)
    expect(of('added').map(({ model }) => model)).toEqual(['t/wise', 't/other'])
    expect(
      of('delta')
        .map(({ delta }) => delta)
        .join(''),
    ).toBe('Yes.')
    expect(of('completed')).toMatchObject([{ model: 't/wise', content: 'Yes.' }])
    expect(of('failed')).toMatchObject([{ model: 't/other' }])
    expect(events.find(({ type }) => type.endsWith('analysis.in_progress'))).toMatchObject({
      analyst_model: 't/third',
      judge_model: 't/third',
    })
    expect(events.find(({ type }) => type.endsWith('analysis.completed'))).toMatchObject({ analysis })
    expect(new Set(events.map(({ output_index }) => output_index)).size).toBe(1)
  })

  test('a fusion sends no progress events unless asked, because strict clients fail on them', async () => {
    const tools = [{ type: 'service:fusion', parameters: { analysis_models: ['t/wise'], tools: [] } }]
    const events = await streamOf([{ call: { name: 'service:fusion', arguments: {} } }, DONE], tools)
    expect(events.map(({ type }) => type).join()).not.toContain('fusion_call')
  })

  test('if guardrails check results, no progress is sent before they have done so', async () => {
    const guarded = await services.start({ config: CONFIG })
    await call(guarded, 'PATCH', '/guardrails/default', { body: { content_filter_builtins: [{ slug: 'email', action: 'redact' }] } })
    answerWith(({ answer }) => answer(200, proseAnswer('Write to ada@example.com.')))
    const { text } = await infer(
      guarded,
      { model: 'sandbox/agent', sandbox: { script: [advise('How?'), DONE] }, input: 'How?', tools: [streamed], stream: true },
      { path: PATHS.responses },
    )
    expect(text).toContain('response.output_text.done')
    expect(text).not.toContain('ada@example.com')
  })
})

interface Event {
  readonly type: string
  readonly item_id?: string
  readonly output_index?: number
  readonly delta?: string
  readonly text?: string
  readonly model?: string
  readonly item?: { readonly type: string; readonly id: string; readonly [key: string]: unknown }
  readonly [key: string]: unknown
}

test('a client that leaves cancels the request to the advisor', async () => {
  answerWith(() => undefined)
  const controller = new AbortController()
  const left = infer(
    service,
    { model: 'sandbox/agent', sandbox: { script: [advise('x'), DONE] }, messages: [{ role: 'user', content: 'How?' }], tools: [ADVISOR] },
    { path: PATHS.chat, signal: controller.signal },
  ).catch((thrown: unknown) => thrown)
  await until(() => asked.length === 1, 'the advisor is asked')
  controller.abort()
  expect(await asked[0]?.gone).toBeNumber()
  expect(await left).toBeInstanceOf(Error)
})

test('a request gets at most ten pieces of advice', async () => {
  const calls = Array.from({ length: 12 }, () => advise('x').call)
  const { status } = await ask('chat', [{ calls }, DONE], [ADVISOR])
  expect([status, asked.length]).toEqual([200, 10])
})

test.each([true, false])('a message reports the tokens of each turn and of each advice, in order; streamed: %p', async (stream) => {
  const script = [advise('One?'), { call: { name: 'service:advisor', arguments: { prompt: 'Two?' } } }, DONE]
  const { text } = await ask('messages', script, [ADVISOR], { stream })
  const told = /"iterations":(\[.*?\}\])/.exec(text)?.[1] ?? '[]'
  const iterations = JSON.parse(told) as readonly { readonly type: string; readonly model: string; readonly input_tokens: number }[]
  expect(iterations.map(({ type, model }) => `${type} ${model}`)).toEqual([
    'message sandbox/agent',
    'advisor_message t/wise',
    'message sandbox/agent',
    'advisor_message t/wise',
    'message sandbox/agent',
  ])
  const own = iterations.filter(({ type }) => type === 'message').reduce((sum, { input_tokens }) => sum + input_tokens, 0)
  expect(text).toContain(`"usage":{"input_tokens":${own},`)
  expect(iterations[1]).toMatchObject({ input_tokens: 7, output_tokens: 3 })
})

test('if five pictures are requested, four are made', async () => {
  const calls = Array.from({ length: 5 }, () => ({ name: 'service:image_generation', arguments: { prompt: 'A cat' } }))
  await ask('chat', [{ calls }, DONE], [{ type: 'service:image_generation', parameters: { model: 't/painter' } }])
  expect(asked.length).toBe(4)
})

test('a model without a price does not cancel the cost of the priced ones: that cost is recorded, charged, and ends a loop', async () => {
  const tools = [
    { type: 'service:advisor', parameters: { model: 't/unpriced' } },
    { ...ADVISOR, parameters: { model: 't/wise', name: 'second' } },
  ]
  const { key } = await createKey(service, { name: 'priced in part' })
  const { status, json } = await infer(
    service,
    {
      model: 'sandbox/agent',
      sandbox: { script: [advise('One?'), advise('Two?', 'service_advisor__1'), advise('Three?'), DONE] },
      messages: [{ role: 'user', content: 'How?' }],
      tools,
      stop_server_tools_when: [{ type: 'max_cost', max_cost_in_dollars: 0.000005 }],
    },
    { key },
  )
  expect([status, asked.length]).toEqual([200, 2])
  const record = async () => (await call(service, 'GET', `/generation?id=${(json as Wire).id}`)).json as { data: Json }
  await until(async () => (await record()).data !== undefined, 'the record')
  expect((await record()).data).toMatchObject({ total_cost: 0.00001, cost_known: false, stopped_by: 'max_cost' })
  expect((await call(service, 'GET', '/key', { key })).json).toMatchObject({ data: { usage: 0.00001 } })
  expect((json as Wire).usage.cost).toBeUndefined()
})

test('the models that a tool asks are in the record, and their tokens are not in the usage', async () => {
  const answer = await ask('chat', [advise('x'), DONE], [ADVISOR])
  const record = await call(service, 'GET', `/generation?id=${answer.headers.get('x-generation-id') ?? wire(answer).id}`)
  expect(record.json).toMatchObject({
    data: { provider_responses: expect.arrayContaining([expect.objectContaining({ model_permaslug: 't/wise' })]) },
  })
})

describe('apply_patch', () => {
  const patch = (diff: string, path = 'a.txt'): Json => ({
    call: { name: 'service:apply_patch', arguments: { type: 'create_file', path, diff } },
  })
  const TOOLS = [{ type: 'service:apply_patch' }]

  test('a malformed patch goes back to the model, and a well-formed one ends the turn as an item', async () => {
    const { status, json } = await ask('responses', [patch('no plus'), patch('+hello\n'), DONE], TOOLS)
    expect(status).toBe(200)
    const items = (json as Wire).output.filter(({ type }) => type === 'service:apply_patch')
    expect(items).toMatchObject([
      { status: 'incomplete', error: expect.stringContaining('"+"') },
      { status: 'completed', operation: { type: 'create_file', path: 'a.txt', diff: '+hello\n' }, call_id: expect.any(String) },
    ])
    expect(JSON.stringify(json)).not.toContain(DONE.text)
  })

  test.each(['', 'a\0b', 'x'.repeat(4097)])('a path that cannot be written goes back to the model: %j', async (path) => {
    const { json } = await ask('responses', [patch('+hello\n', path), DONE], TOOLS)
    expect((json as Wire).output).toMatchObject([{ status: 'incomplete', error: expect.stringContaining('The path') }, { type: 'message' }])
  })

  test('the outcome that the client reports goes back to the model as the result of its call', async () => {
    const first = await ask('responses', [patch('+hello\n'), DONE], TOOLS)
    const { output } = wire(first)
    const id = output.find(({ type }) => type === 'service:apply_patch')?.['call_id']
    const input = [
      { role: 'user', content: 'How?' },
      ...output,
      { type: 'apply_patch_call_output', call_id: id, status: 'completed', output: 'Written.' },
    ]
    const { status } = await ask('responses', [], TOOLS, { model: 't/wise', input })
    expect(status).toBe(200)
    expect(asked[0]?.body.messages.slice(1)).toMatchObject([
      { role: 'assistant', tool_calls: [{ function: { name: 'service_apply_patch' } }] },
      { role: 'tool', content: 'Written.' },
    ])
  })

  test.each(['chat', 'messages'] as const)('400 on %s, which has no item for it', async (dialect) => {
    const { status, error } = await ask(dialect, [DONE], TOOLS)
    expect([status, error.message]).toEqual([400, expect.stringContaining('service:apply_patch is only for Responses')])
  })
})

describe('budgets', () => {
  /** A thousand tokens of output cost a tenth of a dollar. */
  const DEAR = { type: 'service:advisor', parameters: { model: 't/dear', max_completion_tokens: 1000 } }
  const dearAnswer = proseAnswer(ADVICE, { usage: { prompt_tokens: 7, completion_tokens: 1000, total_tokens: 1007 } })

  const spending = async (limit: number, requests: number, advices: number) => {
    answerWith(({ answer }) => answer(200, dearAnswer))
    const { key, data } = await createKey(service, { name: 'limited', limit })
    const calls = Array.from({ length: advices }, () => advise('x').call)
    const answers = await Promise.all(
      Array.from({ length: requests }, () =>
        infer(
          service,
          {
            model: 'sandbox/agent',
            sandbox: { script: [{ calls }, DONE] },
            messages: [{ role: 'user', content: 'How?' }],
            tools: [DEAR],
          },
          { path: PATHS.chat, key },
        ),
      ),
    )
    const used = async (): Promise<number> => {
      const found = await call(service, 'GET', `/keys/${data.hash}`)
      return (found.json as { data: { usage: number } }).data.usage
    }
    await until(async () => (await used()) >= asked.length * 0.1 - 0.000_001, 'every advice is charged')
    return { statuses: answers.map(({ status }) => status), used: await used(), answers }
  }

  test('advisors of many simultaneous requests never spend more than the limit of their key, and the answers continue without them', async () => {
    const { statuses, used } = await spending(0.55, 6, 4)
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(asked.length).toBeGreaterThan(0)
    expect(used).toBeLessThanOrEqual(0.55)
  })

  test('advice that the limit cannot cover is not requested, and the result says so', async () => {
    const { statuses, answers } = await spending(0.05, 1, 1)
    expect([statuses, asked.length]).toEqual([[200], 0])
    expect(answers[0]?.text.replaceAll('\\', '')).toContain('"status":"error"')
  })
})

test('an advisor paid for by the customer’s own key counts as use of that key and costs nothing at the service', async () => {
  const entered = await call(service, 'POST', '/byok', { body: { provider: 'acme', key: 'sk-of-the-customer' } })
  expect(entered.status).toBe(201)
  const { key, data } = await createKey(service, { name: 'own', limit: 1, include_byok_in_limit: true })
  try {
    const answer = await infer(
      service,
      {
        model: 'sandbox/agent',
        sandbox: { script: [advise('Which saw?'), DONE] },
        messages: [{ role: 'user', content: 'How?' }],
        tools: [ADVISOR],
      },
      { path: PATHS.chat, key },
    )
    expect([answer.status, asked.length, wire(answer).usage.cost]).toEqual([200, 1, 0])
    const figures = async (): Promise<string> => {
      const { usage, byok_usage, limit_remaining } = (
        (await call(service, 'GET', `/keys/${data.hash}`)).json as { data: Record<string, number> }
      ).data
      return JSON.stringify({ usage, byok_usage, limit_remaining })
    }
    await until(async () => (await figures()) === '{"usage":0,"byok_usage":0.00001,"limit_remaining":0.99999}', 'the advice is counted')
  } finally {
    await call(service, 'DELETE', `/byok/${(entered.json as { data: { id: string } }).data.id}`)
  }
})
