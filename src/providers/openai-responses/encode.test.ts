import { describe, expect, test } from 'bun:test'

import type { Prompt } from '../../canonical/prompt.ts'
import { sealProof, UNSIGNED } from '../../canonical/reasoning.ts'
import { SERVICE_FIELDS } from '../../request-fields/service-fields.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import type { Target } from '../provider.ts'
import { type Encoded, proof, send } from './encode.test-kit.ts'

describe('a request of the same dialect', () => {
  const own = (json: string, model?: string, more?: Partial<Target>): Encoded => {
    const body = JsonBody.read(json)
    const prompt = (): Prompt => {
      throw new Error('It is not to be parsed.')
    }
    return send({ dialect: 'responses', body, stream: body.get('stream') === true, prompt }, model, undefined, more)
  }

  test.each<[string, string, string]>([
    [
      'keeps every other byte: order, white space, number forms, escapes, unknown fields',
      '{ "service_tier":"flex" ,"model": "a/b","x":{"a" :[1e2 ]}, "input" : [ {"role":"user", "content":"H\\u0069"} ], "stream":true, "store":false }',
      '{ "service_tier":"flex" ,"model": "gpt-5.4","x":{"a" :[1e2 ]}, "input" : [ {"role":"user", "content":"H\\u0069"} ], "stream":true, "store":false }',
    ],
    [
      'is never stored, and gets its thinking in a form that can come back',
      '{"model":"a/b","input":"Hi"}',
      '{"model":"gpt-5.4","input":"Hi","stream":false,"store":false,"include":["reasoning.encrypted_content"]}',
    ],
    [
      'loses what addresses this service',
      '{"model":"a/b","models":["c/d"],"input":"Hi","provider":{},"stream":false,"store":false}',
      '{"model":"gpt-5.4","input":"Hi","stream":false,"store":false}',
    ],
    [
      'asks for nothing more in the answer',
      '{"model":"a/b","input":"Hi","stream":false,"store":false,"include":[]}',
      '{"model":"gpt-5.4","input":"Hi","stream":false,"store":false,"include":[]}',
    ],
    [
      'keeps the dialect’s own reasoning',
      '{"model":"a/b","stream":false,"store":false,"reasoning":{ "effort":"low","context":"auto" }}',
      '{"model":"gpt-5.4","stream":false,"store":false,"reasoning":{ "effort":"low","context":"auto" }}',
    ],
    [
      'says our members of reasoning in the dialect’s words',
      '{"model":"a/b","stream":false,"store":false,"reasoning":{"max_tokens":2000,"context":"auto"}}',
      '{"model":"gpt-5.4","stream":false,"store":false,"reasoning":{"context":"auto","effort":"low","summary":"auto"}}',
    ],
  ])('%s', (_, given, sent) => {
    expect(own(given).text).toBe(sent)
  })

  test('no field of the service ever leaves', () => {
    const body = `{"model":"a/b","stream":false,"store":false,${SERVICE_FIELDS.map((name) => `"${name}":1`).join(',')}}`
    expect(Object.keys(own(body).sent)).toEqual(['model', 'stream', 'store'])
  })

  const history = (...items: readonly object[]): string =>
    JSON.stringify({ model: 'a/b', input: [...items, { role: 'user', content: 'Hi' }], stream: false, store: false })

  test.each<[string, object, string | undefined]>([
    [
      'sealed by another provider',
      { type: 'reasoning', id: 'rs_9', summary: [], encrypted_content: sealProof({ ...proof, format: 'google-gemini-v1' }) },
      undefined,
    ],
    [
      'sealed by another model',
      { type: 'reasoning', id: 'rs_9', summary: [], encrypted_content: sealProof({ ...proof, model: 'openai/o3' }) },
      undefined,
    ],
    [
      'that another model made without a proof',
      {
        type: 'reasoning',
        id: 'rs_9',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'Hm.' }],
        encrypted_content: UNSIGNED,
      },
      undefined,
    ],
    [
      'in full, which this model never shows',
      { type: 'reasoning', id: 'rs_9', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
      undefined,
    ],
    [
      'that the account would have to have stored',
      { type: 'reasoning', id: 'rs_9', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: null },
      undefined,
    ],
  ])('loses thinking %s, with a warning', (_, item) => {
    const { sent, lost } = own(history({ role: 'user', content: 'a' }, item))
    expect(lost).toEqual(['input[1]'])
    expect(sent['input']).toEqual([
      { role: 'user', content: 'a' },
      { role: 'user', content: 'Hi' },
    ])
  })

  test('is refused if all of its input is thinking that is left out', () => {
    const thinking = { type: 'reasoning', id: 'rs_9', summary: [{ type: 'summary_text', text: 'Hm.' }] }
    const given = JSON.stringify({ model: 'a/b', input: [thinking, thinking], stream: false, store: false })
    expect(() => own(given)).toThrow('input[0]: The prompt has no message for the model to answer.')
  })

  test('takes the mark of unsigned thinking off for a model that may show it', () => {
    const item = { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] }
    const { sent, lost } = own(history({ ...item, encrypted_content: UNSIGNED }), 'local-model')
    expect([lost, (sent['input'] as readonly unknown[])[0]]).toEqual([[], item])
  })

  test('keeps thinking by its id where the operator opened what the account stores', () => {
    const given = history({ type: 'reasoning', id: 'rs_1', summary: [] })
    expect(own(given, undefined, { storedObjects: true }).text).toBe(given.replace('"a/b"', '"gpt-5.4"'))
  })

  test('opens a seal of this provider’s own thinking', () => {
    const { sent, lost } = own(history({ type: 'reasoning', id: 'rs_9', summary: [], encrypted_content: sealProof(proof) }))
    expect(lost).toEqual([])
    expect((sent['input'] as readonly unknown[])[0]).toEqual({ type: 'reasoning', summary: [], id: 'rs_1', encrypted_content: 'gAAA+/=' })
  })

  test.each<[string, object, string]>([
    ['its own encrypted thinking', { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' }, 'gpt-5.4'],
    ['what only begins like a seal', { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'pb1.x' }, 'gpt-5.4'],
    [
      'thinking in full for a model that may show it',
      { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
      'local-model',
    ],
  ])('keeps %s byte by byte', (_, item, model) => {
    const given = history(item)
    expect(own(given, model).text).toBe(given.replace('"a/b"', JSON.stringify(model)))
  })
})
