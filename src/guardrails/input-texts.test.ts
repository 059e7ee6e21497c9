import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'

import { growth, LINEAR } from '../../test/support/growth.ts'
import { BODIES, put, stringsOf } from '../../test/support/whole-bodies.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import { inputTexts } from './input-texts.ts'
import { atOnce } from '../lib/steps.ts'

// The bodies are large, and the machine may be busy with other work.
setDefaultTimeout(300_000)

const read = (body: unknown) => atOnce(inputTexts(JsonBody.read(typeof body === 'string' ? body : JSON.stringify(body))))
const textsOf = (body: unknown): string[] => read(body).texts.map(({ value }) => value)
const byUser = (body: unknown): string[] =>
  read(body)
    .texts.filter((text) => text.byUser)
    .map(({ value }) => value)

describe('everything that a model reads is looked at', () => {
  test('chat: messages of every role, parts of every kind, calls and results, names', () => {
    expect(
      textsOf({
        model: 'm',
        user: 'jane@example.com',
        messages: [
          { role: 'system', content: 'one' },
          {
            role: 'user',
            name: 'two',
            content: [
              { type: 'text', text: 'three' },
              { type: 'novelty', payload: { deep: ['four'] } },
            ],
          },
          {
            role: 'assistant',
            content: null,
            refusal: 'five',
            reasoning: 'six',
            tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{"a":"seven"}' } }],
          },
          { role: 'tool', tool_call_id: 'x', content: 'eight' },
        ],
        prediction: { type: 'content', content: 'nine' },
      }),
    ).toEqual(
      ['jane@example.com', 'one', 'two', 'three', 'novelty', 'deep', 'four', 'five', 'six'].concat([
        'x',
        'f',
        '{"a":"seven"}',
        'x',
        'eight',
        'nine',
      ]),
    )
  })

  test('a number that stands alone under a name that no dialect knows; one of a known field is a setting', () => {
    expect(textsOf({ model: 'm', customer_card: 4111111111111111, seed: 4111111111111111, temperature: 1 })).toEqual(['4111111111111111'])
  })

  test('messages: a message that only changes the effort says nothing', () => {
    expect(textsOf({ messages: [{ role: 'system', content: [], output_config: { effort: 'low' } }] })).toEqual([])
    expect(textsOf({ messages: [{ role: 'system', content: 'one', output_config: { effort: 'my@mail.example' } }] })).toEqual([
      'one',
      'my@mail.example',
    ])
  })

  test('messages: system as text or blocks, tool input as an object with numbers and names, results', () => {
    expect(
      textsOf({
        system: [{ type: 'text', text: 'one' }],
        messages: [
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'x', name: 'f', input: { card: 4111111111111111, 'jane@example.com': 'two' } }],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: [{ type: 'text', text: 'three' }] }] },
        ],
      }),
    ).toEqual(['one', 'x', 'f', 'card', '4111111111111111', 'jane@example.com', 'two', 'x', 'three'])
  })

  test('responses: instructions, text input, items; embeddings and prompts', () => {
    expect(textsOf({ instructions: 'one', input: 'two' })).toEqual(['one', 'two'])
    expect(
      textsOf({
        input: [
          { type: 'function_call_output', call_id: 'x', output: 'one' },
          { role: 'user', content: [{ type: 'input_text', text: 'two' }] },
        ],
      }),
    ).toEqual(['x', 'one', 'two'])
    expect(textsOf({ input: ['one', 'two'] })).toEqual(['one', 'two'])
    expect(textsOf({ prompt: 'one' })).toEqual(['one'])
  })

  test('tools and schemas: descriptions, names of properties, values to choose from', () => {
    expect(
      textsOf({
        tools: [
          {
            type: 'function',
            function: {
              name: 'f',
              description: 'one',
              parameters: { properties: { a: { type: 'string', description: 'two', enum: ['x'] } } },
            },
          },
        ],
        response_format: { type: 'json_schema', json_schema: { schema: { description: 'three' } } },
      }),
    ).toEqual(['f', 'one', 'a', 'two', 'x', 'three'])
  })

  test('but not pictures and other bytes, where text may not stand', () => {
    const bytes = Buffer.from('\x89PNG\r\n\x1a\n'.repeat(50), 'latin1').toString('base64')
    expect(
      textsOf({
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image_url', image_url: { url: `data:image/png;base64,${bytes}` } },
              { type: 'document', source: { type: 'text', data: 'plain text' } },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: bytes } },
              { type: 'text', text: `data:image/png;base64,${bytes}` },
            ],
          },
        ],
      }),
    ).toEqual(['plain text', `data:image/png;base64,${bytes}`])
  })
})

describe('what is no text', () => {
  const content = (...parts: unknown[]) => ({ messages: [{ role: 'user', content: parts }] })

  test('words that a dialect fixes and ids that machines made; any other word or id in their place is text', () => {
    expect(
      textsOf({
        messages: [
          {
            role: 'assistant',
            tool_calls: [{ id: 'call_0123456789abcdefABCD', type: 'function', function: { name: 'f', arguments: '' } }],
          },
          { role: 'tool', tool_call_id: 'toolu_01A09q90qw90lq917835lq9', content: [{ type: 'text', text: 'one' }] },
          { role: 'PROJ-1', tool_call_id: 'PROJ-2', content: [{ type: 'PROJ-3' }] },
        ],
        tools: [{ type: 'web_search_20250305', name: 'web_search' }],
        reasoning_effort: 'high',
        verbosity: 'PROJ-4',
      }),
    ).toEqual(['f', 'one', 'PROJ-1', 'PROJ-2', 'PROJ-3', 'web_search', 'PROJ-4'])
  })

  test('a document in base64 is the text that it spells, whatever it is called, and is written in base64 again', () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const document = (media_type: string, text: string) => ({
      type: 'document',
      source: { type: 'base64', data: base64(text), media_type },
    })
    for (const type of ['text/plain', 'application/pdf', 'application/octet-stream']) {
      const { texts, replace } = read(content(document(type, 'jane@example.com')))
      const at = texts.findIndex(({ value }) => value === 'jane@example.com')
      expect(at).toBeGreaterThanOrEqual(0)
      expect(JSON.parse(atOnce(replace(new Map([[at, '[EMAIL]']]))).text)).toEqual(content(document(type, '[EMAIL]')))
    }
    expect(textsOf(content(document('text/plain', '\0jane')))).toEqual(['\0jane'])
    const file = (file_data: string) => content({ type: 'file', file: { filename: 'x', file_data } })
    expect(textsOf(file(`data:text/plain;base64,${base64('jane')}`))).toEqual(['x', 'jane'])
    expect(textsOf(file('data:text/plain,jane%40example.com'))).toEqual(['x', 'jane@example.com'])
    // Data URLs are decoded in every spelling that parsers accept.
    const said = base64('jane@example.com')
    for (const written of [
      ` \n data:text/plain;base64,${said}`,
      `DA\tTA:text/plain;BASE64,${said}`,
      `data:text/plain;a=1;b=2;c=3;d=4;e=5;f=${'x'.repeat(300)};base64,${said}`,
      `data:text/plain; base64 ,${said}`,
      `data:;base64,%${said.charCodeAt(0).toString(16)}${said.slice(1)}`,
    ])
      expect(textsOf(file(written))).toContain('jane@example.com')
    expect(textsOf(file('data:x;base64,jane@example.com'))).toEqual(['x', 'data:x;base64,jane@example.com'])
  })
})

test('what is written in tag characters, which nobody sees and models read, is a text of its own', () => {
  const tags = [...'PROJ-1'].map((character) => String.fromCodePoint(0xe0000 + character.charCodeAt(0))).join('')
  const { texts } = read({ messages: [{ role: 'user', content: `Hello${tags}!` }] })
  expect(texts.map(({ value, isFixed }) => [value, isFixed])).toEqual([
    [`Hello${tags}!`, false],
    ['PROJ-1', true],
  ])
})

test('tag characters are read in steps, and none is lost between two', () => {
  const tags = (count: number): string => '\u{e0041}'.repeat(count)
  const stepsOf = (content: string) => {
    const reading = inputTexts(JsonBody.read(JSON.stringify({ messages: [{ role: 'user', content }] })))
    for (let count = 0; ; count += 1) {
      const { done, value } = reading.next()
      if (done === true) return { count, hidden: value.texts.at(-1)?.value }
    }
  }
  const few = stepsOf(tags(1))
  for (const before of ['', 'a']) {
    const many = stepsOf(before + tags(100_000))
    expect(many.count).toBeGreaterThan(few.count + 10)
    expect(many.hidden).toBe('A'.repeat(100_000))
  }
})

test('the definition of a tool that the client runs has no credentials: the model reads it, whatever its members are called', () => {
  const schema = { properties: { headers: { description: 'one' } }, headers: { token: 'two' } }
  const credentials = (body: unknown): string[] => read(body).texts.flatMap(({ value, isCredential }) => (isCredential ? [value] : []))
  expect(credentials({ tools: [{ type: 'function', function: { name: 'f', parameters: schema } }] })).toEqual([])
  expect(credentials({ tools: [{ parameters: schema, name: 'f', type: 'function' }] })).toEqual([])
  expect(credentials({ tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f', parameters: schema }] }] })).toEqual(
    [],
  )
  expect(credentials({ tools: [{ name: 'f', input_schema: schema, input_examples: [{ api_key: 'three' }] }] })).toEqual([])
  expect(credentials({ functions: [{ name: 'f', parameters: schema }], tool_choice: { token: 'three' } })).toEqual([])
  const server = { type: 'mcp', server_label: 's', headers: { 'X-Name': 'four' }, authorization: 'five' }
  expect(credentials({ tools: [server], mcp_servers: [{ authorization_token: 'six' }] })).toEqual(['four', 'five', 'six'])
})

test('of the options of plugins, those are read that reach a model or a search', () => {
  const plugins = [
    { id: 'web', engine: 'exa', search_prompt: 'one', user_location: { type: 'approximate', city: 'two' }, include_domains: ['three'] },
    { id: 'alignment', rules: ['four', 'five'], mode: 'audit' },
    { id: 'auto-router', allowed_models: ['v/*'] },
  ]
  expect(textsOf({ plugins })).toEqual(['one', 'approximate', 'city', 'two', 'three', 'four', 'five'])
})

describe('a marker is found at every position', () => {
  test.each(Object.entries(BODIES))('%s', (_, body) => {
    const positions = [...stringsOf(body)]
    expect(positions.length).toBeGreaterThan(20)
    fc.assert(
      fc.property(fc.constantFrom(...positions), fc.constantFrom('PROJ-4711', 'jane@example.com'), (path, marker) => {
        const planted = put(body, path, marker)
        expect(textsOf(planted).some((text) => text.includes(marker))).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})

describe('time', () => {
  const results = (count: number) => ({
    messages: [{ role: 'user', content: Array.from({ length: count }, () => ({ type: 'tool_result', tool_use_id: 'x', content: 'y' })) }],
  })
  const messages = (count: number) => ({
    messages: Array.from({ length: count }, () => ({ role: 'user', content: [{ type: 'text', text: 'x' }] })),
  })
  const escapes = (count: number) => ({ messages: [{ role: 'user', content: '\\'.repeat(count * 100) }] })

  test.each(Object.entries({ results, messages, escapes }))('grows with the length of the body, and no faster: %s', (_, bodyOf) => {
    const workOn = (size: number) => {
      const body = JsonBody.ofParsed(JSON.stringify(bodyOf(size)))
      return () => void atOnce(inputTexts(body))
    }
    expect(growth(workOn, 7500)).toBeLessThan(LINEAR)
  })
})

describe('what the user himself says', () => {
  test('is told from what system, model and tools say, also where the role comes last or is written with escapes', () => {
    expect(
      byUser({
        messages: [
          { content: 'one', role: 'user' },
          { role: 'assistant', content: 'no' },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'x', content: 'no' },
              { type: 'text', text: 'two' },
            ],
          },
          { role: 'tool', tool_call_id: 'x', content: 'no' },
        ],
        system: 'no',
      }),
    ).toEqual(['one', 'two'])
    const escaped = read(String.raw`{"messages":[{"\u0072ole":"us\u0065r","content":"one"}]}`)
    expect(escaped.texts).toMatchObject([{ value: 'one', byUser: true }])
  })

  test('includes a text input, strings of an input, and prompts', () => {
    expect(byUser({ input: 'one', instructions: 'no' })).toEqual(['one'])
    expect(byUser({ input: ['one'] })).toEqual(['one'])
    expect(byUser({ prompt: 'one' })).toEqual(['one'])
  })
})

describe('replacing', () => {
  test('touches no byte beside the text: spaces, escapes, number forms and order stay', () => {
    const body = String.raw`{ "seed" : 1.50e1,"messages":[ {"role":"user", "content":"a\u0041b"} ,{"content" : "jane", "role":"\u0075ser"}],"x": [1.0] }`
    const { texts, replace } = read(body)
    const index = texts.findIndex(({ value }) => value === 'jane')
    expect(atOnce(replace(new Map([[index, 'a "quote"']]))).text).toBe(body.replace('"jane"', String.raw`"a \"quote\""`))
  })

  test('several at once, numbers and names of members too', () => {
    const body = '{"messages":[{"role":"assistant","content":[{"input":{"a@b.io":4111111111111111}}]}],"system":"s"}'
    const { texts, replace } = read(body)
    expect(texts.map(({ value }) => value)).toEqual(['a@b.io', '4111111111111111', 's'])
    expect(
      atOnce(
        replace(
          new Map([
            [0, '[EMAIL]'],
            [1, '[CREDIT_CARD]'],
            [2, 't'],
          ]),
        ),
      ).text,
    ).toBe('{"messages":[{"role":"assistant","content":[{"input":{"[EMAIL]":"[CREDIT_CARD]"}}]}],"system":"t"}')
  })
})
