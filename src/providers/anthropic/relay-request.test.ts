import { describe, expect, test } from 'bun:test'

import { sealProof } from '../../canonical/reasoning.ts'
import { relay } from './encode.test-kit.ts'

describe('a client of the same dialect', () => {
  const messages = '"messages" : [ {"role":"user", "content":"H\\u0069"} ]'

  test.each<[string, string, string, readonly string[]]>([
    [
      'keeps every other byte',
      `{ "max_tokens":1e2 ,"model": "a/b","x":{"a" :[1.0 ]},${messages},"speed":"fast" }`,
      `{ "max_tokens":1e2 ,"model": "it-1","x":{"a" :[1.0 ]},${messages},"speed":"fast" }`,
      [],
    ],
    [
      'loses the fields of this service, and nulls',
      `{"model":"a/b","max_tokens":5,"fallbacks":[{"model":"c/d"}],"provider":{},${messages},"temperature":null,"session_id":"s"}`,
      `{"model":"it-1","max_tokens":5,${messages}}`,
      [],
    ],
    ['gets the cap that the dialect requires', `{"model":"a/b",${messages}}`, `{"model":"it-1",${messages},"max_tokens":8192}`, []],
    [
      'names its user as the dialect does',
      `{"model":"a/b","max_tokens":5,"user":"u",${messages}}`,
      `{"model":"it-1","max_tokens":5,${messages},"metadata":{"user_id":"u"}}`,
      [],
    ],
    [
      'keeps a user that the dialect’s own field names',
      `{"model":"a/b","max_tokens":5,"user":"u","metadata":{"user_id":"v"},${messages}}`,
      `{"model":"it-1","max_tokens":5,"metadata":{"user_id":"v"},${messages}}`,
      [],
    ],
    [
      'keeps the dialect’s tier',
      `{"model":"a/b","max_tokens":5,"service_tier":"standard_only",${messages}}`,
      `{"model":"it-1","max_tokens":5,"service_tier":"standard_only",${messages}}`,
      [],
    ],
    [
      'has another’s tier translated',
      `{"model":"a/b","max_tokens":5,"service_tier":"flex",${messages}}`,
      `{"model":"it-1","max_tokens":5,${messages}}`,
      ['unsupported_field service_tier'],
    ],
    [
      'has the tools of this service translated',
      `{"model":"a/b","max_tokens":5,"tools":[{"type":"service:web_search","parameters":{"max_uses":2}},{"type":"openrouter:datetime"}],${messages}}`,
      `{"model":"it-1","max_tokens":5,"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":2}],${messages}}`,
      ['unsupported_field tools[1]'],
    ],
  ])('%s', (_, given, sent, reported) => {
    expect(relay(given, { model: 'it-1' })).toEqual({ text: sent, reported })
  })

  describe('the line for Anthropic’s billing', () => {
    const line = 'x-anthropic-billing-header: cc_version=2.1.9; cch=ab\\"cd;'
    const body = (system: string): string => `{"model":"it-1","max_tokens":5,"system": ${system},${messages}}`

    test.each([
      [`[ {"type":"text","text":"${line}"}, {"type":"text" , "text":"Be kind."} ]`, `[ {"type":"text" , "text":"Be kind."} ]`],
      [`[{"type":"text","text":"${line}\\nBe kind."}]`, `[{"type":"text","text":"Be kind."}]`],
      [`"${line}\\n\\nBe kind."`, `"Be kind."`],
    ])('goes to no model that is no Claude: %s', (given, sent) => {
      expect(relay(body(given), { model: 'it-1', provider: 'acme' })).toEqual({ text: body(sent), reported: [] })
    })

    test.each([`[{"type":"text","text":"${line}"}]`, `"${line}"`])('is no system prompt of its own: %s', (given) => {
      expect(relay(body(given), { model: 'it-1', provider: 'acme' })).toEqual({
        text: `{"model":"it-1","max_tokens":5,${messages}}`,
        reported: [],
      })
    })

    test.each([
      [`{"role":"system","content":"${line}\\nBe kind."}`, `{"role":"system","content":"Be kind."}`],
      [
        `{"role":"system","content":[{"type":"text","text":"${line}"}, {"type":"text","text":"Be kind."}]}`,
        `{"role":"system","content":[{"type":"text","text":"Be kind."}]}`,
      ],
      [`{"role":"system","content":"${line}"}`, ''],
      [`{"role":"user","content":"${line}"}`, `{"role":"user","content":"${line}"}`],
    ])('goes to no model that is no Claude in a system message among the turns either: %s', (given, sent) => {
      const turns = (last: string): string => `{"model":"it-1","max_tokens":5,"messages":[{"role":"user","content":"Hi"}${last}]}`
      expect(relay(turns(`,${given}`), { model: 'it-1', provider: 'acme' }).text).toBe(turns(sent === '' ? '' : `,${sent}`))
      expect(relay(turns(`,${given}`), { model: 'it-1' }).text).toBe(turns(`,${given}`))
    })

    test('stays where it is quoted, at Claude, and at Anthropic', () => {
      const quoted = body(`"Leave out ${line}"`)
      expect(relay(quoted, { model: 'it-1', provider: 'acme' }).text).toBe(quoted)
      const given = body(`[{"type":"text","text":"${line}"}]`)
      expect(relay(given, { model: 'it-1' }).text).toBe(given)
      const claudes = given.replace('it-1', 'claude-opus-4-5')
      expect(relay(claudes, { model: 'claude-opus-4-5', provider: 'acme' }).text).toBe(claudes)
    })
  })

  test('foreign thinking that was sealed into its history goes no further; its own is untouched', () => {
    const foreign = sealProof({ format: 'openai-responses-v1', kind: 'encrypted', data: 'x' })
    const own = sealProof({ format: 'anthropic-claude-v1', kind: 'signature', data: 'sig', model: 'anthropic/it' })
    const body = JSON.stringify({
      model: 'a/b',
      max_tokens: 5,
      messages: [
        { role: 'user', content: 'u' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'T', signature: foreign },
            { type: 'text', text: 'a' },
          ],
        },
        { role: 'user', content: 'v' },
        { role: 'assistant', content: [{ type: 'redacted_thinking', data: foreign }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'O', signature: own },
            { type: 'thinking', thinking: 'P', signature: 'native' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'user', content: 'w' },
      ],
    })
    const { text, reported } = relay(body)
    expect((JSON.parse(text) as { messages: unknown }).messages).toEqual([
      { role: 'user', content: 'u' },
      { role: 'assistant', content: [{ type: 'text', text: 'a' }] },
      { role: 'user', content: 'v' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'O', signature: 'sig' },
          { type: 'thinking', thinking: 'P', signature: 'native' },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'user', content: 'w' },
    ])
    expect(reported).toEqual(['unsupported_field messages[1]', 'unsupported_field messages[3]'])
  })
})

describe('sound and film in a message to Claude', () => {
  const asking = (part: object): string =>
    JSON.stringify({ model: 'a/b', max_tokens: 5, messages: [{ role: 'user', content: [{ type: 'text', text: 'What is said?' }, part] }] })

  test.each([
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
    { type: 'video_url', video_url: { url: 'https://a.example/b.mp4' } },
  ])('400: it is named: $type', (part) => {
    expect(() => relay(asking(part), { model: 'claude-sonnet-4-5' })).toThrow(/^messages\[0\]: Anthropic .*takes no (?:audio|video)/)
    expect(relay(asking(part), { model: 'a-model-that-hears' }).reported).toEqual([])
  })

  test('their names in what is said are words like others', () => {
    expect(relay(asking({ type: 'text', text: '"input_audio"' }), { model: 'claude-sonnet-4-5' }).reported).toEqual([])
  })
})
