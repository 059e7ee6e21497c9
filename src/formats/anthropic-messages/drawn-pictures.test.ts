import { expect, test } from 'bun:test'

import { inputSizeOf } from '../../canonical/input-size.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import type { JsonObject, JsonValue } from '../../lib/json/json.ts'
import { atOnce } from '../../lib/steps.ts'
import { messagesFormat } from './anthropic-messages.ts'

const parse = (...messages: readonly JsonObject[]) =>
  atOnce(messagesFormat.parseCall(JsonBody.read(JSON.stringify({ model: 'a/b', max_tokens: 9, messages })))).call.body

const said = (role: string, content: JsonValue): JsonObject => ({ role, content })
const text = (words: string) => ({ type: 'text', text: words })
const DATA = 'iVBORw0KGgo='
const WORDS = `![image](data:image/png;base64,${DATA})`
const PICTURE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: DATA } }

test('a text of the assistant that stands for a picture is an image block, which keeps the cache mark', () => {
  const mark = { cache_control: { type: 'ephemeral' } }
  const body = parse(said('assistant', [text('Here.'), { ...text(WORDS), citations: [], ...mark }]), said('assistant', WORDS))
  expect(body.value('messages')).toEqual([said('assistant', [text('Here.'), { ...PICTURE, ...mark }]), said('assistant', [PICTURE])])
})

test('what the user or the model wrote stays a text, and every other byte stays', () => {
  const json = (block: object) =>
    `{"model":"a/b","max_tokens":9,"messages":[{"role":"user","content":${JSON.stringify(WORDS)}},{"role":"assistant","content":[ ${JSON.stringify(block)},` +
    `{"type":"tool_use","id":"t","name":"f","input":{"n":1.0}},${[
      '![image](https://a.example/b.png)',
      `Here: ${WORDS}`,
      '![image](data:text/html,x)',
    ]
      .map((words) => JSON.stringify(text(words)))
      .join(' , ')}]}]}`
  expect(atOnce(messagesFormat.parseCall(JsonBody.read(json(text(WORDS))))).call.body.text).toBe(json(PICTURE))
})

test('such a picture is measured as a picture, and not as a million tokens of text', () => {
  const { images, textBytes } = inputSizeOf(
    parse(said('assistant', [text(WORDS.replace(DATA, 'A'.repeat(1_000_000)))]), said('user', 'Larger')),
  )
  expect(images).toBe(1)
  expect(textBytes).toBeLessThan(1000)
})
