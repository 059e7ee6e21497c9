import { describe, expect, test } from 'bun:test'

import { HIDDEN_MARK, secretsIn, shownTool, withTexts } from './preset-secrets.ts'

const MCP = {
  type: 'mcp',
  server_label: 'crm',
  server_url: 'https://mcp.example.com/sse?token=URL-SECRET',
  authorization: 'AUTH-SECRET',
  headers: { 'X-Custom': 'HEADER-SECRET', 'Content-Type': 'application/json' },
  connector: { clientSecret: 'CONNECTOR-SECRET', env: { HOME_DIR: 'ENV-SECRET' } },
}
const ADVISOR = { type: 'service:advisor', parameters: { name: 'lawyer', instructions: 'Think like a lawyer.', api_key: 'KEY-SECRET' } }
const FUNCTION = {
  type: 'function',
  name: 'log_in',
  description: 'Logs in',
  parameters: { type: 'object', properties: { password: { type: 'string' }, prompt: { default: 'x' } } },
}

describe('what a preset hides', () => {
  test('is every credential of its tools, by name or inside an address, and their instructions', () => {
    const found = secretsIn({ tools: [MCP, ADVISOR, FUNCTION], plugins: [{ id: 'web', token: 'PLUGIN-SECRET' }], prompt_cache_key: 'open' })
    expect(found.map(({ value, kind }) => [value, kind])).toEqual([
      ['https://mcp.example.com/sse?token=URL-SECRET', 'credential'],
      ['AUTH-SECRET', 'credential'],
      ['HEADER-SECRET', 'credential'],
      ['CONNECTOR-SECRET', 'credential'],
      ['ENV-SECRET', 'credential'],
      ['Think like a lawyer.', 'instructions'],
      ['KEY-SECRET', 'credential'],
      ['PLUGIN-SECRET', 'credential'],
    ])
  })

  test('is the value of each secret of a list, and not its name or the domain that it is for', () => {
    const allowed = {
      type: 'allowlist',
      allowed_domains: ['a.example'],
      domain_secrets: [{ domain: 'a.example', name: 'n', value: 'DOMAIN-SECRET' }],
    }
    const tools = [
      { type: 'shell', environment: { type: 'container_auto', network_policy: allowed } },
      { type: 'code_interpreter', container: { type: 'auto', network_policy: allowed } },
      { type: 'later', requestHeaders: [{ name: 'X-Custom', value: 'PAIR-SECRET' }], max_tokens: { value: 5, name: 'no secret' } },
    ]
    expect(secretsIn({ tools }).map(({ value, kind }) => [value, kind])).toEqual([
      ['DOMAIN-SECRET', 'credential'],
      ['DOMAIN-SECRET', 'credential'],
      ['PAIR-SECRET', 'credential'],
    ])
  })

  test('is what a tool of a server is set to, also where the tool has a name', () => {
    expect(secretsIn({ tools: [{ ...ADVISOR, name: 'named' }] }).map(({ value }) => value)).toEqual(['Think like a lawyer.', 'KEY-SECRET'])
  })

  test('is not a schema, whose properties may be called so', () => {
    expect(secretsIn({ tools: [FUNCTION, { name: 'f', input_schema: { properties: { api_key: { const: 'x' } } } }] })).toEqual([])
    expect(secretsIn({ tools: [{ type: 'function', function: { name: 'f', parameters: { token: 'x' } } }] })).toEqual([])
    expect(secretsIn({ response_format: { json_schema: { schema: { secret: 'x' } } } })).toEqual([])
  })

  test('is taken out and put back where it stood', () => {
    const config = { tools: [MCP, ADVISOR], temperature: 1 }
    const secrets = secretsIn(config)
    const open = withTexts(
      config,
      secrets.map(({ path }) => ({ path, value: '' })),
    )
    expect(JSON.stringify(open)).not.toMatch(/SECRET|lawyer\./)
    expect(withTexts(open, secrets)).toEqual(config)
  })

  test('is put back in one pass, however many secrets there are', () => {
    let looks = 0
    class Counted<Item> extends Array<Item> {
      override map<Made>(make: (item: Item, at: number, all: Item[]) => Made): Made[] {
        looks += this.length
        return super.map(make)
      }
    }
    const tools = Array.from({ length: 1000 }, (_, at) => ({ type: 'mcp', server_label: `s${at}`, authorization: `SECRET-${at}` }))
    const texts = secretsIn({ tools }).map(({ path }, at) => ({ path, value: `other ${at}` }))
    const changed = withTexts({ tools: Counted.from(tools) }, texts)
    expect(looks).toBe(1000)
    expect(JSON.parse(JSON.stringify(changed))).toEqual({ tools: tools.map((tool, at) => ({ ...tool, authorization: `other ${at}` })) })
  })
})

test('a tool as it is shown: a mark for each credential and for the texts that are hidden; the rest as it is', () => {
  expect(shownTool(ADVISOR, ['Think like a lawyer.'])).toEqual({
    type: 'service:advisor',
    parameters: { name: 'lawyer', instructions: HIDDEN_MARK, api_key: HIDDEN_MARK },
  })
  expect(shownTool(ADVISOR, [])).toMatchObject({ parameters: { instructions: 'Think like a lawyer.', api_key: HIDDEN_MARK } })
  expect(shownTool(FUNCTION, [])).toBe(FUNCTION)
})
