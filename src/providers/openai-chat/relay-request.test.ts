import { describe, expect, test } from 'bun:test'

import { sealProof } from '../../canonical/reasoning.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { SERVICE_FIELDS } from '../../request-fields/service-fields.ts'
import { encode, relay, text, user } from './encode.test-kit.ts'

const HISTORY = '"messages": [ {"role":"user","content":"H\\u0069"} ]'

test('a schema that the vendor does not accept is described to the model in words, without which JSON mode is refused', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const format = `"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":${JSON.stringify(schema)}}}`
  const own = relay(`{${HISTORY},${format}}`, { vendor: 'deepseek', model: 'deepseek-v4-pro' })
  const other = encode(
    { messages: [user(text('Hi'))], outputFormat: { type: 'json-schema', name: 's', schema } },
    { vendor: 'deepseek', model: 'deepseek-v4-pro' },
  )
  const words = { role: 'system', content: expect.stringContaining(`JSON Schema: ${JSON.stringify(schema)}`) as string }
  for (const { sent, warnings } of [own, other]) {
    expect(sent['messages']).toEqual([words, { role: 'user', content: 'Hi' }] as never)
    expect(sent['response_format']).toEqual({ type: 'json_object' })
    expect(warnings).toHaveLength(1)
  }
  expect(own.text).toContain('"H\\u0069"')
})

describe('an empty list of calls, as clients copy it from an answer', () => {
  const history = (calls: string): string =>
    `"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":${calls}},{"role":"user","content":"Go on"}]`

  test.each(['openai', 'mistral', 'groq'])('goes to no vendor that refuses it: %s', (vendor) => {
    const { sent, warnings } = relay(`{${history('[ ]')}}`, { vendor })
    expect(sent['messages']).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'user', content: 'Go on' },
    ])
    expect(JSON.stringify(sent)).not.toContain('tool_calls')
    expect(warnings).toEqual([])
  })

  test('takes nothing with it that was said', () => {
    const said = { role: 'assistant', content: 'Yes' }
    const { sent } = relay(
      JSON.stringify({
        messages: [
          { ...said, tool_calls: [] },
          { role: 'user', content: 'Go on' },
        ],
      }),
      { vendor: 'openai' },
    )
    expect(sent['messages']).toEqual([said, { role: 'user', content: 'Go on' }])
  })

  test('stays as it is where nothing is known of the server', () => {
    expect(relay(`{${history('[ ]')}}`, { vendor: 'acme' }).text).toContain(history('[ ]'))
  })
})

test.each(['openai', 'groq', 'mistral'])(
  'an empty list of texts beside calls, as Mistral’s SDK writes it, is no content at %s',
  (vendor) => {
    const call = { id: 'Df1cqWOle', type: 'function', function: { name: 'f', arguments: '{}' } }
    const messages = (content: readonly string[] | null): JsonObject[] => [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'Df1cqWOle', content: 'Yes' },
    ]
    const { sent } = relay(JSON.stringify({ messages: messages([]) }), { vendor })
    expect(sent['messages']).toEqual(messages(null))
  },
)

test.each(['groq', 'mistral'])('nulls of members that only other roles have do not reach %s, which refuses them', (vendor) => {
  const { sent } = relay('{"messages":[{"role":"user","content":"Hi","tool_calls":null,"tool_call_id": null}]}', { vendor })
  expect(sent['messages']).toEqual([{ role: 'user', content: 'Hi' }])
})

describe('a vendor’s words in a request of the same dialect', () => {
  test.each<[string, string, string, string, readonly string[]]>([
    [
      'untouched where nothing is known',
      'acme',
      '"top_a":0.1 , "max_completion_tokens":1e2,"verbosity":"low"',
      '"top_a":0.1 , "max_completion_tokens":1e2,"verbosity":"low"',
      [],
    ],
    ['what the vendor refuses is left out and told', 'openai', '"top_k":5,"temperature":1.0,"min_p":null', '"temperature":1.0', ['top_k']],
    ['what says nothing goes untold', 'groq', '"n":1,"logprobs":false,"modalities":["text"],"seed":1', '"seed":1', []],
    ['a limit goes under the name that the vendor knows, as written', 'mistral', '"max_completion_tokens":1e2', '"max_tokens":1e2', []],
    [
      'the newer of two limits wins, and the other one is told',
      'deepseek',
      '"max_tokens":5,"max_completion_tokens":7',
      '"max_tokens":7',
      ['max_tokens'],
    ],
    ['a null limit is none', 'deepseek', '"max_tokens":5,"max_completion_tokens":null', '"max_tokens":5', []],
    ['a vendor that knows both keeps the client’s', 'openai', '"max_tokens":5', '"max_tokens":5', []],
    ['a seed under another name', 'mistral', '"seed":1.0', '"random_seed":1.0', []],
    [
      'the router’s own words stay with a router',
      'openrouter',
      '"reasoning":{"effort":"high" },"top_a":1',
      '"reasoning":{"effort":"high" },"top_a":1',
      [],
    ],
    ['a switch', 'deepseek', '"reasoning":{"enabled":false}', '"thinking":{"type":"disabled"}', []],
    [
      'the vendor’s own word wins',
      'deepseek',
      '"reasoning":{"enabled":false},"thinking":{ "type":"enabled"}',
      '"thinking":{ "type":"enabled"}',
      [],
    ],
    ['an effort of the client’s own stays', 'deepseek', '"reasoning_effort": "max"', '"reasoning_effort": "max"', []],
    ['an effort for a vendor without efforts', 'alibaba', '"reasoning_effort":"none"', '"enable_thinking":false', []],
    [
      'both names of an effort are one',
      'openai',
      '"reasoning":{"effort":"high"},"reasoning_effort":"high"',
      '"reasoning_effort":"high"',
      [],
    ],
    [
      'hidden thinking is asked for where that is known, and left out of the answer elsewhere',
      'openai',
      '"include_reasoning":false',
      '',
      [],
    ],
    ['the limit of this service’s tools is no provider’s', 'openai', '"max_tool_calls":3', '', []],
  ])('%s', (_, vendor, given, sent, lost) => {
    const body = (members: string): string => `{"model":"one-1",${HISTORY}${members === '' ? '' : `,${members}`}}`
    const encoded = relay(body(given), { vendor })
    expect(JSON.parse(encoded.text)).toEqual(JSON.parse(body(sent)))
    if (lost.length === 0 && given === sent) expect(encoded.text).toBe(body(sent))
    expect(encoded.lost).toEqual(lost as string[])
    expect(encoded.text).toContain(HISTORY)
  })

  test('no field of the service ever leaves', () => {
    const { sent } = relay(`{"model":"a/b",${HISTORY},${SERVICE_FIELDS.map((name) => `"${name}":1`).join(',')}}`, { vendor: 'openrouter' })
    expect(Object.keys(sent)).toEqual(['model', 'messages'])
  })

  test('options of a stream are left out if the vendor has none', () => {
    expect(relay(`{"model":"a/b",${HISTORY},"stream":true,"stream_options":{}}`, { vendor: 'mistral' }).text).toBe(
      `{"model":"one-1",${HISTORY},"stream":true}`,
    )
  })
})

describe('the history that a client sends back', () => {
  const history = (message: object, vendor: string, model?: string) => {
    const { sent, lost } = relay(JSON.stringify({ model: 'a/b', messages: [message, ...('tool_calls' in message ? [answered] : [])] }), {
      vendor,
      ...(model === undefined ? {} : { model }),
    })
    const [only] = sent['messages'] as [object]
    return { only, lost }
  }
  const calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }]
  const answered = { role: 'tool', tool_call_id: 'c', content: 'ok' }
  const signed = { type: 'reasoning.text', text: 'Hm.', signature: 'EqQB', format: 'anthropic-claude-v1', index: 0 }
  const answer = { role: 'assistant', content: 'a' }
  const own = { type: 'reasoning.text', text: 'Hm.', format: 'unknown', index: 0 }

  test.each<[string, string, object, object, readonly string[]]>([
    ['thinking goes nowhere that has no place for it', 'groq', { ...answer, reasoning: 'Hm.', reasoning_content: 'Hm.' }, answer, []],
    [
      'with a warning where it had a proof',
      'openai',
      { ...answer, reasoning: 'Hm.', reasoning_details: [signed] },
      answer,
      ['messages[0]'],
    ],
    [
      'nulls and members of an answer go where they would be refused',
      'groq',
      { ...answer, refusal: null, annotations: [], function_call: null },
      answer,
      [],
    ],
    ...['groq', 'cerebras', 'xai'].map((vendor): [string, string, object, object, readonly string[]] => [
      `the index of a call and a prefix do not go to ${vendor}`,
      vendor,
      { ...answer, prefix: false, tool_calls: calls.map((call) => ({ index: 0, ...call })) },
      { ...answer, tool_calls: calls },
      [],
    ]),
    ...['deepseek', 'openai'].map((vendor): [string, string, object, object, readonly string[]] => {
      const said = { ...answer, prefix: false, tool_calls: calls.map((call) => ({ index: 0, ...call })) }
      const sent = vendor === 'deepseek' ? { ...said, reasoning_content: '' } : said
      return [`they stay for ${vendor}`, vendor, said, sent, []]
    }),
    ['a prefix stays', 'mistral', { ...answer, prefix: true }, { ...answer, prefix: true }, []],
    ['they stay elsewhere', 'openai', { ...answer, refusal: null, annotations: [] }, { ...answer, refusal: null, annotations: [] }, []],
    [
      'thinking goes back under the vendor’s name',
      'deepseek',
      { ...answer, reasoning: 'Hm.' },
      { ...answer, reasoning_content: 'Hm.' },
      [],
    ],
    ...['zai', 'fireworks', 'llamacpp'].map((vendor): [string, string, object, object, readonly string[]] => [
      `thinking goes back beside calls to ${vendor}`,
      vendor,
      { ...answer, reasoning: 'Hm.', tool_calls: calls },
      { ...answer, tool_calls: calls, reasoning_content: 'Hm.' },
      [],
    ]),
    ...['vllm', 'ollama'].map((vendor): [string, string, object, object, readonly string[]] => [
      `thinking goes back beside calls to ${vendor}, which knows its newer name alone`,
      vendor,
      { ...answer, reasoning_content: 'Hm.', tool_calls: calls },
      { ...answer, tool_calls: calls, reasoning: 'Hm.' },
      [],
    ]),
    [
      'once, where a client has it under both names',
      'vllm',
      { ...answer, reasoning: 'Hm.', reasoning_content: 'Hm.' },
      { ...answer, reasoning: 'Hm.' },
      [],
    ],
    ...['deepseek', 'moonshot', 'zai'].map((vendor): [string, string, object, object, readonly string[]] => [
      `thinking that came back in pieces alone goes to ${vendor} as its text`,
      vendor,
      { ...answer, reasoning_details: [own, { type: 'reasoning.summary', summary: ' So.', index: 1 }], tool_calls: calls },
      { ...answer, tool_calls: calls, reasoning_content: 'Hm. So.' },
      [],
    ]),
    ['calls without thinking stay so where none is missed', 'zai', { ...answer, tool_calls: calls }, { ...answer, tool_calls: calls }, []],
    ['the vendor’s own stays', 'deepseek', { ...answer, reasoning_content: 'Hm.' }, { ...answer, reasoning_content: 'Hm.' }, []],
    [
      'a turn with calls that another model made gets its place filled',
      'moonshot',
      { ...answer, tool_calls: calls },
      { ...answer, tool_calls: calls, reasoning_content: ' ' },
      [],
    ],
    [
      'marks of what to cache go where they would be refused',
      'openai',
      { role: 'user', content: [{ type: 'text', text: 'a', cache_control: {} }] },
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      ['messages[0]'],
    ],
    [
      'sealed proofs never leave',
      'acme',
      { ...answer, reasoning_details: [{ ...signed, signature: sealProof({ format: 'google-gemini-v1', kind: 'signature', data: 'x' }) }] },
      answer,
      ['messages[0]'],
    ],
    [
      'another model’s do not, where nothing is known of the vendor, nor their text',
      'acme',
      { ...answer, reasoning: 'Hm.', reasoning_details: [signed] },
      answer,
      ['messages[0]'],
    ],
    [
      'nor the pieces in which a stream told it',
      'acme',
      {
        ...answer,
        reasoning: 'Hm.',
        reasoning_details: [
          { type: 'reasoning.text', text: 'H', index: 0 },
          { type: 'reasoning.text', text: 'm.', index: 0 },
          { ...signed, text: '' },
          { type: 'reasoning.summary', summary: 'Hm.', index: 1 },
          { type: 'reasoning.encrypted', data: 'x', format: 'openai-responses-v1', index: 1 },
        ],
      },
      answer,
      ['messages[0]'],
    ],
    [
      'nor those that name no maker',
      'acme',
      { ...answer, reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', signature: 'EqQB', index: 0 }] },
      answer,
      ['messages[0]'],
    ],
    [
      'what may be the server’s own stays',
      'acme',
      { ...answer, reasoning: 'Hm.', reasoning_details: [own] },
      { ...answer, reasoning: 'Hm.', reasoning_details: [own] },
      [],
    ],
    [
      'also of a mixture',
      'acme',
      { ...answer, reasoning_details: [own, signed] },
      { ...answer, reasoning_details: [own] },
      ['messages[0]'],
    ],
  ])('%s', (_, vendor, given, sent, lost) => {
    expect(history(given, vendor)).toEqual({ only: sent, lost })
  })

  test('signatures go to their maker through a router, and to no other', () => {
    const given = { ...answer, reasoning_details: [signed] }
    expect(history(given, 'openrouter', 'anthropic/claude-opus-5')).toEqual({ only: given, lost: [] })
    expect(history(given, 'openrouter', 'openai/gpt-5.4')).toEqual({ only: answer, lost: ['messages[0]'] })
    // A self-hosted server may be a router too.
    expect(history(given, 'acme', 'anthropic/claude-opus-5')).toEqual({ only: given, lost: [] })
    expect(history(given, 'acme', 'x-ai/grok-5')).toEqual({ only: answer, lost: ['messages[0]'] })
  })

  test.each([
    ['anthropic-claude-v1', 'claude-sonnet-4-6', 'gpt-oss-20b'],
    ['anthropic-claude-v1', 'bedrock/us.anthropic.claude-sonnet-4-6-v1:0', 'llama-4'],
    ['openai-responses-v1', 'gpt-5.4', 'gpt-oss-20b'],
    ['google-gemini-v1', 'gemini-3.5-flash', 'gemma-4'],
    ['xai-responses-v1', 'grok-5', 'llama-4'],
  ])('proofs in %s go back to a server of your own whose model is %s, and not to %s', (format, model, another) => {
    const given = { ...answer, reasoning_details: [{ ...signed, format }] }
    expect(history(given, 'acme', model)).toEqual({ only: given, lost: [] })
    expect(history(given, 'acme', another)).toEqual({ only: answer, lost: ['messages[0]'] })
  })

  test('a router gets the ids of the makers, and a server that nobody knows what the client has', () => {
    const placed = [
      { type: 'reasoning.encrypted', data: 'x', format: 'openai-responses-v1', id: 'rs_1_pbt0t2c1', index: 0 },
      { type: 'reasoning.encrypted', data: 'y', format: 'openai-responses-v1', id: 'pbt1t2c2', index: 1 },
      { type: 'reasoning.encrypted', data: 'z', format: 'openai-responses-v1', id: 'rs_3', index: 2 },
    ]
    const given = { ...answer, reasoning_details: placed }
    const bare = [
      { ...placed[0], id: 'rs_1' },
      { type: 'reasoning.encrypted', data: 'y', format: 'openai-responses-v1', index: 1 },
      placed[2],
    ]
    expect(history(given, 'openrouter', 'openai/gpt-5.4')).toEqual({ only: { ...answer, reasoning_details: bare }, lost: [] })
    expect(history(given, 'acme', 'openai/gpt-5.4')).toEqual({ only: given, lost: [] })
  })

  test.each([
    ['xai-responses-v1', 'x-ai/grok-5', 'meta-llama/llama-5'],
    ['azure-openai-responses-v1', 'openai/gpt-5.4', 'x-ai/grok-5'],
    ['meta-responses-v1', 'meta-llama/llama-5', 'openai/gpt-5.4'],
    ['google-gemini-v1', 'google/gemini-3', 'anthropic/claude-opus-5'],
  ])('%s goes back to %s and not to %s', (format, maker, other) => {
    const given = { ...answer, reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', format, index: 0 }] }
    expect(history(given, 'openrouter', maker)).toEqual({ only: given, lost: [] })
    expect(history(given, 'openrouter', other)).toEqual({ only: answer, lost: ['messages[0]'] })
  })
})
