/**
 * Subagents that call the client's functions: they wait while the client runs the functions, and then continue
 * (docs/contract/responses.md#functions-of-subagents).
 */
import { beforeEach, describe, expect, test } from 'bun:test'

import { call, infer, type Answer } from '../support/calls.ts'
import { readStream, streamEvents } from '../support/client-stream.ts'
import { proseAnswer, startFakeUpstream, type Exchange } from '../support/fake-upstream.ts'
import { until, useServices } from '../support/started-service.ts'

const services = useServices()
const provider = await startFakeUpstream()

const CONFIG = `
providers:
  acme: { name: Acme, dialects: [openai-chat], base_url: "${provider.url}", api_key: k }
models:
  t/worker: { endpoints: [{ provider: acme, model: worker, prices: { prompt: 1, completion: 1 } }] }
`

const service = await services.start({ config: CONFIG })

type Json = Readonly<Record<string, unknown>>

const LOOKUP = {
  type: 'function',
  name: 'lookup_order',
  description: 'Looks an order up.',
  parameters: { type: 'object', properties: { order_id: { type: 'string' } }, required: ['order_id'] },
}
const UPDATE = { ...LOOKUP, name: 'update_order', description: 'Changes an order.' }
const AGENT = { type: 'service:subagent', parameters: { model: 't/worker', inherited_function_names: [' lookup_order '] } }
const TASK = { task_name: 'lookup-order', task_description: 'Look up order o_1.' }
const DELEGATE = { call: { name: 'service:subagent', arguments: TASK } }
const DONE = { text: 'Your order has shipped.' }
const ASKED = { type: 'message', role: 'user', content: 'Where is order o_1?' }

interface Item extends Json {
  readonly type: string
  readonly id: string
  readonly status: string
  readonly call_id: string
  readonly subagent_items?: readonly Json[]
}

const ask = (script: readonly Json[], input: readonly Json[], more: Json = {}): Promise<Answer> =>
  infer(service, { model: 'sandbox/agent', sandbox: { script }, input, tools: [LOOKUP, UPDATE, AGENT], ...more }, { path: '/responses' })
const outputOf = ({ json }: Answer): readonly Item[] => (json as { output: readonly Item[] }).output
const result = ({ call_id }: Item, output = '{"status":"shipped"}'): Json => ({ type: 'function_call_output', call_id, output })
const callsIn = (items: readonly Item[]): readonly Item[] => items.filter(({ type }) => type === 'function_call')

/** A worker that makes the calls of its rounds, and then reports. */
const worker = (...rounds: readonly (readonly Json[])[]) => {
  provider.script((exchange) => {
    asked.push(exchange)
    const round = rounds[exchange.body.messages.filter(({ role }) => role === 'assistant').length]
    if (round === undefined) return exchange.answer(200, proseAnswer('Order o_1 has shipped.'))
    const calls = round.map((given, index) => ({
      id: `call_w${index}`,
      type: 'function',
      function: { name: 'lookup_order', arguments: JSON.stringify({ order_id: 'o_1' }), ...given },
    }))
    const message = { role: 'assistant', content: 'Looking it up.', tool_calls: calls }
    return exchange.answer(200, proseAnswer('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))
  })
}
let asked: Exchange[] = []
beforeEach(() => {
  asked = []
  worker([{}])
})

test('a subagent gets only the named functions, and its call reaches the client as a call of its own', async () => {
  const answer = await ask([DELEGATE, DONE], [ASKED])
  expect([answer.status, asked.length]).toEqual([200, 1])
  const { tools, messages } = JSON.parse(asked[0]?.text ?? '{}') as { tools: readonly { function: Json }[]; messages: readonly Json[] }
  expect(tools.map((tool) => tool.function['name'])).toEqual(['lookup_order'])
  expect(messages).toEqual([{ role: 'user', content: TASK.task_description }])
  const [agent, called, ...others] = outputOf(answer)
  expect(others).toEqual([])
  expect(agent).toMatchObject({ type: 'service:subagent', status: 'in_progress', call_id: expect.any(String), ...TASK })
  expect(agent).not.toHaveProperty('outcome')
  expect(called).toMatchObject({ type: 'function_call', status: 'completed', name: 'lookup_order', subagent_id: agent?.call_id })
  expect(called?.subagent_items).toMatchObject([
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Looking it up.' }] },
    { type: 'function_call', call_id: called?.call_id, name: 'lookup_order', arguments: '{"order_id":"o_1"}' },
  ])
  expect(answer.json).toMatchObject({ status: 'completed', usage: { server_tool_use_details: { tool_calls_executed: 1 } } })
})

test('the results resume it, and the model continues with its outcome; the cost is that of the resuming request', async () => {
  const first = await ask([DELEGATE, DONE], [ASKED])
  const before = outputOf(first)
  const [agent, called] = before as readonly [Item, Item]
  asked = []
  const second = await ask([DELEGATE, DONE], [ASKED, ...before, result(called)])
  expect([second.status, asked.length]).toEqual([200, 1])
  expect(asked[0]?.body.messages).toMatchObject([
    { role: 'user', content: TASK.task_description },
    { role: 'assistant', content: 'Looking it up.', tool_calls: [{ function: { name: 'lookup_order' } }] },
    { role: 'tool', content: '{"status":"shipped"}' },
  ])
  const [ended, said] = outputOf(second)
  expect(ended).toMatchObject({ type: 'service:subagent', status: 'completed', call_id: agent.call_id, outcome: 'Order o_1 has shipped.' })
  expect(ended?.id).not.toBe(agent.id)
  expect(JSON.stringify(said)).toContain(DONE.text)
  expect((second.json as { usage: { cost: number } }).usage.cost).toBeCloseTo(10 / 1_000_000, 12)
  // A third request does not run anything again.
  asked = []
  const third = await ask([DELEGATE, DONE, { text: 'Bye.' }], [ASKED, ...before, result(called), ...outputOf(second)])
  expect([third.status, asked.length]).toEqual([200, 0])
})

test('the model reads the outcome in the place of its call, whether it was resumed just now or earlier', async () => {
  const outer = await startFakeUpstream()
  const own = await services.start({
    config: `${CONFIG}  t/outer: { endpoints: [{ provider: outer, model: outer, prices: { prompt: 1, completion: 1 } }] }\n`.replace(
      'models:',
      `  outer: { name: Outer, dialects: [openai-chat], base_url: "${outer.url}", api_key: k }\nmodels:`,
    ),
  })
  const bodies: Json[] = []
  outer.script((exchange) => {
    bodies.push(exchange.body)
    if (exchange.body.messages.some(({ role }) => role === 'tool')) return exchange.answer(200, proseAnswer('Shipped.'))
    const made = { id: 'call_w0', type: 'function', function: { name: 'service_subagent', arguments: JSON.stringify(TASK) } }
    return exchange.answer(
      200,
      proseAnswer('', {
        choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: [made] }, finish_reason: 'tool_calls' }],
      }),
    )
  })
  const send = (input: readonly Json[]): Promise<Answer> =>
    infer(own, { model: 't/outer', input, tools: [LOOKUP, UPDATE, AGENT] }, { path: '/responses' })
  const first = outputOf(await send([ASKED]))
  const called = callsIn(first)[0] as Item
  // Both models used this id, so the client gets another id for the agent's call.
  expect(called.call_id).not.toBe('call_w0')
  const history = [ASKED, ...first, result(called)]
  const second = outputOf(await send(history))
  await send([...history, ...second, { type: 'message', role: 'user', content: 'Thanks.' }])
  const [, resumed, later] = bodies as unknown as readonly { messages: readonly Json[] }[]
  expect(resumed?.messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ id: 'call_w0', function: { name: 'service_subagent' } }] },
    { role: 'tool', tool_call_id: 'call_w0' },
  ])
  expect(resumed?.messages).toHaveLength(3)
  expect(String(resumed?.messages[2]?.['content'])).toContain('Order o_1 has shipped.')
  expect(later?.messages.slice(0, 2)).toEqual(resumed?.messages.slice(0, 2) ?? [])
  expect(String(later?.messages[2]?.['content'])).toContain('Order o_1 has shipped.')
})

test('it may call several functions at once, and repeatedly: its account comes with the first of each round, and the model waits', async () => {
  worker([{}, {}], [{}])
  const first = outputOf(await ask([DELEGATE, DONE], [ASKED]))
  const calls = callsIn(first)
  expect(calls.map(({ subagent_items }) => subagent_items === undefined)).toEqual([false, true])
  expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(2)
  const history = [ASKED, ...first, ...calls.map((one) => result(one))]
  const second = outputOf(await ask([DELEGATE, DONE], history))
  expect(second).toMatchObject([{ type: 'function_call', subagent_id: first[0]?.call_id, name: 'lookup_order' }])
  const third = outputOf(await ask([DELEGATE, DONE], [...history, ...second, ...callsIn(second).map((one) => result(one))]))
  expect(third).toMatchObject([
    { type: 'service:subagent', status: 'completed', call_id: first[0]?.call_id, outcome: 'Order o_1 has shipped.' },
    { type: 'message' },
  ])
  expect(asked.at(-1)?.body.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant', 'tool'])
})

test('with two subagents and a direct call in one turn, each call says whose it is, and both continue together', async () => {
  const tools = [LOOKUP, { type: 'openrouter:subagent', parameters: { model: 't/worker', inherit_functions: true } }]
  const direct = { name: 'lookup_order', arguments: { order_id: 'o_2' } }
  const script = [{ calls: [DELEGATE.call, direct, DELEGATE.call] }, DONE]
  const first = outputOf(await ask(script, [ASKED], { tools }))
  const agents = first.filter(({ type }) => type === 'openrouter:subagent')
  const calls = callsIn(first)
  expect(agents).toHaveLength(2)
  expect(calls.map(({ subagent_id: id }) => id ?? null)).toEqual([null, ...agents.map(({ call_id }) => call_id)])
  expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(3)
  const second = outputOf(await ask(script, [ASKED, ...first, ...calls.map((one) => result(one))], { tools }))
  expect(second.map(({ type, status }) => [type, status])).toEqual([
    ['openrouter:subagent', 'completed'],
    ['openrouter:subagent', 'completed'],
    ['message', 'completed'],
  ])
})

test('a stream announces the subagent once with its task and never ends it; the account comes when the call is done', async () => {
  const { text } = await ask([DELEGATE, DONE], [ASKED], { stream: true })
  expect(readStream('responses', text)).toEqual({ end: 'normal', faults: [] })
  const events = streamEvents(text).map(({ data }) => data) as readonly {
    type: string
    item?: Item
    response?: { output: readonly Item[] }
  }[]
  const ofItem = (type: string): readonly Item[] => events.filter((event) => event.type === type).flatMap(({ item }) => item ?? [])
  const added = ofItem('response.output_item.added')
  expect(added.map(({ type }) => type)).toEqual(['service:subagent', 'function_call'])
  expect(added[0]).toMatchObject({ status: 'in_progress', ...TASK, call_id: expect.any(String) })
  expect(added[1]).toMatchObject({ subagent_id: added[0]?.call_id })
  expect(added[1]).not.toHaveProperty('subagent_items')
  const done = ofItem('response.output_item.done')
  expect(done.map(({ type }) => type)).toEqual(['function_call'])
  expect(done[0]?.subagent_items).toHaveLength(2)
  const { response } = events.findLast(({ type }) => type === 'response.completed') ?? {}
  expect(response?.output).toEqual([added[0] as Item, done[0] as Item])
  const resumed = await ask([DELEGATE, DONE], [ASKED, ...(response?.output ?? []), result(done[0] as Item)], { stream: true })
  expect(readStream('responses', resumed.text)).toEqual({ end: 'normal', faults: [] })
  const items = (streamEvents(resumed.text).map(({ data }) => data) as typeof events).flatMap(({ type, item }) =>
    type.startsWith('response.output_item') && item?.type === 'service:subagent' ? [`${type} ${item.status}`] : [],
  )
  expect(items).toEqual(['response.output_item.added in_progress', 'response.output_item.done completed'])
})

test('an answer that only resumed an agent is recorded', async () => {
  worker([{}], [{}])
  const first = outputOf(await ask([DELEGATE, DONE], [ASKED]))
  const second = await ask([DELEGATE, DONE], [ASKED, ...first, ...callsIn(first).map((one) => result(one))])
  const id = (second.json as { id: string }).id
  const { data } = (await call(service, 'GET', `/generation?id=${id.replace(/^resp_/, 'gen-')}`, { key: service.inferenceKey })).json as {
    data: Json
  }
  expect(data).toMatchObject({ total_cost: 0.00001, stopped_by: 'client_tool' })
})

describe('if a subagent cannot continue, the model reads an error, and the answer continues', () => {
  const without = (key: string) => (items: readonly Item[]) => items.map((item): Item => ({ ...item, [key]: undefined }))
  test.each<[string, (items: readonly Item[]) => readonly Json[]]>([
    ['no output', (items) => items],
    ['no account', (items) => [...without('subagent_items')(items), result(callsIn(items)[0] as Item)]],
    ['no calls', (items) => items.filter(({ type }) => type === 'service:subagent')],
    ['no task', (items) => [...without('task_description')(items), result(callsIn(items)[0] as Item)]],
    [
      'an account of another kind',
      (items) => [...items.map((item) => ({ ...item, subagent_items: 'x' })), result(callsIn(items)[0] as Item)],
    ],
    [
      'a call less',
      (items) => [
        ...items.map((item) =>
          item.subagent_items === undefined
            ? item
            : { ...item, subagent_items: [...item.subagent_items, { ...item.subagent_items[1], call_id: 'call_lost' }] },
        ),
        result(callsIn(items)[0] as Item),
      ],
    ],
  ])('%s', async (_, change) => {
    const first = outputOf(await ask([DELEGATE, DONE], [ASKED]))
    asked = []
    const answer = await ask([DELEGATE, DONE], [ASKED, ...change(first)])
    expect([answer.status, asked.length]).toEqual([200, 0])
    expect(outputOf(answer)[0]).toMatchObject({
      type: 'service:subagent',
      status: 'failed',
      error: expect.stringContaining('cannot go on'),
    })
    expect(answer.text).toContain(DONE.text)
  })

  test('its tool is no longer among the tools', async () => {
    const first = outputOf(await ask([DELEGATE, DONE], [ASKED]))
    asked = []
    const history = [ASKED, ...first, ...callsIn(first).map((one) => result(one))]
    const answer = await ask([DELEGATE, DONE, { text: 'Never mind.' }], history, { tools: [LOOKUP, UPDATE] })
    expect([answer.status, asked.length]).toEqual([200, 0])
  })

  test('it calls a function that it was not given', async () => {
    worker([{ name: 'update_order' }])
    const answer = await ask([DELEGATE, DONE], [ASKED])
    expect(outputOf(answer)[0]).toMatchObject({ status: 'failed', error: expect.any(String) })
    expect(callsIn(outputOf(answer))).toEqual([])
  })
})

describe('400 before any provider is asked', () => {
  test.each<[string, Json, string]>([
    ['a function that there is not', { inherited_function_names: ['no_such'] }, 'inherited_function_names[0]'],
    ['a blank name', { inherited_function_names: ['  '] }, 'inherited_function_names'],
  ])('%s', async (_, parameters, words) => {
    const { status, error } = await ask([DONE], [ASKED], { tools: [LOOKUP, { type: 'service:subagent', parameters }] })
    expect([status, error.message]).toEqual([400, expect.stringContaining(words)])
  })

  test.each(['chat/completions', 'messages'])('on /%s, which cannot show whose call it is', async (path) => {
    for (const parameters of [{ inherit_functions: true }, { inherited_function_names: ['f'] }]) {
      const body = {
        model: 'sandbox/agent',
        max_tokens: 100,
        sandbox: { script: [DONE] },
        messages: [{ role: 'user', content: 'x' }],
        tools: [{ type: 'service:subagent', parameters }],
      }
      const { status, error } = await infer(service, body, { path: `/${path}` })
      expect([status, error.message]).toEqual([400, expect.stringContaining('only on Responses')])
    }
  })

  test.each([
    ['of no subagent', 'call_no'],
    ['that is no text', 7],
    ['that is empty', ''],
  ])('a call with a subagent_id %s', async (_, id) => {
    const item = { type: 'function_call', call_id: 'c', name: 'lookup_order', arguments: '{}', subagent_id: id }
    for (const more of [{}, { tools: [] }]) {
      const { status, error } = await ask([DONE], [ASKED, item, { type: 'function_call_output', call_id: 'c', output: '1' }], more)
      expect([status, error.message]).toEqual([400, expect.stringContaining('input[1].subagent_id')])
    }
  })
})

test('a client for which items of the service are left out gets no call that it could not bring back', async () => {
  const body = { model: 'sandbox/agent', sandbox: { script: [DELEGATE, DONE] }, input: [ASKED], tools: [LOOKUP, UPDATE, AGENT] }
  const headers = { 'user-agent': 'ai-sdk/provider-utils/4.0.64 runtime/bun/1.4.5' }
  const answer = await infer(service, body, { path: '/responses', headers })
  expect(outputOf(answer).map(({ type }) => type)).toEqual(['message'])
})

test('the budget is charged for the agent once, in the request that runs it', async () => {
  worker([{}], [{}])
  const { key, data } = (await call(service, 'POST', '/keys', { body: { name: 'bound', limit: 1 } })).json as {
    key: string
    data: { hash: string }
  }
  const send = (input: readonly Json[]): Promise<Answer> =>
    infer(
      service,
      { model: 'sandbox/agent', sandbox: { script: [DELEGATE, DONE] }, input, tools: [LOOKUP, UPDATE, AGENT] },
      { path: '/responses', key },
    )
  const first = await send([ASKED])
  const history = [ASKED, ...outputOf(first), ...callsIn(outputOf(first)).map((one) => result(one))]
  const second = await send(history)
  const third = await send([...history, ...outputOf(second), ...callsIn(outputOf(second)).map((one) => result(one))])
  const costs = [first, second, third].map(({ json }) => (json as { usage: { cost: number } }).usage.cost)
  expect(costs.map((cost) => Math.round(cost * 1e6))).toEqual([10, 10, 10])
  const usage = async (): Promise<number> =>
    ((await call(service, 'GET', `/keys/${data.hash}`)).json as { data: { usage: number } }).data.usage
  await until(async () => Math.round((await usage()) * 1e6) === 30, 'three charges')
})

test('the functions are ignored beside inherit_functions, and a worker without any of them is an ordinary one', async () => {
  worker()
  const parameters = { model: 't/worker', inherit_functions: true, inherited_function_names: ['no_such'] }
  const answer = await ask([DELEGATE, DONE], [ASKED], { tools: [{ type: 'service:subagent', parameters }] })
  expect(outputOf(answer)[0]).toMatchObject({ status: 'completed', outcome: 'Order o_1 has shipped.' })
})

test('a guardrail checks what the client’s function returned before the subagent reads it', async () => {
  const own = await services.start({ config: CONFIG })
  const first = await infer(
    own,
    { model: 'sandbox/agent', sandbox: { script: [DELEGATE, DONE] }, input: [ASKED], tools: [LOOKUP, UPDATE, AGENT] },
    { path: '/responses' },
  )
  const made = await call(own, 'POST', '/guardrails', {
    body: { name: 'No mail', content_filter_builtins: [{ slug: 'email', action: 'redact' }] },
  })
  const keys = (await call(own, 'GET', '/keys')).json as { readonly data: readonly { readonly hash: string }[] }
  const { id } = (made.json as { readonly data: { readonly id: string } }).data
  const body = { key_hashes: keys.data.map(({ hash }) => hash) }
  expect((await call(own, 'POST', `/guardrails/${id}/assignments/keys`, { body })).status).toBe(200)
  const history = [ASKED, ...outputOf(first), ...callsIn(outputOf(first)).map((one) => result(one, 'Ask jane@example.com.'))]
  asked = []
  await infer(
    own,
    { model: 'sandbox/agent', sandbox: { script: [DELEGATE, DONE] }, input: history, tools: [LOOKUP, UPDATE, AGENT] },
    { path: '/responses' },
  )
  expect(asked[0]?.text).toContain('Ask ')
  expect(asked[0]?.text).not.toContain('jane@example.com')
})
