import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { sealProof, UNSIGNED } from '../../canonical/reasoning.ts'
import { relay } from './encode.test-kit.ts'

const OLD = 'claude-sonnet-4-5'
const NEW = 'claude-opus-4-8'

const user = (...content: readonly object[]): object => ({ role: 'user', content })
const assistant = (...content: readonly object[]): object => ({ role: 'assistant', content })
const text = (said: string): object => ({ type: 'text', text: said })
const call = (id: string, input: unknown = {}): object => ({ type: 'tool_use', id, name: 'f', input })
const result = (id: string, content: unknown = 'ok'): object => ({ type: 'tool_result', tool_use_id: id, content })
const thinking = { type: 'thinking', thinking: 'T', signature: 'sig' }
const HI = { role: 'user', content: 'Hi' }

const bodyOf = (messages: readonly unknown[], more: object = {}): string =>
  JSON.stringify({ model: 'a/b', max_tokens: 5000, messages, ...more })

const sent = (messages: readonly unknown[], { model = OLD, ...more }: { readonly model?: string; readonly thinking?: object } = {}) => {
  const relayed = relay(bodyOf(messages, more), { model })
  const { messages: out, thinking: asked } = JSON.parse(relayed.text) as { messages: unknown; thinking?: unknown }
  return { messages: out, reported: relayed.reported, ...(asked === undefined ? {} : { thinking: asked }) }
}

test('a picture that an image model drew in an earlier turn is the user’s next block for Claude, which draws none', () => {
  const drawn = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
  expect(sent([HI, assistant(text('Here.'), drawn), user(text('Larger'))])).toEqual({
    messages: [HI, assistant(text('Here.')), user(text('The picture that you made:'), drawn), user(text('Larger'))],
    reported: [],
  })
})

describe('calls and their results', () => {
  test('two calls with the same id are distinguished, each with its result', () => {
    const given = [HI, assistant(call('a'), call('a')), user(result('a', '1'), result('a', '2'))]
    expect(sent(given)).toEqual({
      messages: [HI, assistant(call('a'), call('a_2')), user(result('a', '1'), result('a_2', '2'))],
      reported: [],
    })
  })

  test('a call without a result gets one that says so, also where it ends the conversation', () => {
    const answer = user(result('a', 'This call was not answered.'))
    for (const last of [[], [{ role: 'user', content: 'Never mind' }]])
      expect(sent([HI, assistant(call('a')), ...last])).toEqual({
        messages: [HI, assistant(call('a')), answer, ...last],
        reported: ['mapped_field messages[1]'],
      })
  })

  test('a result without a call is text of the user, with its pictures', () => {
    const picture = { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } }
    expect(sent([user(result('x', [text('Go on.'), picture]), text('Hi'))])).toEqual({
      messages: [user(text('Go on.'), picture, text('Hi'))],
      reported: ['mapped_field messages[0]'],
    })
  })

  test('a result without a call that ends the beginning of an answer loses the white space at its end', () => {
    expect(sent([HI, assistant(result('x', [text('Hello'), text('there ')]))])).toEqual({
      messages: [HI, assistant(text('Hello'), text('there'))],
      reported: ['mapped_field messages[1]', 'mapped_field messages[1]'],
    })
  })

  test('a result after text is moved before it', () => {
    expect(sent([HI, assistant(call('a')), user(text('So:'), result('a'))])).toEqual({
      messages: [HI, assistant(call('a')), user(result('a'), text('So:'))],
      reported: [],
    })
  })

  test('an input that is no object becomes an empty one', () => {
    expect(sent([HI, assistant(call('a', 'text')), user(result('a'))])).toEqual({
      messages: [HI, assistant(call('a')), user(result('a'))],
      reported: ['mapped_field messages[1]'],
    })
  })

  test('a call in a turn of the user is left out', () => {
    expect(sent([user(text('Hi'), call('a'))])).toEqual({ messages: [user(text('Hi'))], reported: ['mapped_field messages[0]'] })
  })
})

describe('text without a visible character', () => {
  test('is left out, with a warning if it was not empty', () => {
    const given = [user(text('Hi'), text('')), assistant(text('a')), { role: 'assistant', content: '' }, user(text(' '), text('b'))]
    expect(sent(given)).toEqual({
      messages: [user(text('Hi')), assistant(text('a')), user(text('b'))],
      reported: ['unsupported_field messages[3]'],
    })
  })

  test('is left out of results and of the system prompt', () => {
    const given = [HI, assistant(call('a')), user(result('a', [text(''), text('r')]))]
    const relayed = relay(bodyOf(given, { system: [text('\n'), text('S')] }), { model: OLD })
    expect(JSON.parse(relayed.text)).toMatchObject({
      system: [text('S')],
      messages: [HI, assistant(call('a')), user(result('a', [text('r')]))],
    })
  })

  test.each([
    ['nothing', null],
    ['an empty text', ''],
    ['an empty list', []],
    ['white space', [text(' ')]],
  ])('the result of a failed tool says so where it said %s', (_, content) => {
    const { messages, reported } = sent([HI, assistant(call('a')), user({ ...result('a', content), is_error: true })])
    expect(messages).toEqual([HI, assistant(call('a')), user({ ...result('a', 'The tool failed without a message.'), is_error: true })])
    expect(reported).toEqual([])
  })

  test('the result of a failed tool keeps its picture and loses the mark, which is reported', () => {
    const picture = { type: 'image', source: { type: 'url', url: 'https://x.example/a.png' } }
    const { messages, reported } = sent([HI, assistant(call('a')), user({ ...result('a', [text('r'), picture]), is_error: true })])
    expect(messages).toEqual([HI, assistant(call('a')), user(result('a', [text('r'), picture]))])
    expect(reported).toEqual(['unsupported_field messages[2]'])
  })

  test('400: a last question of nothing else', () => {
    expect(() => sent([HI, assistant(text('a')), user(text(' '))])).toThrow('messages[2]: ')
  })
})

describe('white space that a Claude wrote among the blocks of its answer', () => {
  const cited = { ...text('Ruby 4.0.6 is stable.'), citations: [] }
  const call = { type: 'tool_use', id: 'a', name: 'f', input: {} }

  test.each([
    ['between two texts', [cited, text(' '), text('It came out in July.')]],
    ['before a call', [text(' '), call]],
  ])('goes back as it came: %s', (_, blocks) => {
    const answer = blocks.includes(call) ? user({ type: 'tool_result', tool_use_id: 'a', content: 'x' }) : HI
    const body = bodyOf([HI, assistant(...blocks), answer])
    expect(relay(body)).toEqual({ text: body.replace('a/b', OLD), reported: [] })
  })

  test.each([
    ['at the end', [cited, text(' ')], [cited]],
    ['before thinking that ends the turn', [cited, text(' '), thinking], [cited]],
    ['with a mark of the cache', [{ ...text(' '), cache_control: { type: 'ephemeral' } }, cited], [cited]],
  ])('is left out where it would be refused: %s', (_, blocks, left) => {
    const { messages, reported } = sent([HI, assistant(...blocks), HI])
    expect(messages).toEqual([HI, assistant(...left), HI])
    expect(reported).toContain('unsupported_field messages[1]')
  })
})

describe('the end of the conversation', () => {
  test('a beginning of an answer loses the white space at its end', () => {
    expect(sent([HI, { role: 'assistant', content: 'Sure: \n' }])).toEqual({
      messages: [HI, assistant(text('Sure:'))],
      reported: ['mapped_field messages[1]'],
    })
  })

  test('a beginning of an answer holds no thinking, and none is asked for', () => {
    const enabled = { type: 'enabled', budget_tokens: 2000 }
    expect(sent([HI, assistant(thinking, text('Sure'))], { thinking: enabled })).toEqual({
      messages: [HI, assistant(text('Sure'))],
      reported: ['unsupported_field messages[1]', 'unsupported_field thinking'],
    })
  })

  test('a model that takes no beginning of an answer is asked to go on with it', () => {
    const { messages, reported } = sent([HI, { role: 'assistant', content: 'Sure' }], { model: NEW })
    expect(messages).toEqual([
      HI,
      { role: 'assistant', content: 'Sure' },
      user(text('Go on with your answer from where it ends, and repeat nothing of it.')),
    ])
    expect(reported).toEqual(['mapped_field messages[1]'])
  })

  test('a turn that the provider paused goes back as it came', () => {
    const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } }
    for (const model of [OLD, NEW]) {
      const body = bodyOf([HI, assistant(thinking, text('Let me look. '), search)])
      expect(relay(body, { model })).toEqual({ text: body.replace('a/b', model), reported: [] })
    }
  })

  test('a turn of thinking alone is left out', () => {
    expect(sent([HI, assistant(thinking), user(text('Well?'))])).toEqual({
      messages: [HI, user(text('Well?'))],
      reported: ['unsupported_field messages[1]'],
    })
  })
})

test('the user has the first word', () => {
  const { messages, reported } = sent([{ role: 'assistant', content: 'Hello' }, HI])
  expect(messages).toEqual([user(text('The conversation begins with your answer.')), { role: 'assistant', content: 'Hello' }, HI])
  expect(reported).toEqual(['mapped_field messages[0]'])
})

test('a model that is no Claude is taken at its client’s word', () => {
  const body = bodyOf([assistant(call('a')), user(text(''), result('b')), { role: 'assistant', content: ' ' }], {
    thinking: { type: 'disabled' },
  })
  expect(relay(body, { model: 'someone-elses-model' })).toEqual({ text: body.replace('a/b', 'someone-elses-model'), reported: [] })
})

describe('a model that is no Claude', () => {
  const unsigned = { type: 'thinking', thinking: 'Hm.', signature: '' }
  const enabled = { thinking: { type: 'enabled', budget_tokens: 2000 } }
  const asked = (messages: readonly unknown[], model = 'glm-4.7', provider = 'acme') => {
    const body = bodyOf(messages, enabled)
    return { given: body.replace('a/b', model), ...relay(body, { model, provider }) }
  }

  test.each([
    ['with an empty signature', unsigned],
    ['without a signature', { type: 'thinking', thinking: 'Hm.' }],
    ['with a signature of its own', { ...unsigned, signature: 'c2ln' }],
  ])('gets thinking back %s, and goes on thinking in the middle of calls', (_, thought) => {
    const { given, text: out, reported } = asked([HI, assistant(thought, call('a')), user(result('a'))])
    expect([out, reported]).toEqual([given, []])
  })

  test('gets thinking that this service told to be unsigned back with an empty signature; Claude gets none of it', () => {
    const told = [HI, assistant({ ...unsigned, signature: UNSIGNED }, call('a')), user(result('a'))]
    const { text: out, reported } = asked(told)
    expect([out, reported]).toEqual([
      bodyOf([HI, assistant(unsigned, call('a')), user(result('a'))], enabled).replace('a/b', 'glm-4.7'),
      [],
    ])
    expect(asked(told, 'claude-sonnet-4-5').text).not.toContain('Hm.')
  })

  test('goes on thinking also where there was no thinking before the call', () => {
    const { given, text: out, reported } = asked([HI, assistant(call('a')), user(result('a'))])
    expect([out, reported]).toEqual([given, []])
  })

  test('gets calls with the same id distinguished, in one turn and over turns, each with its result; all else keeps its bytes', () => {
    const calls = (first: string, second: string): readonly object[] => [
      assistant(unsigned, call(first, { q: 'a' }), call(second, { q: 'b' })),
      user(result(first, 'A'), result(second, 'B')),
    ]
    const { given, text: out, reported } = asked([HI, ...calls('grep:3', 'grep:3'), ...calls('grep:3', 'x.y'), HI])
    const told = bodyOf([HI, ...calls('grep:3', 'grep:3_2'), ...calls('grep:3_3', 'x.y'), HI], enabled)
    expect([out, reported]).toEqual([told.replace('a/b', 'glm-4.7'), []])
    expect(given).not.toBe(out)
  })

  test('gets an object where the input of a call is none', () => {
    const { text: out, reported } = asked([HI, assistant(call('a', 'text')), user(result('a'))])
    expect(JSON.parse(out)).toMatchObject({ messages: [HI, assistant(call('a')), user(result('a'))] })
    expect(reported).toEqual(['mapped_field messages[1]'])
  })

  test('gets no thinking that this service sealed for another maker', () => {
    const sealed = sealProof({ format: 'openai-responses-v1', kind: 'encrypted', data: 'x' })
    const { text: out, reported } = asked([HI, assistant({ ...unsigned, signature: sealed }, unsigned, call('a')), user(result('a'))])
    expect(JSON.parse(out)).toMatchObject({ ...enabled, messages: [HI, assistant(unsigned, call('a')), user(result('a'))] })
    expect(reported).toEqual(['unsupported_field messages[1]'])
  })

  test.each([
    ['glm-4.7', 'anthropic'],
    ['claude-opus-next', 'acme'],
  ])('is not %s at %s, which may want a signature', (model, provider) => {
    const { text: out, reported } = asked([HI, assistant(unsigned, call('a')), user(result('a'))], model, provider)
    expect(JSON.parse(out)).not.toHaveProperty('thinking')
    expect(out).not.toContain('Hm.')
    expect(reported).toEqual(['unsupported_field messages[1]', 'unsupported_field thinking'])
  })
})

describe('files by their ids', () => {
  const file = { type: 'file', file_id: 'file_1' }
  test.each<[string, readonly object[]]>([
    ['messages[0].content[1].source', [user(text('Hi'), { type: 'document', source: file })]],
    ['messages[0].content[0]', [user({ type: 'container_upload', file_id: 'file_1' })]],
    [
      'messages[0].content[0].source.content[0].source',
      [user({ type: 'document', source: { type: 'content', content: [{ type: 'image', source: file }] } })],
    ],
    ['messages[2].content[0].content[0].source', [HI, assistant(call('a')), user(result('a', [{ type: 'image', source: file }]))]],
  ])('400: %s', (place, messages) => {
    for (const model of [OLD, 'someone-elses-model'])
      expect(() => sent(messages, { model })).toThrow(`${place}: Anthropic has no file "file_1"`)
  })

  test('are data in what the model said to a tool', () => {
    const given = [HI, assistant(call('a', { source: file })), user(result('a'))]
    expect(sent(given)).toEqual({ messages: given, reported: [] })
  })
})

/** Conversations without faults, in the JSON layouts of various programs. */
const lawful = fc
  .array(
    fc.record({
      said: fc.constantFrom('Hi', '\\u00e9 ', 'a\\n', '\\"role\\":\\"system\\"'),
      calls: fc.integer({ min: 0, max: 3 }),
      thinks: fc.boolean(),
      gap: fc.constantFrom('', ' ', '\n  '),
      roleLast: fc.boolean(),
      bare: fc.boolean(),
    }),
    { maxLength: 5 },
  )
  .map((rounds) => {
    const messages = rounds.flatMap(({ said, calls, thinks, gap, roleLast, bare }, round): string[] => {
      const message = (role: string, content: string): string =>
        roleLast ? `{${gap}"content":${gap}${content},"role" :"${role}"}` : `{"role":"${role}",${gap}"content"${gap}:${content}}`
      const ids = Array.from({ length: calls }, (_, index) => `toolu_${round}_${index}`)
      const blocks = [
        ...(thinks ? ['{"type":"thinking","thinking":"","signature":"c2ln","x":1.0}'] : []),
        ...(calls === 0 || !thinks ? [`{"text":"${said}",${gap}"type":"text","cache_control":null}`] : []),
        ...ids.map((id) => `{"input":{"id":"x","n":1e2,"text":""},"type":"tool_use","id":"${id}","name":"f"}`),
      ]
      const results = ids.map((id) => `{"type":"tool_result",${gap}"tool_use_id":"${id}","content":[{"type":"text","text":"1.0"}]}`)
      return [
        message('user', bare ? `"${said}"` : `[{"type":"text","text":"${said}"}]`),
        message('assistant', `[${blocks.join(`,${gap}`)}]`),
        ...(results.length === 0
          ? []
          : [message('user', `[${results.join(',')},{"type":"text","text":"${said}"}]`), message('assistant', `"done"`)]),
      ]
    })
    return `[ ${[...messages, '{"role":"user","content":"Go on"}'].join(' ,\n')} ]`
  })

test('property: a conversation that is in order keeps its bytes, in whatever layout', () => {
  fc.assert(
    fc.property(lawful, fc.constantFrom(OLD, NEW, 'claude-3-5-haiku-20241022', 'someone-elses-model'), (messages, model) => {
      const relayed = relay(`{"model":"a/b","max_tokens":10,"messages":${messages}}`, { model })
      expect(relayed).toEqual({ text: `{"model":"${model}","max_tokens":10,"messages":${messages}}`, reported: [] })
    }),
    { numRuns: 300 },
  )
})

test('thousands of calls of one id come through, each with a result', () => {
  const many = 2000
  const calls = Array.from({ length: many }, () => assistant(call('a')))
  const results = Array.from({ length: many }, (_, index) => user(result('a', String(index))))
  const { messages } = sent([HI, ...calls, ...results])
  const blocks = (messages as { readonly content: unknown }[]).flatMap(({ content }) => (Array.isArray(content) ? content : []))
  expect(blocks).toHaveLength(2 * many)
})

describe('a system message that changes the effort', () => {
  const CLAUDE = 'claude-opus-5-5'
  const config = { output_config: { effort: 'low' } }
  const change = { role: 'system', content: [], ...config }
  const said = { role: 'system', content: 'S', ...config }

  test('keeps its words where the model takes them, beside others without words', () => {
    for (const given of [
      [HI, said],
      [HI, change, said, change, assistant(text('A')), user(text('B'))],
      [HI, { role: 'system', content: 'T' }, said],
    ])
      expect(sent(given, { model: CLAUDE })).toEqual({ messages: given, reported: [] })
  })

  test('stands alone where the model takes no words, which become the user’s or the system prompt’s', () => {
    expect(sent([HI, assistant(text('A')), said, user(text('B'))], { model: CLAUDE })).toEqual({
      messages: [HI, assistant(text('A')), change, { role: 'user', content: 'S' }, user(text('B'))],
      reported: ['mapped_field messages[2]'],
    })
    const relayed = relay(bodyOf([change, said, HI]), { model: CLAUDE })
    expect(JSON.parse(relayed.text)).toMatchObject({ system: [text('S')], messages: [change, change, HI] })
    expect(relayed.reported).toEqual(['mapped_field messages[1]'])
  })

  test('does not separate a call from its result', () => {
    const given = [HI, assistant(call('a')), change, user(result('a'))]
    expect(sent(given, { model: CLAUDE })).toEqual({ messages: given, reported: [] })
  })

  test('does not hide the beginning of an answer, which the model does not continue', () => {
    const { messages, reported } = sent([HI, assistant(text('Sure')), change], { model: CLAUDE })
    expect(messages).toEqual([HI, assistant(text('Sure')), change, user(text(expect.stringContaining('Go on') as string))])
    expect(reported).toEqual(['mapped_field messages[1]'])
  })

  test('keeps its bytes beside a message that changes, and loses empty texts', () => {
    const odd = '{"output_config": {"effort":"low", "later":1},"content":[ ], "role":"system"}'
    const others = '{"role":"user","content":[{"type":"text","text":"B"},{"type":"text","text":""}]}'
    const body = `{"model":"a/b","max_tokens":10,"messages":[{"role":"user","content":"A"},${odd},${others}]}`
    expect(relay(body, { model: CLAUDE }).text).toContain(odd)
    const empty = { role: 'system', content: [text('')], ...config }
    expect(sent([HI, empty], { model: CLAUDE })).toEqual({ messages: [HI, change], reported: [] })
  })

  test('a system message that becomes the user’s leaves behind the members that only a system message may have', () => {
    const cleared = { role: 'system', content: 'S', clear_at: 'never' }
    expect(sent([HI, assistant(text('A')), cleared, user(text('B'))], { model: CLAUDE })).toMatchObject({
      messages: [HI, assistant(text('A')), { role: 'user', content: 'S' }, user(text('B'))],
    })
    expect(JSON.stringify(sent([HI, assistant(text('A')), cleared, user(text('B'))], { model: CLAUDE }))).not.toContain('clear_at')
  })
})
