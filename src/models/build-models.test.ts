import { describe, expect, test } from 'bun:test'

import catalogueData from './catalogue-data.json' with { type: 'json' }
import { buildModels, CatalogueError, type OperatorEntries } from './build-models.ts'
import type { Catalogue, ProviderEntry } from './catalogue-schema.ts'
import { catalogueSchema } from './catalogue-schema.ts'
import type { Models } from './models.ts'
import type { Provider } from './model.ts'

const model = (provider: string): Catalogue['models'][string] => ({
  name: 'One',
  created: 1000,
  context_length: 100,
  input_modalities: ['text', 'image'],
  output_modalities: ['text'],
  supported_parameters: ['tools'],
  endpoints: [{ provider, model: 'one-1', prices: { prompt: 1, completion: 2 } }],
})

const catalogue: Omit<Catalogue, 'sources'> = {
  as_of: '2026-11-18',
  providers: {
    acme: {
      name: 'Acme',
      dialects: ['openai-chat'],
      base_url: 'https://api.acme.example/v1',
      base_url_env: 'ACME_BASE_URL',
      api_key_env: 'ACME_API_KEY',
    },
    other: {
      name: 'Other',
      dialects: ['anthropic'],
      base_url: 'https://other.example',
      base_url_env: 'OTHER_BASE_URL',
      api_key_env: 'OTHER_API_KEY',
    },
    ollama: {
      name: 'Ollama',
      dialects: ['openai-chat'],
      base_url: 'http://127.0.0.1:11434/v1',
      base_url_env: 'OLLAMA_HOST',
      any_model: true,
    },
    vllm: { name: 'vLLM', dialects: ['openai-chat'], base_url: 'http://127.0.0.1:8000/v1', base_url_env: 'VLLM_BASE_URL', any_model: true },
  },
  models: { 'acme/one': model('acme') },
}

const build = (operator: Partial<OperatorEntries> = {}, variables: Record<string, string> = {}): Models =>
  buildModels(catalogue, { providers: {}, models: {}, ...operator }, variables, [])

const providerOf = (models: Models, id: string): Provider | undefined => models.find(id)?.endpoints[0]?.provider

const fault = (operator: Partial<OperatorEntries>, variables: Record<string, string> = {}): string => {
  try {
    build(operator, variables)
  } catch (thrown) {
    if (thrown instanceof CatalogueError) return thrown.message
    throw thrown
  }
  return 'accepted'
}

describe('a known provider', () => {
  test('is enabled by its usual variable, and by nothing else', () => {
    expect(build().list()).toEqual([])
    expect(build({}, { ACME_API_KEY: '' }).list()).toEqual([])
    expect(build({}, { ACME_BASE_URL: 'https://elsewhere.example/v1' }).list()).toEqual([])
    expect(providerOf(build({}, { ACME_API_KEY: 'k' }), 'acme/one')).toEqual({
      slug: 'acme',
      name: 'Acme',
      dialects: ['openai-chat'],
      baseUrl: 'https://api.acme.example/v1',
      apiKeys: ['k'],
      anyModel: false,
    })
  })

  test.each<[string, string]>([
    ['https://proxy.example/acme/v1', 'https://proxy.example/acme/v1'],
    ['https://proxy.example/acme/v1//', 'https://proxy.example/acme/v1'],
    ['https://proxy.example', 'https://proxy.example'],
    ['HTTPS://proxy.example/v1', 'HTTPS://proxy.example/v1'],
    ['http://[::1]:8080/v1/', 'http://[::1]:8080/v1'],
  ])('its address is overridden by the variable for it: %s', (address, baseUrl) => {
    expect(providerOf(build({}, { ACME_API_KEY: 'k', ACME_BASE_URL: address }), 'acme/one')?.baseUrl).toBe(baseUrl)
  })

  test.each(['proxy.example/v1', 'proxy.example:443', 'nope'])(
    'its key is not sent in clear text to an address without a scheme: %s',
    (address) => {
      expect(fault({}, { ACME_API_KEY: 'k', ACME_BASE_URL: address })).toMatch(
        /^ACME_BASE_URL: the address of "acme" is not a URL, such as https:/,
      )
    },
  )

  test.each<[string, Partial<ProviderEntry>, Partial<Provider>]>([
    ['its key wins over the variable', { api_key: 'file' }, { apiKeys: ['file'] }],
    ['several keys are kept in their order', { api_key: ['one', 'two'] }, { apiKeys: ['one', 'two'] }],
    ['its address wins over the variable', { base_url: 'http://10.0.0.1/v1' }, { baseUrl: 'http://10.0.0.1/v1' }],
    [
      'what it leaves out comes from the variables',
      { name: 'Mine' },
      { name: 'Mine', apiKeys: ['env'], baseUrl: 'https://env.example/v1' },
    ],
    ['another variable may hold the key', { api_key_env: 'MY_KEY' }, { apiKeys: ['mine'] }],
  ])('in the operator’s file: %s', (_, own, expected) => {
    const models = build({ providers: { acme: own } }, { ACME_API_KEY: 'env', ACME_BASE_URL: 'https://env.example/v1', MY_KEY: 'mine' })
    expect(providerOf(models, 'acme/one')).toMatchObject(expected)
  })

  test('in the operator’s file is enabled without a key: some servers want none', () => {
    expect(providerOf(build({ providers: { acme: {} } }), 'acme/one')?.apiKeys).toEqual([])
  })
})

describe('a local server is enabled by its address', () => {
  test.each<[string, string]>([
    ['127.0.0.1:11434', 'http://127.0.0.1:11434/v1'],
    ['127.0.0.1', 'http://127.0.0.1:11434/v1'],
    ['0.0.0.0', 'http://0.0.0.0:11434/v1'],
    ['gpu-box', 'http://gpu-box:11434/v1'],
    ['gpu-box:80', 'http://gpu-box/v1'],
    ['gpu-box:9999/', 'http://gpu-box:9999/v1'],
    [':9999', 'http://127.0.0.1:9999/v1'],
    ['[::1]:11434', 'http://[::1]:11434/v1'],
    ['[::1]', 'http://[::1]:11434/v1'],
    ['http://gpu-box:11434', 'http://gpu-box:11434/v1'],
    ['http://gpu-box:11434/', 'http://gpu-box:11434/v1'],
    ['https://ollama.example', 'https://ollama.example/v1'],
    ['https://ollama.example/v1', 'https://ollama.example/v1'],
    ['http://gpu-box:11434/prefix/v1/', 'http://gpu-box:11434/prefix/v1'],
    ['gpu-box:11434/prefix', 'http://gpu-box:11434/prefix'],
  ])('OLLAMA_HOST=%s', (address, baseUrl) => {
    expect(providerOf(build({}, { OLLAMA_HOST: address }), 'ollama/llama4')?.baseUrl).toBe(baseUrl)
  })

  test('VLLM_BASE_URL is a base address: with a scheme it is taken as it is', () => {
    expect(providerOf(build({}, { VLLM_BASE_URL: 'http://gpu-box:8000' }), 'vllm/x')?.baseUrl).toBe('http://gpu-box:8000')
    expect(providerOf(build({}, { VLLM_BASE_URL: 'gpu-box' }), 'vllm/x')?.baseUrl).toBe('http://gpu-box:8000/v1')
  })

  test('without it there is none', () => {
    expect(build().find('ollama/llama4')).toBeUndefined()
    expect(build({}, { OLLAMA_HOST: '' }).find('ollama/llama4')).toBeUndefined()
  })

  test.each(['http://', 'ftp://gpu-box', 'a b', 'http://[::1', ':99999', '['])(
    'an invalid address is reported in one sentence that names the variable: %j',
    (address) => {
      expect(fault({}, { OLLAMA_HOST: address })).toMatch(/^OLLAMA_HOST: the address of "ollama" is not a URL.*\.$/)
    },
  )

  test.each(['http://gpu-box?x=1', 'http://gpu-box/v1#x'])('an address to which no path can be appended is refused: %s', (address) => {
    expect(fault({}, { VLLM_BASE_URL: address })).toBe(
      'VLLM_BASE_URL: the address of "vllm" has a query or a fragment, after which no path can follow.',
    )
    expect(fault({ providers: { acme: { base_url: address } } })).toBe(
      'providers.acme.base_url: the address of "acme" has a query or a fragment, after which no path can follow.',
    )
  })

  test('a password in an address is not repeated', () => {
    expect(fault({}, { OLLAMA_HOST: 'http://me:hunter2@[::' })).not.toContain('hunter2')
  })
})

describe('a server of the operator’s own', () => {
  const local: ProviderEntry = { dialects: ['openai-chat'], base_url: 'http://127.0.0.1:9000/v1' }

  test('serves any name, until its models are listed', () => {
    expect(build({ providers: { local } }).find('local/any')?.endpoints[0]?.upstreamModel).toBe('any')
    const models = { 'local/one': { endpoints: [{ provider: 'local', model: 'one' }] } }
    expect(build({ providers: { local }, models }).find('local/any')).toBeUndefined()
    expect(build({ providers: { local }, models }).find('local/one')).toMatchObject({ name: 'local/one', created: 0, contextLength: null })
  })

  test('serves any name beside the listed ones where any_model says so', () => {
    const models = { 'local/one': { endpoints: [{ provider: 'local', model: 'one' }] } }
    expect(build({ providers: { local: { ...local, any_model: true } }, models }).find('local/any')).toBeDefined()
    expect(build({ providers: { local: { ...local, any_model: false } } }).find('local/any')).toBeUndefined()
  })

  test.each<[string, ProviderEntry, string]>([
    ['a base_url', { dialects: ['openai-chat'] }, 'providers: "local" needs a base_url: the catalogue does not know it.'],
    ['dialects', { base_url: 'http://127.0.0.1/v1' }, 'providers: "local" needs dialects: the catalogue does not know it.'],
  ])('needs %s', (_, own, message) => {
    expect(fault({ providers: { local: own } })).toBe(message)
  })
})

describe('a key that no header can carry', () => {
  const sentence = 'the key holds a character that no header can carry; use it exactly as the provider shows it.'
  test.each(['sk-…', 'sk-secret\n', ' sk-secret', 'sk secret', 'sk-sécret', 'sk-\u0000', 'sk-\u007f'])('%j', (key) => {
    expect(fault({}, { ACME_API_KEY: key })).toBe(`ACME_API_KEY: ${sentence}`)
    expect(fault({ providers: { acme: { api_key_env: 'MY_KEY' } } }, { MY_KEY: key })).toBe(`MY_KEY: ${sentence}`)
    expect(fault({ providers: { acme: { api_key: key } } })).toBe(`providers.acme.api_key: ${sentence}`)
    expect(fault({ providers: { acme: { api_key: ['good', key] } } })).toBe(`providers.acme.api_key: ${sentence}`)
  })

  test('is no fault where the file’s own key is used instead of it', () => {
    expect(fault({ providers: { acme: { api_key: 'good' } } }, { ACME_API_KEY: 'sk-…' })).toBe('accepted')
  })
})

describe('models', () => {
  const enabled = { ACME_API_KEY: 'k' }

  test('the operator’s entry wins, member by member, over the catalogue’s', () => {
    const own = { context_length: 7, endpoints: [{ provider: 'acme', model: 'mine', prices: { prompt: 9, completion: 9 } }] }
    expect(build({ models: { 'acme/one': own } }, enabled).find('acme/one')).toMatchObject({
      name: 'One',
      contextLength: 7,
      inputModalities: ['text', 'image'],
      endpoints: [{ upstreamModel: 'mine', prices: { prompt: 9, completion: 9 } }],
    })
    expect(build({ models: { 'acme/one': { name: 'Uno' } } }, enabled).find('acme/one')).toMatchObject({ name: 'Uno', contextLength: 100 })
  })

  test('an endpoint of a provider that is not enabled is left out, and a model without any with it', () => {
    const endpoints = [
      { provider: 'other', model: 'x' },
      { provider: 'acme', model: 'y' },
    ]
    expect(
      build({ models: { 'mix/x': { endpoints } } }, enabled)
        .find('mix/x')
        ?.endpoints.map(({ upstreamModel }) => upstreamModel),
    ).toEqual(['y'])
    expect(build({ models: { 'mix/x': { endpoints } } }).find('mix/x')).toBeUndefined()
  })

  test('an endpoint of a provider that nobody defined is a fault that names both', () => {
    const models = { 'mix/x': { endpoints: [{ provider: 'nobody', model: 'x' }] } }
    expect(fault({ models })).toBe('models: "mix/x" names the provider "nobody", which is not defined under providers.')
  })

  test('a fault names the provider or the model that was probably meant', () => {
    const models = { 'mix/x': { endpoints: [{ provider: 'acmee', model: 'x' }] } }
    expect(fault({ models })).toEndWith(' is not defined under providers. Did you mean "acme"?')
    expect(fault({ providers: { acmee: {} } })).toEndWith('the catalogue does not know it. Did you mean "acme"?')
    expect(fault({ models: { 'acme/oned': {} } }, enabled)).toEndWith('the catalogue does not know it. Did you mean "acme/one"?')
  })

  test('a name that the catalogue does not know and that nobody serves is a fault: it would be gone without a word', () => {
    expect(fault({ models: { 'acme/oen': { context_length: 7 } } }, enabled)).toBe(
      'models: "acme/oen" needs endpoints: the catalogue does not know it. Did you mean "acme/one"?',
    )
  })

  test('are listed newest first, then by name, the built-in ones last', () => {
    const endpoints = [{ provider: 'acme', model: 'x' }]
    const builtIn = build({ models: { 'sand/box': { endpoints } } }, enabled).find('sand/box')
    const models = buildModels(
      catalogue,
      {
        providers: {},
        models: { 'b/new': { created: 3000, endpoints }, 'a/old': { created: 1, endpoints }, 'a/new': { created: 3000, endpoints } },
      },
      enabled,
      builtIn === undefined ? [] : [builtIn],
    )
    expect(models.list().map(({ id }) => id)).toEqual(['a/new', 'b/new', 'acme/one', 'a/old', 'sand/box'])
  })
})

describe('the shipped catalogue', () => {
  const shipped = catalogueSchema.parse(catalogueData)

  test.each(Object.entries(shipped.providers))('enables %s by its variable alone', (slug, { api_key_env, base_url_env }) => {
    const variables = api_key_env === undefined ? { [base_url_env]: '127.0.0.1:1234' } : { [api_key_env]: 'secret' }
    const models = buildModels(shipped, { providers: {}, models: {} }, variables, [])
    const served = new Set(models.list().flatMap(({ endpoints }) => endpoints.map(({ provider }) => provider.slug)))
    if (models.find(`${slug}/anything-at-all`) === undefined) expect([...served]).toEqual([slug])
    else expect([...served].filter((other) => other !== slug)).toEqual([])
  })

  test('offers nothing where nothing is configured', () => {
    expect(buildModels(shipped, { providers: {}, models: {} }, {}, []).list()).toEqual([])
  })
})
