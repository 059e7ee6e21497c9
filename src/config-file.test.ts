import { describe, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { turn } from '../test/support/fake-clock.ts'
import { temporaryDirectory } from '../test/support/sqlite-database.ts'
import { checkConfigFile, createConfigReader, readConfigFile, type ConfigFile } from './config-file.ts'
import { SettingError } from './config.ts'

const directory = temporaryDirectory()
let files = 0

const write = (text: string): string => {
  const path = join(directory, `${(files += 1)}.yaml`)
  writeFileSync(path, text)
  return path
}

const read = (text: string, env: Record<string, string> = {}): ConfigFile => readConfigFile(write(text), env)

/** The message without the file's name in front. */
const fault = (text: string, env: Record<string, string> = {}): string => {
  const path = write(text)
  try {
    readConfigFile(path, env)
  } catch (thrown) {
    if (!(thrown instanceof SettingError)) throw thrown
    expect(thrown.message).toStartWith(`${path}: `)
    expect(thrown.message).not.toContain('\n')
    expect(thrown.message).toMatch(/[^.][.?]$/)
    return thrown.message.slice(path.length + 2)
  }
  return 'accepted'
}

const DEFAULTS = {
  providers: {},
  models: {},
  sandbox: true,
  errors: { provider_failure: 'auto' },
  timeouts: { stream_headers: 60, whole_headers: 600, first_token: 120, idle: 90 },
  generations: { retention_days: 90 },
  cors: { origins: [] },
}

describe('a file', () => {
  test.each<[string, string]>([
    ['that is empty', ''],
    ['of comments', '# nothing\n'],
    ['that is null', 'null\n'],
    ['of an empty object', '{}\n'],
    ['of one document', '---\n{}\n'],
    ['of empty sections', 'timeouts: {}\ncors: {}\nlimits: {}\n'],
  ])('%s is all defaults', (_, text) => {
    expect(read(text)).toMatchObject(DEFAULTS)
  })

  test('overrides member by member', () => {
    expect(read('timeouts: { idle: 1.5 }\nerrors: { provider_failure: status }\nsandbox: false\n')).toMatchObject({
      ...DEFAULTS,
      sandbox: false,
      errors: { provider_failure: 'status' },
      timeouts: { ...DEFAULTS.timeouts, idle: 1.5 },
    })
  })

  test('is JSON too', () => {
    expect(read('{"sandbox": false}').sandbox).toBe(false)
  })

  test('holds providers and models as the README shows them', () => {
    const { providers, models } = read(
      [
        'providers:',
        '  openai:',
        '    name: OpenAI',
        '    dialects: [openai-responses, openai-chat]',
        '    base_url: https://api.openai.com/v1',
        '    api_key: ${OPENAI_API_KEY}',
        '  local-vllm:',
        '    dialects: [openai-chat]',
        '    base_url: http://127.0.0.1:8000/v1',
        'models:',
        '  openai/gpt-5.4:',
        '    context_length: 400000',
        '    endpoints:',
        '      - provider: openai',
        '        model: gpt-5.4',
        '        prices: { prompt: 1.25, completion: 10, cache_read: 0.125 }',
        '        max_completion_tokens: 128000',
        'guardrails: {}',
      ].join('\n'),
      { OPENAI_API_KEY: 'sk-1' },
    )
    expect(providers['openai']?.api_key).toBe('sk-1')
    expect(models['openai/gpt-5.4']?.endpoints?.[0]?.prices).toEqual({ prompt: 1.25, completion: 10, cache_read: 0.125 })
  })

  test('holds every member of tools and plugins, those with one possible value too', () => {
    const { tools, plugins } = read(
      [
        'tools:',
        '  loop: { parallel: 8, max_steps: 30, seconds: 600, failover: same_model }',
        '  result_bytes: 262144',
        '  web_search:',
        '    order: [native, searxng, brave]',
        '    engines:',
        '      searxng: { kind: searxng, url: http://127.0.0.1:8888, price_per_request: 0 }',
        '      brave: { kind: brave, api_key: ${BRAVE_API_KEY}, price_per_request: 0.005 }',
        '  web_fetch: { urls: any, respect_robots: false }',
        '  image_generation: { model: vendor/model }',
        '  advisor: { max_calls: 10 }',
        '  subagent: { max_calls: 20 }',
        '  fusion: { presets: { general-high: [a/b, c/d] } }',
        `  shell: { kind: docker, socket: /var/run/docker.sock, image: 'name@sha256:${'0'.repeat(64)}' }`,
        'plugins:',
        '  file_parser: {}',
        '  alignment: { model: vendor/model }',
        '  switchyard: { judge_model: vendor/model }',
        '  pareto: { scores: { vendor/model: 0.7 } }',
      ].join('\n'),
      { BRAVE_API_KEY: 'b-1' },
    )
    expect(tools.web_search.engines['brave']).toMatchObject({ kind: 'brave', api_key: 'b-1' })
    expect(tools.web_fetch).toEqual({ enabled: true, urls: 'any', respect_robots: false })
    expect(plugins.pareto?.scores).toEqual({ 'vendor/model': 0.7 })
  })
})

describe('a variable in a text', () => {
  const keyOf = (text: string, env: Record<string, string> = {}) =>
    read(`providers: { x: { api_key: ${text} } }`, env).providers['x']?.api_key

  test.each<[string, Record<string, string>, string | string[]]>([
    ['"${A}"', { A: 'a' }, 'a'],
    ['"x-${A}-${B}"', { A: 'a', B: 'b' }, 'x-a-b'],
    ['["${A}", "${B}"]', { A: 'a', B: 'b' }, ['a', 'b']],
    // The value of a variable is data: neither another variable nor a pattern of a replacement.
    ['"${A}"', { A: '${B}', B: 'b' }, '${B}'],
    ['"${A}"', { A: '$& $1 $$' }, '$& $1 $$'],
    ['"$A"', { A: 'a' }, '$A'],
    ['"$"', {}, '$'],
  ])('%s', (text, env, expected) => {
    expect(keyOf(text, env)).toEqual(expected)
  })

  test('is not read in a name, nor made a structure', () => {
    expect(fault('"${A}": 1', { A: 'sandbox' })).toContain('Unknown field.')
    expect(fault('providers: "${A}"', { A: '{}' })).toStartWith('providers: ')
  })

  test.each(['${}', '${A:-sk-hunter2}', '${A-B}', '${ A }', '${1}'])('is its name alone in the braces, not %s', (text) => {
    const message = fault(`providers: { x: { api_key: "${text}" } }`, { A: 'a' })
    expect(message).toBe("providers.x.api_key: ${…} holds more than a variable's name, or none. Write ${NAME}; there are no defaults.")
  })

  test.each<[string, string, string]>([
    ['unset', 'providers: { x: { api_key: "${A}" } }', 'providers.x.api_key: the variable A is not set.'],
    ['unset in a list', 'providers: { x: { api_key: [k, "${A}"] } }', 'providers.x.api_key[1]: the variable A is not set.'],
  ])('that is %s is a fault with its path', (_, text, message) => {
    expect(fault(text)).toBe(message)
    expect(fault(text, { A: '' })).toBe(message)
  })
})

describe('a fault is one sentence with its path', () => {
  test.each<[string, string, string]>([
    [
      'a switch that nothing follows from',
      'tools: { web_fetch: { respect_robots: true } }',
      'tools.web_fetch.respect_robots: Must be false: robots.txt is not asked.',
    ],
    ['a misspelt section', 'sandbx: true', 'sandbx: Unknown field. Did you mean "sandbox"?'],
    ['a misspelt member', 'timeouts: { idel: 1 }', 'timeouts.idel: Unknown field. Did you mean "idle"?'],
    [
      'a misspelt member of several words',
      'timeouts: { first-tokens: 1 }',
      'timeouts.first-tokens: Unknown field. Did you mean "first_token"?',
    ],
    ['a misspelt member of a provider', 'providers: { x: { apikey: k } }', 'providers.x.apikey: Unknown field. Did you mean "api_key"?'],
    [
      'a misspelt member in a list',
      'models: { a/b: { endpoints: [{ provider: x, modle: y }] } }',
      'models.a/b.endpoints[0].modle: Unknown field. Did you mean "model"?',
    ],
    ['a name that looks like none', 'timeouts: { colour: 1 }', 'timeouts.colour: Unknown field. Use one of '],
    ['a setting of the process', 'port: 80', 'port: This is a setting of the process, not of the file. Use --port or PATCHBAY_PORT.'],
    [
      'a setting of the process, of the server',
      'server: { host: x }',
      'server.host: This is a setting of the process, not of the file. Use --host',
    ],
    [
      'a setting of the process, in a group',
      'log: { level: debug }',
      'log.level: This is a setting of the process, not of the file. Use --log-level',
    ],
    [
      'a setting of the process with two words',
      'data_dir: x',
      'data_dir: This is a setting of the process, not of the file. Use --data-dir',
    ],
    ['a name where none is known', 'guardrails: { colour: 1 }', 'guardrails.colour: Unknown field. None is allowed here.'],
    ['a wrong type', 'sandbox: maybe', 'sandbox: Expected true or false, got a string.'],
    ['a wrong type of a section', 'timeouts: 5', 'timeouts: Expected an object, got a number.'],
    ['a wrong type of the file', 'hello', 'Expected an object, got a string.'],
    ['a list for a file', '- a', 'Expected an object, got an array.'],
    ['a number out of range', 'timeouts: { idle: 0 }', 'timeouts.idle: Must be at least 0.001.'],
    ['a choice that is none', 'errors: { provider_failure: maybe }', 'errors.provider_failure: Must be one of "body", "status" or "auto".'],
    ['a provider’s name', 'providers: { Bad Name: {} }', 'providers.Bad Name: Use lower-case letters, digits, . _ -.'],
    ['a model’s name', 'models: { gpt: {} }', 'models.gpt: Write it as vendor/model.'],
    ['an address', 'providers: { x: { base_url: "ftp://x" } }', 'providers.x.base_url: Must be a URL.'],
    ['a dialect', 'providers: { x: { dialects: [smoke] } }', 'providers.x.dialects[0]: Must be one of'],
    [
      'a price',
      'models: { a/b: { endpoints: [{ provider: x, model: y, prices: { prompt: -1, completion: 0 } }] } }',
      'models.a/b.endpoints[0].prices.prompt: Must be at least 0.',
    ],
    ['an origin that is not one', 'cors: { origins: [app.example] }', 'cors.origins[0]: Write an origin such as https://app.example.com.'],
    [
      'a page of an origin',
      'cors: { origins: ["https://app.example/app"] }',
      'cors.origins[0]: Write an origin such as https://app.example.com.',
    ],
    [
      'an origin with a user',
      'cors: { origins: ["https://a@app.example"] }',
      'cors.origins[0]: Write an origin such as https://app.example.com.',
    ],
    ['any origin at all', 'cors: { origins: ["*"] }', 'cors.origins[0]: Write an origin such as https://app.example.com.'],
    // Its origin would be "null", which every sandboxed frame also sends.
    [
      'an origin that every page could have',
      'cors: { origins: ["file:///app"] }',
      'cors.origins[0]: Write an origin such as https://app.example.com.',
    ],
    ['a name that is no own member', '__proto__: { polluted: true }', '__proto__: This name is not allowed.'],
    ['such a name of a provider', 'providers: { __proto__: { name: X } }', 'providers.__proto__: This name is not allowed.'],
  ])('%s', (_, text, message) => {
    expect(fault(text)).toStartWith(message)
  })

  test('a key of the wrong type is not repeated', () => {
    expect(fault('providers: { x: { api_key: { secret: sk-hunter2 } } }')).not.toContain('hunter2')
  })
})

describe('text that is no YAML', () => {
  test.each<[string, string, string]>([
    ['a tab', 'a:\n\t- b', 'line 2'],
    ['a quote that does not end', 'sandbox: "true', 'line 1'],
    ['a bracket that does not end', 'cors: { origins: [', 'line 1'],
    ['a mapping in a mapping', 'a: b: c', 'line 1'],
    ['the same name twice', 'sandbox: true\nsandbox: false', 'line 2'],
    ['two documents', 'sandbox: true\n---\nsandbox: false', 'not valid YAML'],
    ['an alias of nothing', 'a: *nothing', 'not valid YAML'],
  ])('%s is a fault that says where', (_, text, where) => {
    const reported = fault(text)
    expect(reported).toStartWith('not valid YAML')
    expect(reported).toContain(where)
  })

  test.each([
    'providers:\n  x:\n    api_key: "sk-hunter2',
    'sk-hunter2: [',
    '"sk-hunter2" x',
    'providers: *sk-hunter2',
    'a: {\nsk-hunter2\n: : }',
  ])('repeats nothing of the source: %j', (text) => {
    expect(fault(text)).not.toContain('hunter2')
  })

  test('a bare variable within braces and brackets is read as one in quotes is, and nothing else is put in order', () => {
    const env = { KEY: 'sk-1', SPARE: 'sk-2' }
    const text = (rest: string): string => `providers:\n  x: { dialects: [openai-chat], base_url: "http://h/\${KEY}, \${SPARE}", ${rest} }`
    expect(read(text('api_key: ${KEY}, name: X'), env).providers['x']).toMatchObject({
      api_key: 'sk-1',
      name: 'X',
      base_url: 'http://h/sk-1, sk-2',
    })
    expect(read(text('name: X, api_key: [${KEY}, ${SPARE} ]'), env).providers['x']).toMatchObject({ api_key: ['sk-1', 'sk-2'] })
    expect(fault(text('api_key: ${KEY}'))).toBe('providers.x.base_url: the variable KEY is not set.')
    expect(fault(text('api_key: ${KEY} x'), env)).toStartWith('not valid YAML at line 2')
  })

  test('a tag that nobody knows is no warning that would show its line', async () => {
    const warnings: unknown[] = []
    const note = (warning: unknown): void => void warnings.push(warning)
    process.on('warning', note)
    expect(fault('sandbox: !!hunter2 true')).toStartWith('sandbox: ')
    await turn()
    process.off('warning', note)
    expect(warnings).toEqual([])
  })

  test('aliases that multiply are refused, not followed', () => {
    const bomb = [
      'a: &a [x, x, x, x, x, x, x, x, x, x]',
      ...[...'bcdefghi'].map((name, at) => `${name}: &${name} [${Array.from({ length: 10 }, () => `*${'abcdefgh'[at]}`).join(', ')}]`),
    ].join('\n')
    expect(fault(bomb)).toStartWith('not valid YAML')
  })

  test.each(['providers: &a [*a, *a]', 'a: &a { b: *a }', `a: ${'['.repeat(200)}${']'.repeat(200)}`])(
    'what has no end is a sentence: %s',
    (text) => {
      expect(fault(text)).toStartWith('nested too deeply')
    },
  )
})

describe('the check for a verb that needs nothing of the file', () => {
  const checked = (text: string, env: Record<string, string> = {}) => {
    const path = write(text)
    try {
      checkConfigFile(path, env)
    } catch (thrown) {
      return thrown instanceof SettingError ? thrown.message.slice(path.length + 2) : thrown
    }
    return 'accepted'
  }

  test.each([
    'providers: { x: { dialects: [openai-chat], base_url: "${A}", api_key: "${B}" } }',
    'providers: { x: { dialects: [openai-chat], base_url: "https://${A}.example/v1", api_key: [k, "${B}"] } }',
    'tools: { shell: { kind: http, url: "${A}", api_key: "${B}" } }',
    'cors: { origins: ["${A}"] }',
  ])('passes what hangs on a variable that is unset: %s', (text) => {
    expect(fault(text)).toContain('is not set.')
    expect(checked(text)).toBe('accepted')
  })

  test.each(['a: [', 'sandbox: perhaps', 'providers: { x: { api_key: "${A}", colour: red } }', '[1]'])(
    'has every other fault: %s',
    (text) => {
      expect(checked(text)).toBe(fault(text, { A: 'a' }))
      expect(checked(text)).not.toBe('accepted')
    },
  )

  test('holds a variable that is set to the schema', () => {
    expect(checked('cors: { origins: ["${A}"] }', { A: 'nowhere' })).toContain('cors.origins[0]')
  })
})

describe('the path', () => {
  test('that does not exist is a fault where it was named', () => {
    const path = join(directory, 'missing.yaml')
    expect(() => readConfigFile(path, {})).toThrow(new SettingError(`${path}: the configuration file cannot be read (ENOENT).`))
  })

  test('of a directory is a fault', () => {
    const path = join(directory, 'folder')
    mkdirSync(path)
    expect(() => readConfigFile(path, {})).toThrow('the configuration file cannot be read (EISDIR)')
  })
})

describe('a file that is read again', () => {
  test.each(['', '\n \n'])('is refused if nothing is in it any more: %j', (emptied) => {
    const path = write('sandbox: false')
    const read = createConfigReader(path, {})
    expect(read().sandbox).toBe(false)
    writeFileSync(path, emptied)
    for (const _ of [1, 2]) expect(read).toThrow(`${path}: nothing is in the configuration file any more.`)
    writeFileSync(path, '{}')
    expect(read().sandbox).toBe(true)
  })

  test('may be as empty as it was', () => {
    const read = createConfigReader(write(''), {})
    expect([read().sandbox, read().sandbox]).toEqual([true, true])
  })
})
