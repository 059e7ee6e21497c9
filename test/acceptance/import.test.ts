/** `patchbay import WHAT FILE` (docs/contract/presets.md#moving-in). */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, describe, expect, test } from 'bun:test'
import { parse } from 'yaml'

import { call, createKey } from '../support/calls.ts'
import { findings, IMPORT_FIXTURES, startImporting } from '../support/importing.ts'
import { openPipe, runInto } from '../support/leaving-reader.ts'
import { startBehind } from '../support/service-behind.ts'
import type { StartedService } from '../support/started-service.ts'

const { services, service, runAt, run, move, preset } = await startImporting()

const PROGRAM = join(import.meta.dir, '../../bin/patchbay')
const MIXED = join(IMPORT_FIXTURES, 'bifrost', 'mixed.json')

const FILES: readonly (readonly [string, string])[] = [
  ['openai-prompts', 'answers.jsonl'],
  ['openai-prompts', 'written-down.json'],
  ['openai-prompts', 'one.json'],
  ['openrouter', 'presets.json'],
  ['openrouter', 'keys.json'],
  ['openrouter', 'together.json'],
  ['litellm', 'small.yaml'],
  ['litellm', 'balanced.yaml'],
  ['litellm', 'guarded.yaml'],
  ['portkey', 'fallback.json'],
  ['portkey', 'conditional.json'],
  ['portkey', 'guarded.json'],
  ['portkey', 'pc-cached-1f2e3d.json'],
  ['bifrost', 'providers.json'],
  ['bifrost', 'governance.json'],
  ['bifrost', 'mixed.json'],
]

describe('every source', () => {
  let own: StartedService
  beforeAll(async () => {
    own = await services.start()
  })

  test.each(FILES)('%s %s: a dry run changes nothing, a run does what it said, a second one changes nothing', async (what, file) => {
    const moved = (...flags: readonly string[]) => runAt(own, [what, join(IMPORT_FIXTURES, what, file), ...flags])
    const before = JSON.stringify([(await call(own, 'GET', '/presets')).json, (await call(own, 'GET', '/guardrails')).json])
    const dry = await moved('--dry-run', '--create-keys')
    expect(dry.stderr).toBe('')
    expect(dry.code).toBe(0)
    expect(JSON.stringify([(await call(own, 'GET', '/presets')).json, (await call(own, 'GET', '/guardrails')).json])).toBe(before)
    const first = await moved('--create-keys')
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' })
    const outcomes = (text: string, word: RegExp): string[] =>
      text
        .split('\n')
        .filter((line) => word.test(line))
        .map((line) => line.replace(word, ''))
    expect(outcomes(first.stdout, /^done: /)).toEqual(outcomes(dry.stdout, /^would be done: /))
    expect(first.stdout).not.toMatch(/^refused: /m)
    const second = await moved('--create-keys')
    expect(second.stdout).not.toMatch(/^(?:done|refused): /m)
    expect(findings(second.stdout)).toEqual(findings(first.stdout))
    expect(outcomes(second.stdout, /^already there: /)).toHaveLength(outcomes(first.stdout, /^done: /).length)
  })

  test('without a service, a dry run reports what is in the file', async () => {
    const { code, stdout } = await services.run(['import', 'litellm', join(IMPORT_FIXTURES, 'litellm/small.yaml'), '--dry-run'])
    expect(code).toBe(0)
    expect(stdout).toContain('a dry run: 1 presets, 0 guardrails, limits of 0 keys')
  })

  test('exit 2 and one sentence for an unknown source, and for a file that is missing, broken or of another product', async () => {
    const bifrost = join(IMPORT_FIXTURES, 'bifrost/mixed.json')
    for (const [args, says] of [
      [['litelm', bifrost], 'there is nothing to import from "litelm"; there are openai-prompts, openrouter, litellm, portkey, bifrost.'],
      [['litellm', '/nowhere.yaml'], '/nowhere.yaml: the file cannot be read (ENOENT).'],
      [['litellm', bifrost], `${bifrost}: the file is no configuration of LiteLLM: expected "model_list", or "keys" of GET /key/list.`],
    ] as const)
      expect(await run(args)).toEqual({ code: 2, stdout: '', stderr: `patchbay: ${says}\n` })
  })

  test('an existing object that differs is left alone unless requested otherwise', async () => {
    const file = join(services.directory(), 'small.yaml')
    writeFileSync(file, 'model_list:\n  - model_name: taken-name\n    litellm_params: { model: openai/gpt-4o, temperature: 0.9 }\n')
    await call(service, 'POST', '/presets/taken-name/chat/completions', { body: { model: 'sandbox/echo' } })
    expect((await run(['litellm', file])).stdout).toContain('left alone: preset taken-name: the service has another one of this name')
    expect((await preset('taken-name')).designated_version).toMatchObject({ version: 1 })
    expect((await run(['litellm', file, '--overwrite'])).stdout).toContain('done: preset taken-name')
    expect((await preset('taken-name')).designated_version).toMatchObject({
      version: 2,
      config: { model: 'openai/gpt-4o', temperature: 0.9 },
    })
  })
})

describe('stored prompts of OpenAI', () => {
  test('keep their versions, their text, their settings, and their variables', async () => {
    const { stdout } = await move('openai-prompts', 'answers.jsonl')
    expect(findings(stdout)).toEqual(
      [
        'changed answers.jsonl:1: the model gpt-4.1 is called openai/gpt-4.1 here',
        'taken answers.jsonl:1: prompt pmpt_support version 1 with the variables company, language, customer_name',
        'changed answers.jsonl:2: the model gpt-4.1 is called openai/gpt-4.1 here',
        "changed answers.jsonl:2: the tool file_search runs at OpenAI: it works with OpenAI's own models alone",
        'taken answers.jsonl:2: prompt pmpt_support version 2 with the variables company, language, customer_name',
      ].toSorted((a, b) => (a.includes(':1:') === b.includes(':1:') ? 0 : a.includes(':1:') ? -1 : 1)),
    )
    expect(await preset('pmpt_support')).toMatchObject({
      labels: { v1: 1, v2: 2 },
      designated_version: {
        version: 2,
        shape: 'responses',
        system_prompt: 'You are a friendly support agent of {{company}}. Answer in {{language}}.',
        config: {
          model: 'openai/gpt-4.1',
          temperature: 0.5,
          max_output_tokens: 800,
          prompt_template: {
            messages: [{ role: 'user', content: 'The customer {{customer_name}} writes:' }],
            variables: { company: { type: 'text' }, language: { type: 'text' }, customer_name: { type: 'text' } },
          },
        },
      },
    })
    expect(Object.keys((await preset('pmpt_support')).designated_version['config'] as object).toSorted()).toEqual([
      'max_output_tokens',
      'model',
      'prompt_template',
      'temperature',
      'tools',
    ])
  })

  test('that were written by hand keep names, defaults, types and the served version', async () => {
    const { stdout } = await move('openai-prompts', 'written-down.json')
    expect(findings(stdout)).toContain('cannot written-down.json:18: owner is no setting that a preset keeps')
    expect(await preset('pmpt_triage')).toMatchObject({
      name: 'Triage',
      labels: { v1: 1, v2: 2 },
      designated_version: {
        version: 2,
        config: {
          prompt_template: { variables: { queues: { type: 'text', default: 'billing, technical' }, screenshot: { type: 'image' } } },
        },
      },
    })
  })
})

test('Bifrost: the addresses and pairs inside keys are imported, a disabled key is not, and what is left out is named', async () => {
  const config = join(services.directory(), 'keys.json')
  const bedrock = { access_key: 'env.A', secret_key: { env_var: 'env.B', from_env: true }, region: 'eu-west-1', arn: 'arn:…' }
  const providers = {
    bedrock: { keys: [{ value: '', models: ['*'], weight: 1, bedrock_key_config: bedrock }] },
    azure: {
      keys: [
        { value: 'env.Z', azure_key_config: { endpoint: 'https://n.openai.azure.com/', deployments: { 'gpt-4o': 'ours', o1: 'o1' } } },
      ],
    },
    ollama: { keys: [], network_config: { base_url: 'http://box:11434', extra_headers: { 'x-a': 'b' } } },
    gemini: { keys: [{ name: 'off', value: 'env.OFF', enabled: false }, { value: 'env.ON' }] },
    'openai-ours': { keys: [{ value: 'env.O' }], custom_provider_config: { base_provider_type: 'openai' } },
  }
  const keys = [{ name: 'v', value: 'sk-bf-1', provider_configs: [{ provider: 'azure', weight: 0.5, key_ids: ['*'] }], mcp_configs: [] }]
  writeFileSync(config, JSON.stringify({ providers, governance: { virtual_keys: keys, teams: [] } }, null, 1))
  const { stdout } = await run(['bifrost', config, '--dry-run'])
  expect(parse(stdout.slice(stdout.indexOf('# for your patchbay.yaml')))).toEqual({
    providers: {
      bedrock: { base_url: 'https://bedrock-runtime.eu-west-1.amazonaws.com', api_key: '${A}:${B}' },
      azure: { base_url: 'https://n.openai.azure.com/openai/v1', api_key: '${Z}' },
      ollama: { base_url: 'http://box:11434/v1' },
      google: { api_key: '${ON}', any_model: true },
      'openai-ours': {
        dialects: ['openai-responses', 'openai-chat'],
        base_url: 'https://api.openai.com/v1',
        api_key: '${O}',
        any_model: true,
      },
    },
    models: { 'azure/gpt-4o': { endpoints: [{ provider: 'azure', model: 'ours' }] } },
  })
  const said = findings(stdout).map((line) => line.replace(/keys\.json:\d+: /, ''))
  expect(said).toEqual(
    expect.arrayContaining([
      'cannot arn has no counterpart: a provider has an address (base_url) and keys that are one text (AWS_BEARER_TOKEN_BEDROCK)',
      'changed azure/gpt-4o is the deployment ours: add its prices in your file',
      'cannot extra_headers has no counterpart',
      'changed gemini/NAME is called google/NAME here',
      'cannot the key off is disabled, and is left out',
      'cannot weight, key_ids of a provider in a key: limits are those of the whole key',
      'cannot mcp_configs has no counterpart',
      'cannot teams and customers are workspaces here',
    ]),
  )
})

test('Portkey: a virtual key is taken for the provider that its name begins with, and two configs of one name become two presets', async () => {
  const path = join(services.directory(), 'two.json')
  const config = { virtual_key: 'openai-prod-1a2b', override_params: { model: 'gpt-5.4' } }
  const named = { name: 'main', config: JSON.stringify({ override_params: { model: 'not-a-model' } }) }
  writeFileSync(path, JSON.stringify([{ name: 'main', config }, named]))
  const { stdout } = await run(['portkey', path, '--dry-run'])
  expect(findings(stdout)).toEqual(
    expect.arrayContaining([
      'changed two.json:1: the virtual key openai-prod-1a2b is taken for one of openai, by its name',
      'taken two.json:1: main: preset main for openai/gpt-5.4',
      'changed two.json:1: the model not-a-model is not known here: add it to "models" of your patchbay.yaml',
      'taken two.json:1: main: preset main-2 for not-a-model',
    ]),
  )
})

test('Portkey: a target at an address of its own is left out, and never becomes a request to the public provider', async () => {
  const path = join(services.directory(), 'hosted.json')
  const model = { model: 'gpt-5.4' }
  const targets = [
    { provider: 'openai', custom_host: 'https://llm.internal/v1', override_params: model },
    { provider: 'anthropic', override_params: { model: 'claude-haiku-4-5' } },
  ]
  writeFileSync(path, JSON.stringify({ strategy: { mode: 'fallback', on_status_codes: [429] }, targets }))
  const { stdout } = await run(['portkey', path, '--dry-run'])
  expect(findings(stdout)).toEqual(
    expect.arrayContaining([
      'cannot hosted.json:1: the target asks an address of its own, and is left out: add a provider with this base_url to your patchbay.yaml, then its model to the preset',
      'changed hosted.json:1: a failure moves on by its cause, not by a list of statuses',
      'taken hosted.json:1: hosted: preset hosted for anthropic/claude-haiku-4.5',
    ]),
  )
  expect(stdout).not.toContain('llm.internal')
})

test('a file from Windows is read, and names without a letter become presets of their own', async () => {
  const prompts = join(services.directory(), 'windows.jsonl')
  const line = (version: string): string => JSON.stringify({ id: 'pmpt_windows', version, instructions: `Version ${version}.` })
  writeFileSync(prompts, `\uFEFF${line('1')}\r\n\r\n${line('2')}\r\n`)
  expect(findings((await run(['openai-prompts', prompts, '--dry-run'])).stdout)).toEqual([
    'taken windows.jsonl:1: prompt pmpt_windows version 1',
    'taken windows.jsonl:3: prompt pmpt_windows version 2',
  ])
  const config = join(services.directory(), 'names.yaml')
  const named = (name: string): string => `  - { model_name: ${name}, litellm_params: { model: openai/gpt-4o } }`
  writeFileSync(config, ['model_list:', named('中文'), named('日本語'), ''].join('\r\n'))
  expect(findings((await run(['litellm', config, '--dry-run'])).stdout)).toEqual([
    'changed names.yaml:2: 中文 is no name of a preset: clients ask for @preset/imported',
    'taken names.yaml:2: 中文: preset imported for openai/gpt-4o',
    'changed names.yaml:3: 日本語 is no name of a preset: clients ask for @preset/imported-2',
    'taken names.yaml:3: 日本語: preset imported-2 for openai/gpt-4o',
  ])
})

test('a name of several lines becomes one line, so that the import is not refused behind its versions', async () => {
  const prompts = join(services.directory(), 'lines.jsonl')
  writeFileSync(prompts, `${JSON.stringify({ id: 'pmpt_lines', name: 'Two\nlines\t!', version: '1', instructions: 'Be kind.' })}\n`)
  expect((await run(['openai-prompts', prompts])).code).toBe(0)
  const { data } = (await call(service, 'GET', '/presets?limit=100')).json as { data: readonly { readonly name: string }[] }
  expect(data.map(({ name }) => name)).toContain('Two lines !')
})

test('a comment in JSON is an error, because a member would be lost with it; so is a config that is not valid', async () => {
  const path = join(services.directory(), 'commented.json')
  for (const text of ['{ "providers": { "openai": { "keys": [], // none\n "network_config": {} } } }', '{ "provider": "openai", }']) {
    writeFileSync(path, text)
    const { code, stderr } = await run(['portkey', path])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `patchbay: ${path}: not valid JSON, which has no comments, no comma after the last member, and quotes around every name.\n`,
    })
  }
  writeFileSync(path, JSON.stringify({ name: 'x', config: '{ "provider": ' }))
  expect((await run(['portkey', path])).code).toBe(2)
})

test("Portkey: a config without a name, as its API returns it, is named after the file; the heaviest target's cache setting applies, a day at most", async () => {
  const { stdout } = await move('portkey', 'pc-cached-1f2e3d.json')
  expect(await preset('pc-cached-1f2e3d')).toMatchObject({
    designated_version: {
      config: { model: 'anthropic/claude-sonnet-5', models: ['openai/gpt-5.4-mini'], cache_enabled: true, cache_ttl_seconds: 120 },
    },
  })
  expect(findings(stdout)).toEqual(
    expect.arrayContaining([
      'changed pc-cached-1f2e3d.json:6: the same request is answered from the cache for 86400 s; one that is alike is not',
      'taken pc-cached-1f2e3d.json:10: the response cache, for 120 s',
      'changed pc-cached-1f2e3d.json:4: pc-cached-1f2e3d: settings of the first target hold for all',
    ]),
  )
})

test('Portkey: fallbacks, conditions on the model and denied words are kept', async () => {
  await move('portkey', 'fallback.json')
  expect(await preset('prod-fallback')).toMatchObject({
    designated_version: {
      config: {
        model: 'openai/gpt-5.4',
        models: ['anthropic/claude-sonnet-5'],
        temperature: 0.4,
        cache_enabled: true,
        cache_ttl_seconds: 3600,
      },
    },
  })
  const { stdout } = await move('portkey', 'conditional.json')
  expect(await preset('claude-sonnet')).toMatchObject({ designated_version: { config: { model: 'anthropic/claude-sonnet-5' } } })
  expect(await preset('client-names-model')).toMatchObject({
    designated_version: { config: { provider: { order: ['groq', 'together'] } } },
  })
  expect(findings(stdout)).toContain(
    'cannot conditional.json:12: only a condition that the model equals a name can be kept: as a preset of that name',
  )
  expect((await move('portkey', 'guarded.json')).stdout).not.toContain('sk-plain')
  const { data } = (await call(service, 'GET', '/guardrails')).json as { data: { name: string }[] }
  expect(data.find(({ name }) => name === 'guarded')).toMatchObject({
    content_filters: [
      { pattern: 'project-x|a\\+b', action: 'block', applies_to: 'input' },
      { pattern: '\\bconfidential\\b', action: 'flag', applies_to: 'output' },
    ],
  })
})

test('Bifrost: providers with variables for keys, and limits of virtual keys, are imported', async () => {
  const { stdout } = await move('bifrost', 'providers.json', '--create-keys')
  expect(stdout).toContain('  openai:\n    api_key:\n      - ${OPENAI_API_KEY}\n      - ${OPENAI_API_KEY_2}\n')
  expect(stdout).toContain(
    '  my-vllm:\n    dialects:\n      - openai-responses\n      - openai-chat\n    base_url: http://10.0.0.5:8000/v1\n',
  )
  expect(stdout).not.toContain('sk-ant-plain')
  expect(findings(stdout)).toContain('cannot providers.json:15: the provider vertex is not known here, and has no base_url')
  await move('bifrost', 'governance.json', '--create-keys')
  const { data } = (await call(service, 'GET', '/keys?include_disabled=true')).json as { data: { name: string }[] }
  expect(data.find(({ name }) => name === 'Platform team')).toMatchObject({
    limit: 50,
    limit_reset: 'monthly',
    rpm_limit: 100,
    tpm_limit: null,
  })
  expect(data.find(({ name }) => name === 'Batch')).toMatchObject({ limit: 1, limit_reset: null, disabled: true })
})

test('a key is recognised by its name, however many were created after it', async () => {
  const own = await services.start()
  const create = (name: string, limit: number) => call(own, 'POST', '/keys', { body: { name, limit } })
  await create('Production', 5)
  for (let number = 0; number < 100; number += 1) expect((await create(`later ${number}`, 1)).status).toBe(201)
  const { stdout } = await runAt(own, ['openrouter', join(IMPORT_FIXTURES, 'openrouter/keys.json'), '--create-keys', '--overwrite'])
  expect(stdout).toContain('done: limits of the key "Production"')
  const { data } = (await call(own, 'GET', '/keys?q=Production')).json as { data: { limit: number; limit_reset: string }[] }
  expect(data).toMatchObject([{ limit: 100, limit_reset: 'monthly' }])
})

test('OpenRouter: presets with their configuration, guardrails, and limits of keys are imported', async () => {
  const { stdout } = await move('openrouter', 'presets.json')
  expect(findings(stdout)).toEqual([
    'taken presets.json:3: preset email-copywriter',
    'cannot presets.json:20: the list does not hold what the preset listed-only is: export it with GET /presets/listed-only',
    'cannot presets.json:21: the preset old is archived',
  ])
  expect(await preset('email-copywriter')).toMatchObject({
    name: 'Email copywriter',
    description: 'Writes friendly emails.',
    designated_version: {
      system_prompt: 'You write emails.',
      config: { model: 'openai/gpt-5.4', temperature: 0.8, provider: { sort: 'price' } },
    },
  })
  expect(findings((await move('openrouter', 'together.json')).stdout)).toContain(
    'cannot together.json:26: seed_of_luck is no setting that a preset keeps here',
  )
  expect(await preset('summary')).toMatchObject({
    designated_version: { shape: 'messages', config: { max_tokens: 300, stop_sequences: ['END'] } },
  })
})

describe('exit 2, one sentence with the file, and nothing is sent: YAML that only looks small', () => {
  const letters = [...'bcdefgh']
  const multiplied = ['a: &a [x, x, x, x, x, x, x, x, x]']
    .concat(
      letters.map(
        (name, index) =>
          `${name}: &${name} [${Array(9)
            .fill(`*${['a', ...letters][index]}`)
            .join(', ')}]`,
      ),
    )
    .join('\n')
  const HOSTILE = [
    ['aliases that multiply it', multiplied],
    ['a list that contains itself', 'model_list: &a\n  - litellm_params: *a\n'],
    ['an alias of nothing', 'model_list: [*nothing]\n'],
    ['lists in lists', `model_list: ${'['.repeat(100)}${']'.repeat(100)}\n`],
  ] as const

  test.each(HOSTILE)('%s', async (_, text) => {
    const file = join(services.directory(), 'hostile.yaml')
    writeFileSync(file, text)
    for (const verb of [
      ['import', 'litellm', file],
      ['eval', 'any', '--version', '1', '--set', file],
    ]) {
      const { code, stdout, stderr } = await services.run(verb, {
        PATCHBAY_URL: service.url,
        PATCHBAY_MANAGEMENT_KEY: service.managementKey,
      })
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toMatch(/^patchbay: [^\n]*hostile\.yaml: [^\n]+\.\n$/)
    }
  })
})

test('exit 1 if the service refuses an object, which is named with the reason; the others are imported', async () => {
  const path = join(services.directory(), 'presets.json')
  const preset = (slug: string, temperature: number) => ({
    slug,
    designated_version: { config: { model: 'sandbox/echo', temperature }, system_prompt: null },
  })
  writeFileSync(path, JSON.stringify({ data: [preset('too-hot', 99), preset('mild', 1)] }))
  const { code, stdout } = await run(['openrouter', path])
  expect(code).toBe(1)
  expect(stdout).toMatch(/^refused: preset too-hot: temperature: /m)
  expect(stdout).toMatch(/^done: preset mild$/m)
  expect((await call(service, 'GET', '/presets/mild')).status).toBe(200)
  expect((await call(service, 'GET', '/presets/too-hot')).status).toBe(404)
})

test('exit 2, and nothing is imported: the file for --merge cannot be read, or is no YAML', async () => {
  const own = await services.start()
  const broken = join(services.directory(), 'broken.yaml')
  writeFileSync(broken, 'providers: [')
  for (const [target, fault] of [
    [services.directory(), 'the file cannot be read (EISDIR).'],
    [broken, 'not valid YAML at line 1'],
  ] as const) {
    const { code, stdout, stderr } = await runAt(own, ['bifrost', MIXED, '--create-keys', '--merge', target])
    expect([code, stdout, stderr.trimEnd().split('\n').length]).toEqual([2, '', 1])
    expect(stderr).toStartWith(`patchbay: ${target}: ${fault}`)
  }
  expect(((await call(own, 'GET', '/keys')).json as { data: unknown[] }).data).toHaveLength(2)
})

test('--json prints the keys that were made even if the import fails behind them: they are shown only there', async () => {
  const own = await services.start()
  const target = join(services.directory(), 'patchbay.yaml')
  const text = `# ${'Long. '.repeat(10_000)}\n`
  writeFileSync(target, text)
  const { code, stdout, stderr } = await services.runWithoutRoom(
    ['import', 'bifrost', MIXED, '--create-keys', '--json', '--merge', target],
    { PATCHBAY_URL: own.url, PATCHBAY_MANAGEMENT_KEY: own.managementKey },
  )
  expect([code, stderr, readFileSync(target, 'utf8')]).toEqual([2, `patchbay: ${target} cannot be read or written (EFBIG).\n`, text])
  const { done } = JSON.parse(stdout) as { done: readonly { key?: string }[] }
  const made = done.flatMap(({ key }) => key ?? [])
  expect(made.length).toBeGreaterThan(0)
  for (const key of made) expect((await call(own, 'GET', '/key', { key })).status).toBe(200)
})

describe('exit 1 if nobody can have seen a new key', () => {
  const keysOf = async (own: StartedService): Promise<{ hash: string; name: string }[]> =>
    ((await call(own, 'GET', '/keys')).json as { data: { hash: string; name: string }[] }).data.filter(({ name }) => name === 'Everybody')
  const command = ['import', 'bifrost', MIXED, '--create-keys']

  test.each([
    ['a full disk', '>/dev/full', 'ENOSPC'],
    ['a closed output', '>&-', 'EBADF'],
  ])('it is revoked: %s', async (_, redirection, fault) => {
    if (redirection === '>/dev/full' && !existsSync('/dev/full')) return
    const own = await services.start()
    const env = { ...process.env, PATCHBAY_URL: own.url, PATCHBAY_MANAGEMENT_KEY: own.managementKey }
    const shell = ['-c', `exec "$0" "$@" ${redirection}`, PROGRAM, ...command, '--json']
    const { status, stderr } = spawnSync('/bin/sh', shell, { encoding: 'utf8', env })
    const says = `nobody reads the standard output: a new key is taken back.\npatchbay: the output cannot be written (${fault}).\n`
    expect([status, stderr]).toEqual([1, `patchbay: ${says}`])
    expect(await keysOf(own)).toEqual([])
  })

  test.each([
    ['it is revoked: the reader leaves before it is made', true],
    ['its hash is shown, since it cannot be revoked', false],
  ])('%s', async (_, isRevocable) => {
    const own = await services.start()
    const { stdout, leave } = openPipe(join(services.directory(), 'left'))
    const url = startBehind(own.url, (asked) => {
      if (asked === 'POST /keys') leave()
      if (!isRevocable && asked.startsWith('DELETE ')) throw new Error('This request fails.')
    })
    const { code, stderr } = await runInto(stdout, command, { PATCHBAY_URL: url, PATCHBAY_MANAGEMENT_KEY: own.managementKey })
    const left = await keysOf(own)
    expect(left).toHaveLength(isRevocable ? 0 : 1)
    const says = isRevocable
      ? 'nobody reads the standard output: a new key is taken back.'
      : `nobody has seen the new key with the hash ${left[0]?.hash}, and it stays valid: DELETE /keys/`
    expect([code, stderr]).toEqual([1, expect.stringContaining(`patchbay: ${says}`)])
    expect(stderr).toEndWith('patchbay: the output cannot be written (EPIPE).\n')
  })
})

test.each([
  ['is taken back: nobody would see it, and it works', /^PATCH \/keys\//, 0, /"Batch" cannot be disabled .*: a new key is taken back/],
  ['and cannot be taken back is named by its hash', /^(?:PATCH|DELETE) \/keys\//, 1, /the new key with the hash \w+, and it stays valid/],
])('a new key that cannot be disabled as its file wants %s', async (_, failing, left, says) => {
  const own = await services.start()
  const url = startBehind(own.url, (request) => {
    if (failing.test(request)) throw new Error('This request fails.')
  })
  const { code, stderr } = await services.run(['import', 'bifrost', join(IMPORT_FIXTURES, 'bifrost/governance.json'), '--create-keys'], {
    PATCHBAY_URL: url,
    PATCHBAY_MANAGEMENT_KEY: own.managementKey,
  })
  const { data } = (await call(own, 'GET', '/keys')).json as { data: { name: string; disabled: boolean }[] }
  expect([code, data.filter(({ name }) => name === 'Batch').length]).toEqual([1, left])
  expect(stderr).toMatch(says)
})

test('a slow reader gets the whole of what is more than a pipe holds', async () => {
  const file = join(services.directory(), 'long.json')
  const slugs = Array.from({ length: 2000 }, (_, index) => `preset-${index}`)
  writeFileSync(file, JSON.stringify({ data: slugs.map((slug) => ({ slug, status: 'archived' })) }))
  const slowly = ['-c', '"$0" "$@" | dd bs=64', PROGRAM, 'import', 'openrouter', file, '--dry-run', '--json']
  const { stdout } = spawnSync('/bin/sh', slowly, { encoding: 'utf8' })
  expect((JSON.parse(stdout) as { findings: unknown[] }).findings).toHaveLength(slugs.length)
})

test('--merge into a file of comments alone keeps them, and the service starts with it', async () => {
  const own = await services.start()
  const target = join(services.directory(), 'patchbay.yaml')
  writeFileSync(target, '# Ours.\n# providers: {}\n')
  expect((await runAt(own, ['bifrost', MIXED, '--merge', target])).code).toBe(0)
  const text = readFileSync(target, 'utf8')
  expect(text).toMatch(/^# Ours\.\n# providers: \{\}\n/)
  await services.start({ config: text, env: { GROQ_API_KEY: 'a-key' } })
})

test('limits of a key that the service has stay as they are without --overwrite', async () => {
  const own = await services.start()
  const { data } = await createKey(own, { name: 'Everybody', limit: 1, limit_reset: 'weekly' })
  const limits = async (): Promise<unknown> => ((await call(own, 'GET', `/keys/${data.hash}`)).json as { data: object }).data
  const { code, stdout } = await runAt(own, ['bifrost', MIXED, '--create-keys'])
  expect([code, stdout]).toEqual([0, expect.stringContaining('left alone: limits of the key "Everybody": the service has others')])
  expect(await limits()).toMatchObject({ limit: 1, limit_reset: 'weekly' })
  expect((await runAt(own, ['bifrost', MIXED, '--overwrite'])).stdout).toContain('done: limits of the key "Everybody"')
  expect(await limits()).toMatchObject({ limit: 5, limit_reset: 'daily' })
})
