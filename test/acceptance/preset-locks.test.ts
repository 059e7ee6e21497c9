/** A locked field of a preset keeps its value, under whichever name a request sets it (docs/contract/presets.md#merge). */
import { beforeEach, describe, expect, test } from 'bun:test'

import { type Answer, infer, savePreset } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()

const service = await useServices().start({
  config: `
providers:
  fake: { dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
  far: { dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
  deepseek: { dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
  mistral: { dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
  open: { dialects: [openai-responses], base_url: "${upstream.url}", api_key: upstream-credential }
  claude: { dialects: [anthropic], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  m/one:
    endpoints:
      - { provider: fake, model: up-cheap, context_length: 90000, prices: { prompt: 1, completion: 1 } }
      - { provider: fake, model: up-tier, service_tier: priority, context_length: 90000, prices: { prompt: 2, completion: 2 } }
      - { provider: far, model: up-dear, context_length: 900000, prices: { prompt: 900, completion: 900 } }
  m/deep: { endpoints: [{ provider: deepseek, model: deepseek-v4-pro }] }
  m/mistral: { endpoints: [{ provider: mistral, model: mistral-medium-latest }] }
  m/open: { endpoints: [{ provider: open, model: open-one }] }
  m/claude: { endpoints: [{ provider: claude, model: claude-haiku-4-5 }] }
`,
})

beforeEach(() => upstream.script(say('Hi.')))

const user = { role: 'user', content: 'Hello!' }
const weather = { type: 'function', name: 'weather', parameters: { type: 'object' } }

interface Walk {
  readonly preset: object
  /** `SLUG` stands for the slug of the preset. */
  readonly request: object
  /** The field that the warning or the error names. */
  readonly field: string
  readonly sent: object
  readonly path?: string
}

const onResponses = (item: object, more: object = {}): Pick<Walk, 'request' | 'path'> => ({
  request: { messages: undefined, input: [{ role: 'user', content: 'Hello!' }, item], ...more },
  path: '/responses',
})
const searchCall = { type: 'tool_search_call', call_id: 'c1', execution: 'client', status: 'completed', arguments: {} }

const WALKS: Readonly<Record<string, Walk>> = {
  'service_tier: an endpoint of a tier in provider.order': {
    preset: { locked: ['service_tier'] },
    request: { provider: { order: ['fake/priority', 'fake'] } },
    field: 'provider.order',
    sent: { model: 'up-cheap' },
  },
  'service_tier: the ending :nitro': {
    preset: { locked: ['service_tier'], provider: { only: ['fake'] } },
    request: { model: 'm/one:nitro@preset/SLUG' },
    field: 'model',
    sent: { model: 'up-cheap' },
  },
  'service_tier: the ending :nitro of a fallback': {
    preset: { locked: ['service_tier'], provider: { only: ['fake'] }, model: null },
    request: { model: null, preset: 'SLUG', models: ['m/one:nitro'] },
    field: 'models',
    sent: { model: 'up-cheap' },
  },
  'provider: the ending :extended': {
    preset: { locked: ['provider'], provider: { sort: 'price' } },
    request: { model: 'm/one:extended@preset/SLUG' },
    field: 'model',
    sent: { model: 'up-cheap' },
  },
  'provider: the older word route': {
    preset: { locked: ['provider'], provider: { sort: 'price' } },
    request: { route: 'sort' },
    field: 'route',
    sent: { model: 'up-cheap' },
  },
  'plugins: the ending :online': {
    preset: { locked: ['plugins'], provider: { only: ['fake'] } },
    request: { model: 'm/one:online@preset/SLUG' },
    field: 'model',
    sent: { model: 'up-cheap', messages: [user] },
  },
  'plugins: the older word transforms': {
    preset: { locked: ['plugins'], provider: { only: ['fake'] } },
    request: { transforms: ['middle-out'] },
    field: 'transforms',
    sent: { model: 'up-cheap' },
  },
  'max_tool_calls: other ends of a loop': {
    preset: { locked: ['max_tool_calls'], max_tool_calls: 1, provider: { only: ['fake'] } },
    request: { stop_server_tools_when: [{ type: 'step_count_is', step_count: 20 }] },
    field: 'stop_server_tools_when',
    sent: { model: 'up-cheap' },
  },
  'tools: tools added by an item of the input': {
    preset: { locked: ['tools'], provider: { only: ['fake'] }, tools: [{ type: 'function', function: { name: 'own' } }] },
    ...onResponses({ type: 'additional_tools', tools: [weather] }),
    field: 'input[1].tools',
    sent: { tools: [expect.objectContaining({ function: expect.objectContaining({ name: 'own' }) })] },
  },
  'tools: finds of a search that the preset, which has other tools, does not offer': {
    preset: { locked: ['tools'], provider: { only: ['fake'] }, tools: [{ type: 'function', function: { name: 'own' } }] },
    ...onResponses(
      { type: 'tool_search_output', call_id: 'c1', tools: [weather] },
      {
        input: [
          user,
          searchCall,
          { type: 'tool_search_output', call_id: 'c1', execution: 'client', status: 'completed', tools: [weather] },
        ],
      },
    ),
    field: 'input[2].tools',
    sent: { model: 'up-cheap' },
  },
  'reasoning_effort: an item of the input': {
    preset: { locked: ['reasoning_effort'], reasoning_effort: 'low', provider: { only: ['fake'] } },
    ...onResponses({ type: 'configuration_update', reasoning: { effort: 'high' } }),
    field: 'input[1].reasoning',
    sent: { reasoning_effort: 'low' },
  },
  'response_format: an item of the input': {
    preset: { locked: ['response_format'], response_format: { type: 'json_object' }, provider: { only: ['fake'] } },
    ...onResponses({ type: 'configuration_update', text: { format: { type: 'text' } } }),
    field: 'input[1].text',
    sent: { response_format: { type: 'json_object' } },
  },
  'tools: tools that a message defines': {
    preset: { locked: ['tools'], model: 'm/claude' },
    request: {
      max_tokens: 9,
      messages: [
        user,
        {
          role: 'system',
          content: [
            { type: 'tool_addition', tool: { type: 'tool_definition', definition: { name: 'weather', input_schema: { type: 'object' } } } },
          ],
        },
      ],
    },
    path: '/messages',
    field: 'messages[1].content[0]',
    sent: { model: 'claude-haiku-4-5' },
  },
  'tools: MCP servers of Messages': {
    preset: { locked: ['tools'], model: 'm/claude' },
    request: { max_tokens: 9, mcp_servers: [{ type: 'url', url: 'https://mcp.example', name: 'x' }] },
    path: '/messages',
    field: 'mcp_servers',
    sent: { model: 'claude-haiku-4-5' },
  },
}

describe.each(Object.keys(WALKS))('%s', (name) => {
  const { preset, request, field, sent, path = '/chat/completions' } = WALKS[name] as Walk
  const slug = `locks-${Object.keys(WALKS).indexOf(name)}`
  const save = (more: object) => savePreset(service, slug, { model: 'm/one', ...preset, ...more, messages: [] }, 'chat/completions')
  const dryRun = (): Promise<Answer> => {
    const body = JSON.stringify({ model: `@preset/${slug}`, messages: [user], ...request }).replace('SLUG', slug)
    return infer(service, body, { path, headers: { 'X-Service-Dry-Run': 'enabled' } })
  }

  test('is ignored, and a warning names it', async () => {
    expect((await save({})).status).toBe(200)
    const { status, json } = await dryRun()
    expect({ status, json }).toMatchObject({
      status: 200,
      json: { upstream_request: { body: sent }, warnings: [{ code: 'locked_field', field }] },
    })
    expect(JSON.stringify((json as { upstream_request: object }).upstream_request)).not.toMatch(
      /weather|mcp\.example|"service_tier":"priority"/,
    )
  })

  test('is refused if the preset refuses such requests', async () => {
    expect((await save({ on_locked: 'reject' })).status).toBe(200)
    const { status, text } = await dryRun()
    expect({ status, text }).toEqual({ status: 400, text: expect.stringContaining(`${field}: The preset locks`) })
  })
})

describe('a vendor’s own name of a locked setting', () => {
  const LOCKED = {
    reasoning: { effort: 'high' },
    max_tokens: 50,
    temperature: 0,
    seed: 1,
    stop: 'END',
    top_k: 4,
    response_format: { type: 'json_object' },
    web_search_options: {},
    tool_choice: 'auto',
    tools: [{ type: 'function', function: { name: 'own' } }],
    service_tier: 'default',
    provider: { sort: 'price' },
  }
  const WORDS: readonly (readonly [path: string, request: object])[] = [
    ['thinking', { thinking: { type: 'disabled' } }],
    ['enable_thinking', { enable_thinking: false }],
    ['thinking_budget', { thinking_budget: 9 }],
    ['thinking_token_budget', { thinking_token_budget: 9 }],
    ['think', { think: false }],
    ['disable_reasoning', { disable_reasoning: true }],
    ['chat_template_kwargs.enable_thinking', { chat_template_kwargs: { enable_thinking: false } }],
    ['chat_template_kwargs.thinking', { chat_template_kwargs: { thinking: false } }],
    ['chat_template_kwargs.reasoning_effort', { chat_template_kwargs: { reasoning_effort: 'low' } }],
    ['google.thinking_config', { google: { thinking_config: { thinking_budget: 0 } } }],
    ['generationConfig.thinkingConfig', { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }],
    ['providerOptions.anthropic.thinking', { providerOptions: { anthropic: { thinking: { type: 'disabled' } } } }],
    ['output_config.effort', { output_config: { effort: 'low' } }],
    ['max_output_tokens', { max_output_tokens: 99 }],
    ['maxTokens', { maxTokens: 99 }],
    ['num_predict', { num_predict: 99 }],
    ['max_new_tokens', { max_new_tokens: 99 }],
    ['options.num_predict', { options: { num_predict: 99 } }],
    ['options.temperature', { options: { temperature: 2 } }],
    ['generation_config.max_output_tokens', { generation_config: { max_output_tokens: 99 } }],
    ['stop_sequences', { stop_sequences: ['x'] }],
    ['stop_token_ids', { stop_token_ids: [7] }],
    ['random_seed', { random_seed: 7 }],
    ['k', { k: 7 }],
    ['text.format', { text: { format: { type: 'text' } } }],
    ['guided_json', { guided_json: {} }],
    ['format', { format: 'json' }],
    ['grammar', { grammar: 'root ::= "x"' }],
    ['json_schema', { json_schema: {} }],
    ['output_format', { output_format: { type: 'json_schema', schema: {} } }],
    ['enable_search', { enable_search: true }],
    ['search_parameters', { search_parameters: { mode: 'on' } }],
    ['web_search', { web_search: true }],
    ['search_domain_filter', { search_domain_filter: ['x.example'] }],
    ['toolConfig', { toolConfig: { functionCallingConfig: { mode: 'NONE' } } }],
    ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://mcp.example', name: 'x' }] }],
    ['compound_custom.tools', { compound_custom: { tools: { enabled_tools: ['visit_website'] } } }],
    ['speed', { speed: 'fast' }],
    ['stop_sequence', { stop_sequence: ['x'] }],
    ['max_length', { max_length: 99 }],
    ['max_temp', { max_temp: 2 }],
    ['custom_logit_processor', { custom_logit_processor: 'x' }],
    ['custom_params.thinking_budget', { custom_params: { thinking_budget: 0 } }],
    ['samplers', { samplers: ['top_k'] }],
    ['mirostat', { mirostat: 2 }],
    ['options.mirostat_tau', { options: { mirostat_tau: 9 } }],
    ['do_sample', { do_sample: true }],
    ['chat_template', { chat_template: 'x' }],
    ['chat_template_kwargs.chat_template', { chat_template_kwargs: { chat_template: 'x' } }],
    ['messages[0].tools', { messages: [{ ...user, tools: [{ type: 'function', function: { name: 'other' } }] }] }],
    ['providerOptions.gateway.order', { providerOptions: { gateway: { order: ['azure'] } } }],
  ]
  const save = (more: object) =>
    savePreset(service, 'words', { model: 'm/deep', ...LOCKED, locked: Object.keys(LOCKED), messages: [], ...more }, 'chat/completions')
  const asked = { model: '@preset/words', messages: [user] }

  test('is left out at every provider, with a warning that names it, and what stands beside it goes on', async () => {
    for (const model of ['m/deep', 'm/mistral', 'm/one']) {
      await save({ model })
      await infer(service, asked)
      const { body: unasked } = upstream.last
      for (const [path, request] of WORDS) {
        const answer = await infer(service, { ...asked, ...request }, { headers: { 'X-Service-Metadata': 'enabled' } })
        expect({ path, status: answer.status, body: upstream.last.body }).toEqual({ path, status: 200, body: unasked })
        expect(answer.text).toContain(`{"code":"locked_field","field":"${path}"`)
      }
      const kept = { chat_template_kwargs: { enable_thinking: false, tone: 'x' }, min_tokens: 3 }
      await infer(service, { ...asked, ...kept })
      expect(upstream.last.body).toEqual({ ...unasked, chat_template_kwargs: { tone: 'x' }, min_tokens: 3 })
    }
  })

  test('is refused if the preset refuses such requests, and if the request is strict', async () => {
    await save({ on_locked: 'reject' })
    for (const [path, request] of WORDS) {
      const { status, text } = await infer(service, { ...asked, ...request })
      expect({ status, text }).toEqual({ status: 400, text: expect.stringContaining(`${path}: The preset locks`) })
    }
    await save({ model: 'm/one' })
    expect((await infer(service, { ...asked, strict: true })).status).toBe(200)
    expect((await infer(service, { ...asked, strict: true, enable_thinking: false })).status).toBe(400)
  })

  test.each([
    ['/responses', { model: 'm/open@preset/words', input: 'Hi' }],
    ['/messages', { model: 'm/claude@preset/words', max_tokens: 50, messages: [user] }],
  ])('is left out on %s too', async (path, request) => {
    const preset = { reasoning_effort: 'high', locked: ['reasoning_effort', 'max_tokens'], max_tokens: 50, messages: [] }
    await savePreset(service, 'words', preset, 'chat/completions')
    const words = { enable_thinking: false, reasoning_effort: 'low', num_predict: 9, options: { num_predict: 9 }, x_other: 1 }
    const { json } = await infer(service, { ...request, ...words }, { path, headers: { 'X-Service-Dry-Run': 'enabled' } })
    const { upstream_request: sent, warnings } = json as { upstream_request: { body: object }; warnings: { code: string; field: string }[] }
    expect(sent.body).toMatchObject({ x_other: 1 })
    expect(Object.keys(sent.body)).not.toEqual(expect.arrayContaining(['enable_thinking']))
    expect(JSON.stringify(sent.body)).not.toMatch(/enable_thinking|reasoning_effort|num_predict|options/)
    expect(warnings.filter(({ code }) => code === 'locked_field').map(({ field }) => field)).toEqual([
      'enable_thinking',
      'reasoning_effort',
      'num_predict',
      'options.num_predict',
    ])
  })

  test('replaces the preset’s value where nothing is locked, so that only one of them is sent', async () => {
    await savePreset(service, 'words', { model: 'm/deep', ...LOCKED, messages: [] }, 'chat/completions')
    await infer(service, { ...asked, thinking: { type: 'disabled' }, num_predict: 9, options: { temperature: 1 } })
    const { body } = upstream.last
    expect(body).toMatchObject({ thinking: { type: 'disabled' }, num_predict: 9, options: { temperature: 1 }, stop: 'END' })
    expect(Object.keys(body).filter((name) => ['reasoning_effort', 'max_tokens', 'temperature'].includes(name))).toEqual([])
  })

  test('of another setting, or in a request without a preset, goes on as it is', async () => {
    await savePreset(service, 'words', { model: 'm/deep', locked: ['seed'], seed: 1, messages: [] }, 'chat/completions')
    for (const model of ['@preset/words', 'm/deep']) {
      await infer(service, { ...asked, model, thinking: { type: 'disabled' }, x_other: 1 })
      expect(upstream.last.body).toMatchObject({ thinking: { type: 'disabled' }, x_other: 1 })
    }
  })
})

describe('a system prompt of a preset, though nothing is locked', () => {
  const asked = { model: '@preset/prompted', messages: [user] }
  const prompt = [{ role: 'system', content: 'Be brief.' }]
  const words = {
    chat_template: 'x',
    input_ids: [7],
    prompt_logprobs: 1,
    return_token_ids: true,
    return_prompt_token_ids: true,
    return_prompt_text: true,
    truncate_prompt_tokens: 9,
    truncation_side: 'left',
    _debug_render_only: true,
  }

  test('is neither replaced nor shown where a request says so in a vendor’s words', async () => {
    await savePreset(service, 'prompted', { model: 'm/deep', messages: prompt }, 'chat/completions')
    const { text } = await infer(service, { ...asked, ...words, x_other: 1 }, { headers: { 'X-Service-Metadata': 'enabled' } })
    expect(upstream.last.body).toEqual({ model: 'deepseek-v4-pro', messages: [...prompt, user], x_other: 1 })
    for (const field of Object.keys(words)) expect(text).toContain(`{"code":"locked_field","field":"${field}"`)
  })

  test('is not replaced by messages for the template; what stands beside them goes on', async () => {
    await savePreset(service, 'prompted', { model: 'm/deep', messages: prompt }, 'chat/completions')
    await infer(service, { ...asked, chat_template_kwargs: { messages: [user], custom: 1 } })
    expect(upstream.last.body).toEqual({ model: 'deepseek-v4-pro', messages: [...prompt, user], chat_template_kwargs: { custom: 1 } })
  })

  test('comes before messages whose tools are left out', async () => {
    await savePreset(service, 'prompted', { model: 'm/deep', messages: prompt, locked: ['tools'] }, 'chat/completions')
    const tools = [{ type: 'function', function: { name: 'other' } }]
    const messages = [{ role: 'system', tools }, { role: 'system', content: 'Be kind.', tools }, user]
    await infer(service, { ...asked, messages })
    expect(upstream.last.body.messages).toEqual([...prompt, { role: 'system', content: 'Be kind.' }, user])
  })

  test('leaves such words alone in a preset that has none', async () => {
    await savePreset(service, 'prompted', { model: 'm/deep', temperature: 0.5, messages: [] }, 'chat/completions')
    await infer(service, { ...asked, ...words, mirostat: 2 })
    expect(upstream.last.body).toEqual({ model: 'deepseek-v4-pro', messages: [user], temperature: 0.5, ...words, mirostat: 2 })
  })
})

test('an item of the input keeps what it changes beside the locked member', async () => {
  // On Responses a lock of the effort is one of the whole of `reasoning`.
  const preset = { locked: ['response_format', 'reasoning_effort'], reasoning_effort: 'low', provider: { only: ['fake'] } }
  expect((await savePreset(service, 'beside', { model: 'm/one', ...preset, messages: [] }, 'chat/completions')).status).toBe(200)
  const update = {
    type: 'configuration_update',
    reasoning: { effort: 'high', summary: 'auto' },
    text: { format: { type: 'text' }, verbosity: 'low' },
  }
  const body = { model: '@preset/beside', input: [user, update, user] }
  const { json } = await infer(service, body, { path: '/responses', headers: { 'X-Service-Dry-Run': 'enabled' } })
  const { warnings } = json as { warnings: readonly { code: string; field: string }[] }
  expect(warnings.map(({ code, field }) => `${code} ${field}`).toSorted()).toEqual([
    'locked_field input[1].reasoning',
    'locked_field input[1].text',
    'unsupported_field input[1].text.verbosity',
  ])
})

describe('repeating what the preset says is no conflict', () => {
  test.each<[string, object, object, string]>([
    ['an ending', { model: 'm/one:extended', locked: ['provider'] }, {}, 'up-dear'],
    ['the same ending', { model: 'm/one:extended', locked: ['provider'] }, { model: 'm/one:extended@preset/own' }, 'up-dear'],
    ['an endpoint of a tier', { model: 'm/one', locked: ['service_tier'], provider: { only: ['fake/priority'] } }, {}, 'up-tier'],
    [
      'the same endpoint',
      { model: 'm/one', locked: ['service_tier'], provider: { only: ['fake/priority'] } },
      { provider: { order: ['fake/priority'] } },
      'up-tier',
    ],
    [
      'the same preferences in another order',
      { model: 'm/one', locked: ['provider'], provider: { only: ['fake'], max_price: { prompt: 5, completion: 6 } } },
      { provider: { max_price: { completion: 6, prompt: 5 }, only: ['fake'] } },
      'up-cheap',
    ],
  ])('%s', async (_, preset, request, model) => {
    await savePreset(service, 'own', { ...preset, on_locked: 'reject', messages: [] }, 'chat/completions')
    const answer = await infer(service, { model: '@preset/own', messages: [user], ...request })
    expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 200 })
    expect(upstream.last.body).toMatchObject({ model })
  })
})

test.each([
  ['no tool may be called, and nothing is added to that', { type: 'none' }, { type: 'none' }],
  ['a tool must be called, and one at a time', { type: 'any' }, { type: 'any', disable_parallel_tool_use: true }],
])('a lock on calls in parallel, on Messages: %s', async (_, choice, sent) => {
  const preset = { model: 'm/claude', parallel_tool_calls: false, locked: ['parallel_tool_calls'], messages: [] }
  await savePreset(service, 'one-by-one', preset, 'chat/completions')
  const tools = [{ name: 'weather', input_schema: { type: 'object' } }]
  const request = { model: '@preset/one-by-one', max_tokens: 9, messages: [user], tools, tool_choice: choice }
  const { json } = await infer(service, request, { path: '/messages', headers: { 'X-Service-Dry-Run': 'enabled' } })
  expect((json as { upstream_request: { body: object } }).upstream_request.body).toMatchObject({ tool_choice: sent })
  expect(JSON.stringify(json)).not.toContain(sent.type === 'none' ? 'disable_parallel' : 'locked_field')
})

test('results of a search that the preset offers are kept', async () => {
  const tools = [{ type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters: { type: 'object' } }]
  await savePreset(service, 'searching', { model: 'm/one', provider: { only: ['fake'] }, tools, locked: ['tools'], on_locked: 'reject' })
  const found = { type: 'tool_search_output', call_id: 'c1', execution: 'client', status: 'completed', tools: [weather] }
  const answer = await infer(service, { model: '@preset/searching', input: [user, searchCall, found] }, { path: '/responses' })
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 200 })
  expect(JSON.stringify(upstream.last.body)).toContain('weather')
})

test('a strict preset stays strict, whatever the request says', async () => {
  await savePreset(service, 'strictly', { model: 'm/claude', strict: true, messages: [] }, 'chat/completions')
  const lossy = { messages: [user], logit_bias: { '1': 1 } }
  expect((await infer(service, { model: 'm/claude', ...lossy })).status).toBe(200)
  for (const more of [{}, { strict: false }, { strict: null }]) {
    expect((await infer(service, { model: '@preset/strictly', ...lossy, ...more })).status).toBe(400)
  }
})

test('a preset cannot be a fallback of a request or of a preset', async () => {
  await savePreset(service, 'plain', { model: 'm/one', messages: [] }, 'chat/completions')
  const refusals = [
    await infer(service, { model: 'm/one', models: ['m/claude', '@preset/plain'], messages: [user] }),
    await infer(service, { model: 'm/one', models: ['m/one', 'm/claude@preset/plain'], messages: [user] }),
    await savePreset(service, 'nested', { model: 'm/one', models: ['m/one', '@preset/plain'], messages: [] }, 'chat/completions'),
  ]
  for (const { status, text } of refusals) {
    expect({ status, text }).toEqual({ status: 400, text: expect.stringContaining('models[1]: A preset cannot be a fallback') })
  }
  const fallbacks = { model: 'm/one', max_tokens: 9, fallbacks: [{ model: '@preset/plain' }], messages: [user] }
  const { status, text } = await infer(service, fallbacks, { path: '/messages' })
  expect({ status, text }).toEqual({ status: 400, text: expect.stringContaining('fallbacks[0].model: A preset cannot be a fallback') })
})

test('a refusal of :online blames the preset only if the preset contains it', async () => {
  await savePreset(service, 'offline', { model: 'm/one', messages: [] }, 'chat/completions')
  await savePreset(service, 'online', { model: 'm/one:online', messages: [] }, 'chat/completions')
  const own = await infer(service, { model: 'm/one:online@preset/offline', messages: [user] })
  const preset = await infer(service, { model: '@preset/online', messages: [user] })
  expect([own.status, own.text.includes('preset offline')]).toEqual([400, false])
  expect([preset.status, preset.text.includes('It comes from the preset online.')]).toEqual([400, true])
})
