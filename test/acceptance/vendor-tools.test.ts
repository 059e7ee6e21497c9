/** Tools that only some vendors have: a vendor without the tool is not called, and if none has it, the request is refused. */
import { afterEach, describe, expect, test } from 'bun:test'

import { type Answer, call, conversationOf, type Dialect, DIALECTS, infer, PATHS, savePreset } from '../support/calls.ts'
import { proseAnswer, responsesAnswer, type Script, startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

const provider = await startFakeUpstream()
const endpoint = (slug: string, model: string): string => `{ provider: ${slug}, model: ${model}, prices: { prompt: 1, completion: 1 } }`

const CONFIG = `
providers:
  openai: { name: OpenAI, dialects: [openai-responses], base_url: "${provider.url}", api_key: k }
  anthropic: { name: Anthropic, dialects: [anthropic], base_url: "${provider.url}", api_key: k }
  minimax: { name: MiniMax, dialects: [anthropic], base_url: "${provider.url}", api_key: k }
  deepseek: { name: DeepSeek, dialects: [openai-chat], base_url: "${provider.url}", api_key: k }
  groq: { name: Groq, dialects: [openai-chat], base_url: "${provider.url}", api_key: k }
  house: { name: House, dialects: [openai-responses, anthropic, openai-chat], base_url: "${provider.url}", api_key: k }
models:
  t/screens: { endpoints: [${endpoint('openai', 'computer-use-preview')}] }
  t/small: { endpoints: [${endpoint('openai', 'gpt-4.1-nano')}] }
  t/gpt: { endpoints: [${endpoint('openai', 'gpt-5')}] }
  t/claude: { endpoints: [${endpoint('anthropic', 'claude-sonnet-4-5')}] }
  t/minimax: { endpoints: [${endpoint('minimax', 'MiniMax-M3')}] }
  t/deepseek: { endpoints: [${endpoint('deepseek', 'deepseek-v4-pro')}] }
  t/groq: { endpoints: [${endpoint('groq', 'gpt-oss')}] }
  t/house: { endpoints: [${endpoint('house', 'anything')}] }
  t/both: { endpoints: [{ provider: deepseek, model: cheap, prices: { prompt: 0.01, completion: 0.01 } }, ${endpoint('openai', 'gpt-5')}] }
`

const service = await useServices().start({ config: CONFIG })

type Body = Readonly<Record<string, unknown>>

const ask = (dialect: Dialect, model: string, tools: readonly Body[], more: Body = {}): Promise<Answer> =>
  infer(
    service,
    {
      model,
      ...conversationOf(dialect, 'Hi.'),
      ...(tools.length === 0 ? {} : { tools }),
      ...more,
    },
    { path: PATHS[dialect] },
  )

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hi.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
}

const answering: Script = (exchange) => {
  const answer = exchange.path.endsWith('/responses')
    ? responsesAnswer('Hi.')
    : exchange.path.endsWith('/messages')
      ? JSON.stringify(MESSAGE)
      : proseAnswer('Hi.')
  return exchange.answer(200, answer)
}
provider.script(answering)
afterEach(() => provider.script(answering))

const exchangesDuring = async <Result>(work: () => Promise<Result>): Promise<{ readonly result: Result; readonly count: number }> => {
  const before = provider.exchanges.length
  const result = await work()
  return { result, count: provider.exchanges.length - before }
}

const MCP = { type: 'mcp', server_label: 'mail', server_url: 'https://mail.example/mcp', require_approval: 'never' }
const FILES = { type: 'file_search', vector_store_ids: [] }
const CODE = { type: 'code_interpreter', container: { type: 'auto' } }
const SCREEN = { type: 'computer_use_preview', display_width: 800, display_height: 600, environment: 'linux' }
const EDITOR = { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' }
const CLAUDES_CODE = { type: 'code_execution_20250825', name: 'code_execution' }
const MEMORY = { type: 'memory_20250818', name: 'memory' }
const CLAUDES_SCREEN = { type: 'computer_20250124', name: 'computer', display_width_px: 800, display_height_px: 600 }
const LINE = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }

const OF_OPENAI = [MCP, FILES, CODE, SCREEN]
const TOOLSETS = [
  { type: 'browser_toolset_20260801' },
  { type: 'computer_toolset_20260801' },
  { type: 'mcp_toolset', mcp_server_name: 'mail' },
]
const OF_ANTHROPIC = [EDITOR, CLAUDES_CODE, MEMORY, CLAUDES_SCREEN, ...TOOLSETS]

describe.each(DIALECTS)('%s', (dialect) => {
  const tools = dialect === 'messages' ? OF_ANTHROPIC : OF_OPENAI

  test.each([...tools])('400 before anybody is asked, naming the tool: nobody has $type', async (tool) => {
    for (const model of ['sandbox/agent', 't/deepseek', ...(dialect === 'messages' ? ['t/gpt', 't/minimax'] : ['t/claude'])]) {
      for (const stream of [false, true]) {
        const { result, count } = await exchangesDuring(() => ask(dialect, model, [tool], { stream }))
        const said = `${model} ${stream} ${result.text}`
        expect([said, result.status, count]).toEqual([said, 400, 0])
        expect(result.error.message).toContain(`${tool.type} cannot run`)
        expect(result.error.message).toContain('tools[0]')
        expect(result.error.message).toContain(model)
      }
    }
  })

  test('the refusal names models that have the tool', async () => {
    const { error } = await ask(dialect, 'sandbox/agent', [dialect === 'messages' ? EDITOR : FILES])
    expect(error.message).toMatch(
      dialect === 'messages' ? /such as anthropic\/claude-[\w.-]+, anthropic/ : /such as openai\/gpt-[\w.-]+, openai/,
    )
  })

  test('a preset with such a tool is saved, and its use is a 400 that names it', async () => {
    const slug = `vendors-${dialect}`
    expect((await savePreset(service, slug, { model: 'sandbox/agent', tools: [tools[0]] }, PATHS[dialect].slice(1))).status).toBe(200)
    const { status, json, error } = await ask(dialect, `@preset/${slug}`, [])
    expect(status).toBe(400)
    expect(dialect === 'messages' ? json : error).toMatchObject({ metadata: { preset: slug } })
    expect(error.message).toContain(`It comes from the preset ${slug}.`)
  })

  test('400 before anybody is asked: a search engine that is not configured, also at a server that may have a search of its own', async () => {
    for (const model of ['t/house', 't/gpt', 't/claude']) {
      const search = { type: 'service:web_search', parameters: { engine: 'nowhere' } }
      const { result, count } = await exchangesDuring(() => ask(dialect, model, [search]))
      expect([model, result.status, count]).toEqual([model, 400, 0])
      expect(result.error.message).toContain('"nowhere" is not configured')
    }
  })

  test('a server of which nothing is known gets what its client wrote', async () => {
    for (const tool of tools) {
      expect((await ask(dialect, 't/house', [tool])).status).toBe(200)
      expect(provider.last.body.tools).toEqual([tool] as never)
    }
  })
})

test('400 before anybody is asked: a tool that the input adds, and that nobody has', async () => {
  const input = [
    { type: 'additional_tools', role: 'developer', tools: [CODE] },
    { role: 'user', content: 'Hi.' },
  ]
  for (const model of ['t/deepseek', 't/claude']) {
    const { result, count } = await exchangesDuring(() => ask('responses', model, [], { input }))
    expect([result.status, count]).toEqual([400, 0])
    expect(result.error.message).toContain('input[0].tools[0]')
  }
  expect((await exchangesDuring(() => ask('responses', 't/gpt', [], { input }))).count).toBe(1)
})

test('a vendor gets its own tools as they were written', async () => {
  for (const tool of OF_OPENAI) {
    expect((await ask('responses', tool === SCREEN ? 't/screens' : 't/gpt', [tool])).status).toBe(200)
    expect(provider.last.body.tools).toEqual([tool] as never)
  }
  for (const tool of OF_ANTHROPIC) {
    expect((await ask('messages', 't/claude', [tool])).status).toBe(200)
    expect(provider.last.body.tools).toEqual([tool] as never)
  }
  const servers = [{ type: 'url', name: 'mail', url: 'https://mail.example/mcp', authorization_token: 't' }]
  const { status, headers } = await ask('messages', 't/claude', [{ type: 'mcp_toolset', mcp_server_name: 'mail' }], {
    mcp_servers: servers,
  })
  expect([status, provider.last.body['mcp_servers']]).toEqual([200, servers])
  expect(headers.has('x-service-warnings')).toBe(false)
  expect((await ask('chat', 't/groq', [{ type: 'code_interpreter' }])).status).toBe(200)
  expect((await ask('chat', 't/groq', [MCP])).status).toBe(400)
})

test("a provider that quotes the credential of a request's tool in its failure shows it to nobody: not to the client, and not in the record", async () => {
  const quoting: Script = (exchange) =>
    exchange.answer(400, JSON.stringify({ error: { type: 'invalid_request_error', message: `mail: 401 for SEKRET2 (${exchange.path})` } }))
  const header = { ...MCP, headers: { 'X-Mail': 'SEKRET2' } }
  const servers = [{ type: 'url', name: 'mail', url: 'https://mail.example/mcp', authorization_token: 'SEKRET2' }]
  for (const stream of [false, true]) {
    for (const [dialect, model, tool, more] of [
      ['responses', 't/gpt', { ...MCP, authorization: 'SEKRET2' }, {}],
      ['responses', 't/gpt', header, {}],
      ['chat', 't/gpt', header, {}],
      ['messages', 't/claude', { type: 'mcp_toolset', mcp_server_name: 'mail' }, { mcp_servers: servers }],
    ] as const) {
      provider.script(quoting)
      const answer = await ask(dialect, model, [tool], { ...more, stream })
      expect(JSON.stringify(provider.last.body)).toContain('SEKRET2')
      expect(answer.text).toContain('mail: 401 for [redacted]')
      expect(answer.text).not.toContain('SEKRET2')
      const record = await call(service, 'GET', `/generation?id=${answer.headers.get('x-generation-id')}`)
      expect([record.status, record.text.includes('SEKRET2')]).toEqual([200, false])
    }
  }
})

test('a model that its vendor refuses a tool is one without it', async () => {
  const { status, error } = await ask('responses', 't/gpt', [SCREEN])
  expect(status).toBe(400)
  expect(error.message).toContain('computer_use_preview cannot run')
  expect((await ask('responses', 't/small', [{ type: 'service:web_search' }])).status).toBe(400)
  expect((await ask('responses', 't/gpt', [{ type: 'service:web_search' }])).status).toBe(200)
})

test('of the endpoints of a model those are asked that have the tool, however much more they cost', async () => {
  for (let time = 0; time < 4; time += 1) {
    expect((await ask('responses', 't/both', [MCP], { provider: { allow_fallbacks: false } })).status).toBe(200)
    expect(provider.last.body.model).toBe('gpt-5')
  }
  const { status, error } = await ask('responses', 't/both', [MCP], { provider: { only: ['deepseek'] } })
  expect(status).toBe(400)
  expect(error.message).toContain('mcp cannot run')
})

test('of several models those are asked that have the tool, and the others are told as removed', async () => {
  const { json } = await infer(
    service,
    { models: ['t/deepseek', 't/gpt'], input: 'Hi.', tools: [CODE] },
    { path: '/responses', headers: { 'x-service-dry-run': 'enabled' } },
  )
  expect(json).toMatchObject({
    plan: {
      attempts: [{ model: 't/gpt', provider: 'OpenAI' }],
      candidates: 1,
      removed: [{ model: 't/deepseek', provider: 'deepseek', reason: 'does not have the tool code_interpreter' }],
    },
  })
})

describe('beside tools that the service runs', () => {
  const CLOCK = { type: 'service:datetime' }

  test('OpenAI gets those that need nothing of the client', async () => {
    for (const tool of [MCP, FILES, CODE]) {
      expect((await ask('responses', 't/gpt', [tool, CLOCK])).status).toBe(200)
      expect(provider.last.body.tools).toMatchObject([tool, { name: 'service_datetime' }] as never)
    }
  })

  test('Claude gets those that it knows by heart', async () => {
    for (const tool of [EDITOR, MEMORY, CLAUDES_SCREEN]) {
      expect((await ask('messages', 't/claude', [tool, CLOCK])).status).toBe(200)
      expect(provider.last.body.tools).toMatchObject([tool, { name: 'service_datetime' }] as never)
    }
  })

  test('400 for those whose calls could not be shown', async () => {
    for (const [dialect, model, tool] of [
      ['responses', 't/screens', SCREEN],
      ['responses', 't/gpt', { ...MCP, require_approval: 'always' }],
      ['messages', 't/claude', CLAUDES_CODE],
    ] as const) {
      const { result, count } = await exchangesDuring(() => ask(dialect, model, [CLOCK, tool]))
      expect([result.status, count]).toEqual([400, 0])
      expect(result.error.message).toContain(`tools[1]: ${tool.type} cannot be combined with`)
    }
  })

  test("a vendor's own tool that the service has too runs here where it could not be told to the vendor", async () => {
    const fetch = { type: 'web_fetch_20250910', name: 'web_fetch' }
    expect((await ask('messages', 't/claude', [fetch])).status).toBe(200)
    expect(provider.last.body.tools).toEqual([fetch] as never)
    expect((await ask('messages', 't/claude', [fetch, CLOCK])).status).toBe(200)
    expect(provider.last.body.tools).toMatchObject([{ name: 'service_web_fetch' }, { name: 'service_datetime' }] as never)
  })

  test('what an account stores stays out of reach', async () => {
    const { status, error } = await ask('responses', 't/gpt', [CLOCK, { type: 'file_search', vector_store_ids: ['vs_1'] }])
    expect(status).toBe(400)
    expect(error.message).toContain('tools[1].vector_store_ids')
  })
})

describe('the shell of Claude', () => {
  const BASH = { type: 'bash_20250124', name: 'bash' }

  test('is the client’s everywhere: other models get it as a function', async () => {
    expect((await ask('messages', 't/claude', [BASH])).status).toBe(200)
    expect(provider.last.body.tools).toEqual([BASH] as never)
    const { status, headers } = await ask('messages', 't/deepseek', [BASH], { strict: true })
    expect([status, headers.get('x-service-warnings')]).toEqual([200, null])
    expect(provider.last.body.tools).toMatchObject([{ type: 'function', function: { name: 'bash' } }])
  })

  test('a vendor of Claude’s dialect whose models are others gets it as a function, and a server that may be a proxy as it was written', async () => {
    expect((await ask('messages', 't/minimax', [BASH])).status).toBe(200)
    expect(provider.last.body.tools).toMatchObject([{ name: 'bash', input_schema: { properties: { command: { type: 'string' } } } }])
    expect(provider.last.text).not.toContain('bash_20250124')
    expect((await ask('messages', 't/house', [BASH])).status).toBe(200)
    expect(provider.last.body.tools).toEqual([BASH] as never)
  })

  test('asked for by the service’s type it keeps its place and its mark, and is there once', async () => {
    const mark = { cache_control: { type: 'ephemeral' } }
    const own = { type: 'service:bash' }
    expect((await ask('messages', 't/claude', [{ ...own, ...mark }, { type: 'service:datetime' }])).status).toBe(200)
    expect(provider.last.body.tools).toMatchObject([{ ...BASH, ...mark }, { name: 'service_datetime' }] as never)
    for (const tools of [
      [{ ...BASH, ...mark }, own],
      [own, own],
    ]) {
      expect((await ask('messages', 't/claude', tools)).status).toBe(200)
      expect(provider.last.body.tools).toMatchObject([BASH] as never)
      expect(provider.last.body.tools).toHaveLength(1)
    }
  })

  test('the mark of a tool that leaves the list goes to the function before it', async () => {
    const mark = { cache_control: { type: 'ephemeral' } }
    const own = { type: 'service:bash' }
    const get = { name: 'get', input_schema: { type: 'object', properties: {} } }
    for (const [tools, expected] of [
      [[own, { ...own, ...mark }], [{ ...BASH, ...mark }]],
      [
        [own, get, { ...own, ...mark }],
        [BASH, { name: 'get', ...mark }],
      ],
      [[BASH, { ...own, ...mark }], [{ ...BASH, ...mark }]],
      [
        [get, { type: 'service:datetime', ...mark }],
        [{ name: 'get', ...mark }, { name: 'service_datetime' }],
      ],
    ] as const) {
      expect((await ask('messages', 't/claude', tools)).status).toBe(200)
      expect(provider.last.body.tools).toMatchObject(expected)
    }
  })

  test('an option of the sandbox is reported where the client runs the calls', async () => {
    const shell = { type: 'service:bash', parameters: { sleep_after_seconds: 5 } }
    const { status, error } = await ask('messages', 't/claude', [shell], { strict: true })
    expect(status).toBe(400)
    expect(error.message).toContain('sleep_after_seconds')
  })

  test('a call of it is the client’s to run', async () => {
    const script = [{ call: { name: 'bash', arguments: { command: 'ls' } } }]
    const { json } = await ask('messages', 'sandbox/agent', [BASH], { sandbox: { script } })
    expect(json).toMatchObject({ content: [{ type: 'tool_use', name: 'bash', input: { command: 'ls' } }], stop_reason: 'tool_use' })
  })
})

test('400 where a client asks for a tool of the service by a name that no agent sends unasked', async () => {
  const cases = [
    ['responses', { type: 'web_search_preview' }, 'tools.web_search.engines'],
    ['responses', { type: 'shell', environment: { type: 'container_auto' } }, 'tools.shell'],
    ['chat', { type: 'web_search' }, 'tools.web_search.engines'],
  ] as const
  for (const [dialect, tool, setting] of cases) {
    const { status, error } = await ask(dialect, 't/deepseek', [tool])
    expect([tool.type, status]).toEqual([tool.type, 400])
    expect(error.message).toContain(setting)
  }
})

test('agents that name their vendor’s tools unasked are answered by every model', async () => {
  const agents = [
    [
      'responses',
      [LINE, { type: 'web_search' }, { type: 'local_shell' }, { type: 'image_generation' }, { type: 'tool_search', execution: 'client' }],
    ],
    [
      'messages',
      [
        { name: 'f', input_schema: { type: 'object', properties: {} } },
        { type: 'web_search_20250305', name: 'web_search', max_uses: 8 },
      ],
    ],
  ] as const
  for (const [dialect, tools] of agents) {
    for (const model of ['sandbox/agent', 't/deepseek', 't/claude', 't/gpt', 't/house', 't/minimax']) {
      const { status, text } = await ask(dialect, model, tools)
      expect([model, status, status === 200 ? '' : text]).toEqual([model, 200, ''])
    }
  }
})
