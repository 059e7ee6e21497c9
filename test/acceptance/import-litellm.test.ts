/** `patchbay import litellm FILE`: what is taken over, what changes, and what cannot be (docs/contract/presets.md#moving-in). */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'bun:test'
import { parse } from 'yaml'

import { call } from '../support/calls.ts'
import { findings, startImporting } from '../support/importing.ts'

const { services, service, runAt, run, move, preset } = await startImporting()

describe('LiteLLM', () => {
  test('models become presets of their names, deployments become providers and endpoints, and keys are never written', async () => {
    const { stdout } = await move('litellm', 'balanced.yaml')
    expect(await preset('gpt-4o')).toMatchObject({
      designated_version: { config: { model: 'litellm/gpt-4o', models: ['anthropic/claude-haiku-4.5'], provider: { sort: 'latency' } } },
    })
    expect(await preset('gpt-4')).toMatchObject({ designated_version: { config: { model: 'litellm/gpt-4o' } } })
    expect(await preset('claude')).toMatchObject({
      designated_version: { config: { model: 'anthropic/claude-haiku-4.5', temperature: 0.2, max_tokens: 1024 } },
    })
    expect(stdout).toContain(`providers:
  azure-my-endpoint-europe:
    dialects:
      - openai-chat
    base_url: https://my-endpoint-europe.openai.azure.com/openai/v1
    api_key: \${AZURE_API_KEY_EU}
`)
    expect(stdout).toContain(`  litellm/vllm-models:
    endpoints:
      - provider: openai-own
        model: facebook/opt-125m
        prices:
          prompt: 0.15
          completion: 0.6
`)
    expect(findings(stdout)).toEqual(
      expect.arrayContaining([
        'cannot balanced.yaml:34: the provider sagemaker is not known here; give it an api_base that speaks Chat Completions',
        'cannot balanced.yaml:39: "gone" is no model of this file',
        'taken balanced.yaml:39: gpt-4o falls back to anthropic/claude-haiku-4.5',
        'changed balanced.yaml:40: traces go to the destinations of a workspace, such as Langfuse or OpenTelemetry',
        'changed balanced.yaml:28: groq/*: every model of groq answers to groq/NAME; one that the catalogue lacks has no price',
      ]),
    )
    expect((await move('litellm', 'guarded.yaml')).stdout).not.toContain('sk-ant-plain-text')
  })

  test('--merge writes providers and models into the file, keeps its comments, and the service starts with it', async () => {
    const target = join(services.directory(), 'patchbay.yaml')
    writeFileSync(
      target,
      '# Ours.\nproviders:\n  # The big machine.\n  local: { dialects: [openai-chat], base_url: "http://127.0.0.1:8000/v1" }\n',
    )
    const { stdout } = await move('litellm', 'balanced.yaml', '--merge', target)
    expect(stdout).toContain(`written to ${target}: providers.azure-my-endpoint-europe\n`)
    const text = readFileSync(target, 'utf8')
    for (const kept of ['# Ours.', '# The big machine.', 'local:']) expect(text).toContain(kept)
    const again = await move('litellm', 'balanced.yaml', '--merge', target)
    expect(again.stdout).not.toContain('written to')
    expect(readFileSync(target, 'utf8')).toBe(text)
    const started = await services.start({
      config: text,
      env: { AZURE_API_KEY_EU: 'k', AZURE_API_KEY_CA: 'k', ANTHROPIC_API_KEY: 'k', OPENAI_OWN_API_KEY: 'k', GROQ_API_KEY: 'k' },
    })
    expect((await call(started, 'GET', '/models/litellm/gpt-4o')).status).toBe(200)
  }, 300_000)

  test('guardrails become filters, and keys keep their limits', async () => {
    const { stdout } = await move('litellm', 'guarded.yaml', '--create-keys')
    expect(findings(stdout)).toContain('cannot guarded.yaml:15: there is no filter for UK_NHS')
    const { data } = (await call(service, 'GET', '/guardrails')).json as { data: { name: string }[] }
    expect(data.find(({ name }) => name === 'presidio-pii')).toMatchObject({
      content_filter_builtins: [
        { slug: 'email', action: 'redact', applies_to: 'input' },
        { slug: 'credit-card', action: 'block', applies_to: 'input' },
      ],
    })
    const keys = (await call(service, 'GET', '/keys')).json as { data: { name: string }[] }
    expect(keys.data.find(({ name }) => name === 'Team A')).toMatchObject({
      limit: 25,
      limit_reset: 'monthly',
      rpm_limit: 100,
      tpm_limit: 200_000,
    })
  })
})

test.each([
  [
    'litellm',
    'plain.yaml',
    {
      model_list: [
        { model_name: 'one', litellm_params: { model: 'openai/gpt-5.4', api_key: 'os.environ/OPENAI_API_KEY' } },
        { model_name: 'two', litellm_params: { model: 'openai/llama', api_base: 'http://127.0.0.1:8000/v1', api_key: 'sk-plain-1' } },
        { model_name: 'three', litellm_params: { model: 'openai/gpt-5.4', api_key: 'sk-plain-2' } },
      ],
    },
    ['OPENAI_OWN_API_KEY', 'OPENAI_OWN_2_API_KEY'],
  ],
  [
    'bifrost',
    'plain.json',
    { providers: { openai: { keys: [{ value: 'env.OPENAI_API_KEY' }, { value: 'sk-plain-1' }, { value: 'sk-plain-2' }] } } },
    ['OPENAI_API_KEY_2', 'OPENAI_API_KEY_3'],
  ],
])('%s: a key in plain text gets a variable that no other address and no other key has', async (what, file, content, variables) => {
  const path = join(services.directory(), file)
  writeFileSync(path, JSON.stringify(content))
  const { stdout } = await run([what, path, '--dry-run'])
  const said = [...stdout.matchAll(/set the variable (\w+) to it/g)].map(([, variable]) => variable)
  expect(said).toEqual(variables)
  for (const variable of variables) expect(stdout).toContain(`\${${variable}}`)
})

test('what the file has and the preset lacks is reported: values filled in, a target without a model, a cache for all', async () => {
  const reported = async (what: string, file: string, text: string): Promise<string[]> => {
    const path = join(services.directory(), file)
    writeFileSync(path, text)
    return findings((await run([what, path, '--dry-run'])).stdout)
  }
  const answer = {
    object: 'response',
    model: 'gpt-4.1',
    instructions: [{ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'You help customers of Acme.' }] }],
    prompt: { id: 'pmpt_filled', version: '1', variables: { company: 'Acme' } },
  }
  expect(await reported('openai-prompts', 'filled.jsonl', JSON.stringify(answer))).toContain(
    'changed filled.jsonl:1: the value of company is filled in for good: ask with "{{company}}" as its value to keep the variable',
  )
  const targets = [
    { provider: 'openai', override_params: { model: 'gpt-5.4' } },
    { provider: 'azure-openai', virtual_key: 'azure-1' },
  ]
  expect(await reported('portkey', 'one.json', JSON.stringify({ strategy: { mode: 'fallback' }, targets }))).toContain(
    'cannot one.json:1: one: the target azure without a model is left out: add its model to the fallbacks of the preset',
  )
  const lines = ['model_list:', '  - { model_name: m, litellm_params: { model: openai/gpt-4o } }', 'litellm_settings:', '  cache: true', '']
  expect(await reported('litellm', 'cached.yaml', lines.join('\n'))).toContain(
    'changed cached.yaml:4: answers are kept where a preset says cache_enabled, or a request asks for it',
  )
})

describe('LiteLLM, what would not work after the import', () => {
  const MODELS = [
    'model_list:',
    '  - { model_name: a, litellm_params: { model: openai/gpt-5.4 } }',
    '  - { model_name: b, litellm_params: { model: anthropic/claude-haiku-4-5 } }',
    '  - { model_name: c, litellm_params: { model: groq/llama-new } }',
    '  - { model_name: d, litellm_params: { model: openai/text-embedding-new }, model_info: { mode: embedding } }',
    '  - { model_name: e, litellm_params: { model: openai/whisper-1 }, model_info: { mode: audio_transcription } }',
  ]
  const imported = async (...lines: readonly string[]) => {
    const own = await services.start()
    const path = join(services.directory(), 'litellm.yaml')
    writeFileSync(path, [...MODELS, ...lines, ''].join('\n'))
    const { stdout } = await runAt(own, ['litellm', path])
    const config = async (slug: string): Promise<unknown> =>
      ((await call(own, 'GET', `/presets/${slug}`)).json as { data?: { designated_version: { config: object } } }).data?.designated_version
        .config
    return { stdout, said: findings(stdout), config }
  }

  test('a model that the catalogue lacks becomes one of the file; an embedding and a mode that is not served become no preset', async () => {
    const { stdout, said, config } = await imported()
    expect(await config('c')).toEqual({ model: 'litellm/c' })
    expect(stdout).toContain('  litellm/c:\n    endpoints:\n      - provider: groq\n        model: llama-new\n')
    expect([await config('d'), await config('e')]).toEqual([undefined, undefined])
    expect(said).toEqual(
      expect.arrayContaining([
        'changed litellm.yaml:4: the price of llama-new at groq is not known: add prices to its endpoint of litellm/c in your file',
        'changed litellm.yaml:5: d: a preset makes no embeddings; clients ask for the model litellm/d',
        'cannot litellm.yaml:6: e: audio_transcription is not served here',
      ]),
    )
  })

  test('fallbacks keep the order and the precedence that they have there, and what it does not read is said', async () => {
    const { said, config } = await imported(
      'litellm_settings:',
      '  fallbacks: [{ a: [c] }]',
      '  default_fallbacks: [b, a]',
      '  context_window_fallbacks: [{ a: [c, b] }]',
      'router_settings:',
      '  fallbacks: [{ a: [b] }, { a: [c] }]',
      '  model_group_alias: { z: gone }',
    )
    expect(await config('a')).toMatchObject({ models: ['anthropic/claude-haiku-4.5', 'litellm/c'] })
    expect(await config('b')).toMatchObject({ models: ['openai/gpt-5.4'] })
    expect(await config('c')).toMatchObject({ models: ['anthropic/claude-haiku-4.5', 'openai/gpt-5.4'] })
    expect(said).toEqual(
      expect.arrayContaining([
        'cannot litellm.yaml:8: LiteLLM reads those of router_settings alone',
        'cannot litellm.yaml:12: LiteLLM reads the first entry of a alone',
        'cannot litellm.yaml:13: "gone" is no model of this file',
      ]),
    )
  })

  test('default_fallbacks come before an entry for every model, which is not read for long contexts, and an empty list is none', async () => {
    const { said, config } = await imported(
      'litellm_settings:',
      '  fallbacks: [{ "*": [c] }]',
      '  default_fallbacks: [b]',
      '  context_window_fallbacks: [{ "*": [c] }]',
      'router_settings:',
      '  fallbacks: []',
    )
    expect(await config('a')).toMatchObject({ models: ['anthropic/claude-haiku-4.5'] })
    expect(said).toEqual(
      expect.arrayContaining([
        'cannot litellm.yaml:8: LiteLLM reads the last entry of * alone',
        'cannot litellm.yaml:10: * is no model of this file',
      ]),
    )
  })
})

test.each([
  ['portkey', JSON.stringify({ provider: 'openai', override_params: { model: 'gpt-unheard-of' } })],
  ['openai-prompts', JSON.stringify({ id: 'pmpt_1', version: '1', model: 'gpt-unheard-of', instructions: 'Hi.' })],
])('%s: a model that is not known here is reported', async (what, text) => {
  const path = join(services.directory(), 'unheard-of.json')
  writeFileSync(path, text)
  const { stdout } = await run([what, path, '--dry-run'])
  expect(stdout).toContain('the model openai/gpt-unheard-of is not known here: add it to "models" of your patchbay.yaml')
})

test('the parts of an address are imported or reported: the path of an Ollama, a region, the parts of a key', async () => {
  const path = join(services.directory(), 'addresses.yaml')
  const deployments = [
    'model_list:',
    '  - { model_name: one, litellm_params: { model: ollama/llama3, api_base: "http://gpu-box:11434" } }',
    '  - { model_name: two, litellm_params: { model: ollama_chat/llama3, api_base: "http://gpu-box:11434/v1/" } }',
    '  - { model_name: three, litellm_params: { model: bedrock/amazon.nova-pro-v1:0, aws_region_name: eu-west-1 } }',
    '',
  ]
  writeFileSync(path, deployments.join('\n'))
  const { stdout } = await run(['litellm', path, '--dry-run'])
  expect(stdout.match(/base_url: \S+/g)).toEqual([
    'base_url: http://gpu-box:11434/v1',
    'base_url: https://bedrock-runtime.eu-west-1.amazonaws.com',
  ])
})

test('LiteLLM: keys, addresses and names of deployments make a file with which the service starts and asks the same servers', async () => {
  const config = join(services.directory(), 'config.yaml')
  const deployments = [
    'defaults: &defaults',
    '  temperature: 0.5',
    'model_list:',
    '  - { model_name: one key, litellm_params: { model: groq/llama-x, api_key: os.environ/OUR_GROQ_KEY } }',
    '  - { model_name: one-key, litellm_params: { model: groq/llama-y, api_key: os.environ/THEIR_GROQ_KEY } }',
    '  - model_name: merged',
    '    litellm_params:',
    '      <<: *defaults',
    '      model: claude-haiku-4-5',
    '      api_key: sk-ant-plain-text',
    '  - { model_name: azure, litellm_params: { model: azure/responses/eu, litellm_credential_name: ours } }',
    '  - { model_name: whole, litellm_params: { model: azure/eu, api_key: os.environ/K, api_base: "https://n.openai.azure.com/openai/deployments/eu/chat/completions?api-version=1" } }',
    '  - { model_name: nova, litellm_params: { model: bedrock/converse/amazon.nova-pro-v1:0, aws_access_key_id: os.environ/ID, aws_secret_access_key: os.environ/SECRET, aws_region_name: eu-west-1 } }',
    '  - { model_name: local, litellm_params: { model: ollama/llama3 } }',
    '  - { model_name: "box/*", litellm_params: { model: "openai/*", api_base: "http://127.0.0.1:9999/v1", api_key: os.environ/K } }',
    '  - { model_name: nowhere, litellm_params: { model: openai/x, api_base: "<your address>" } }',
    '  - { model_name: secretive, litellm_params: { model: openai/x, api_base: "https://me:hunter2@llm.example/v1" } }',
    '  - { model_name: blank, litellm_params: { model: groq/llama-z, api_key: os.environ/OUR_GROQ_KEY, api_base: "" } }',
    '  - { model_name: home, litellm_params: { model: bedrock/amazon.nova-pro-v1:0 } }',
    '  - { model_name: away, litellm_params: { model: bedrock/amazon.nova-pro-v1:0, aws_region_name: us-west-2 } }',
    '  - { model_name: "*", litellm_params: { model: "*" } }',
    '  - { model_name: "xai/*", litellm_params: { model: "xai/*", api_key: os.environ/XAI_API_KEY } }',
    '  - { model_name: varied, litellm_params: { model: os.environ/MODEL } }',
    'general_settings: { key_management_system: hashicorp_vault }',
    'include: [more.yaml]',
    'keys: [{ key_alias: k, team_id: t, max_parallel_requests: null, model_max_budget: {} }]',
    'credential_list:',
    '  - { credential_name: ours, credential_values: { api_key: os.environ/K, api_base: os.environ/AZURE_API_BASE } }',
    '',
  ]
  writeFileSync(config, `\uFEFF${deployments.join('\r\n')}`)
  const target = join(services.directory(), 'patchbay.yaml')
  const own = await services.start()
  const { stdout } = await runAt(own, ['litellm', config, '--merge', target])
  const text = readFileSync(target, 'utf8')
  expect(parse(text)).toEqual({
    providers: {
      groq: { api_key: '${OUR_GROQ_KEY}' },
      'groq-own': { dialects: ['openai-chat'], base_url: 'https://api.groq.com/openai/v1', api_key: '${THEIR_GROQ_KEY}' },
      'azure-own': { dialects: ['openai-chat'], base_url: '${AZURE_API_BASE}/openai/v1', api_key: '${K}' },
      'azure-n': { dialects: ['openai-chat'], base_url: 'https://n.openai.azure.com/openai/v1', api_key: '${K}' },
      'bedrock-eu-west-1': {
        dialects: ['bedrock'],
        base_url: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
        api_key: '${ID}:${SECRET}',
      },
      'bedrock-us-west-2': {
        dialects: ['bedrock'],
        base_url: 'https://bedrock-runtime.us-west-2.amazonaws.com',
        api_key: '${AWS_BEARER_TOKEN_BEDROCK}',
      },
      ollama: {},
      xai: { api_key: '${XAI_API_KEY}', any_model: true },
      'openai-own': { dialects: ['openai-chat'], base_url: 'http://127.0.0.1:9999/v1', api_key: '${K}', any_model: true },
    },
    models: {
      'litellm/one-key': { endpoints: [{ provider: 'groq', model: 'llama-x' }] },
      'litellm/one-key-2': { endpoints: [{ provider: 'groq-own', model: 'llama-y' }] },
      'litellm/azure': { endpoints: [{ provider: 'azure-own', model: 'eu' }] },
      'litellm/nova': { endpoints: [{ provider: 'bedrock-eu-west-1', model: 'amazon.nova-pro-v1:0' }] },
      'litellm/away': { endpoints: [{ provider: 'bedrock-us-west-2', model: 'amazon.nova-pro-v1:0' }] },
      'litellm/blank': { endpoints: [{ provider: 'groq', model: 'llama-z' }] },
      'litellm/whole': { endpoints: [{ provider: 'azure-n', model: 'eu' }] },
    },
  })
  expect(findings(stdout)).toEqual(
    expect.arrayContaining([
      'taken config.yaml:5: one-key: preset one-key-2 for litellm/one-key-2',
      'changed config.yaml:10: the key stands in the file as it is: set the variable ANTHROPIC_API_KEY to it',
      'changed config.yaml:11: the variable AZURE_API_BASE must hold an address without a path: /openai/v1 follows it',
      'changed config.yaml:15: box/*: every model of openai-own answers to openai-own/NAME; one that the catalogue lacks has no price',
      'changed config.yaml:21: *: every model of an enabled provider answers to its id; no entry is needed',
      'cannot config.yaml:23: the model is in a variable: write its name here, and import again',
      'changed config.yaml:19: the key of bedrock is the variable AWS_BEARER_TOKEN_BEDROCK here',
      'cannot config.yaml:16: api_base is not the address of a provider, which has neither a password nor a query',
      'cannot config.yaml:17: api_base is not the address of a provider, which has neither a password nor a query',
      'changed config.yaml:24: keys are variables here: let your secret manager set them where the service starts',
      'cannot config.yaml:26: a team is a workspace here: make it, and the key in it',
      'cannot config.yaml:25: include: import the files that are named here one by one',
    ]),
  )
  expect(stdout).not.toMatch(/plain-text|hunter2/)
  const ofPreset = ((await call(own, 'GET', '/presets/merged')).json as { data: { designated_version: { config: object } } }).data
  expect(ofPreset.designated_version.config).toEqual({ model: 'anthropic/claude-haiku-4.5', temperature: 0.5 })
  const env = {
    OUR_GROQ_KEY: 'k',
    THEIR_GROQ_KEY: 'k',
    K: 'k',
    ID: 'i',
    SECRET: 's',
    AWS_BEARER_TOKEN_BEDROCK: 'b',
    XAI_API_KEY: 'x',
    AZURE_API_BASE: 'https://a.example',
  }
  const started = await services.start({ config: text, env })
  expect((await call(started, 'GET', '/models/litellm/one-key-2')).status).toBe(200)
  expect((await call(started, 'GET', '/models/xai/grok-of-tomorrow')).status).toBe(200)
})
