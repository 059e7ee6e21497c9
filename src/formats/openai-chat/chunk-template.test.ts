import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

import * as fc from 'fast-check'

import { HEAD } from '../../../test/support/answers.ts'
import { JsonBody } from '../../lib/json-body.ts'
import { learnTemplate } from './chunk-template.ts'
import { openStream } from './render-stream.ts'

const CHANGES = { id: '"ours"', usage: null, provider: '"Acme"' }
const learn = (native: string) => learnTemplate(JsonBody.read(native), CHANGES)
const written = (native: string): string => JsonBody.read(native).textWith(CHANGES)

describe('a chunk that fits the template is written as by the slow way', () => {
  const pairs: [string, string, string][] = [
    ['choices in the middle', '{"id":"u","choices":[1],"usage":null}', '{"id":"u","choices":[2,3],"usage":null}'],
    ['choices first', '{"choices":[1],"id":"u"}', '{"choices":[{"a":"]"}],"id":"u"}'],
    ['choices last', '{"id":"u","choices":[1]}', '{"id":"u","choices":[[]]}'],
    ['white space', '{ "id" : "u" , "choices" : [ 1 ] }\n', '{ "id" : "u" , "choices" : [ 2 ] }\n'],
    ['padding', '{"id":"u","choices":[1],"usage":null,"obfuscation":"a"}', '{"id":"u","choices":[2],"usage":null,"obfuscation":"bcd"}'],
    ['no padding left', '{"id":"u","choices":[1],"obfuscation":"a"}', '{"id":"u","choices":[2],"obfuscation":""}'],
  ]
  for (const [guarantee, first, second] of pairs) {
    test(guarantee, () => {
      expect(learn(first)?.match(first)?.text).toBe(written(first))
      expect(learn(first)?.match(second)?.text).toBe(written(second))
    })
  }

  test('property: whatever its choices hold', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.array(fc.jsonValue()), fc.stringMatching(/^\w*$/), (first, second, padding) => {
        const native = (choices: unknown[], pad: string) =>
          `{"id":"u","choices":${JSON.stringify(choices)},"usage":null,"obfuscation":"${pad}"}`
        const template = learn(native(first, 'x'))
        // Choices that also stand in front of themselves cannot be found; then there is no template.
        if (template !== null) expect(template.match(native(second, padding))?.text).toBe(written(native(second, padding)))
      }),
    )
  })
})

describe('a chunk that does not fit is left to the slow way', () => {
  const template = learn('{"id":"u","choices":[1],"usage":null}')
  const others: [string, string][] = [
    ['another envelope', '{"id":"v","choices":[1],"usage":null}'],
    ['another end', '{"id":"u","choices":[1],"usage":{}}'],
    ['text behind the end', '{"id":"u","choices":[1],"usage":null} x'],
    ['a member behind the choices', '{"id":"u","choices":[1],"provider":"theirs","usage":null}'],
    ['choices that are no array', '{"id":"u","choices":{},"usage":null}'],
    ['choices that are not JSON', '{"id":"u","choices":[1,,"usage":null}'],
    ['nothing between', '{"id":"u","choices":,"usage":null}'],
    ['parts that overlap', '{"id":"u","choices":'],
  ]
  for (const [guarantee, native] of others) test(guarantee, () => expect(template?.match(native)).toBeNull())

  test('padding that is more than padding', () => {
    const padded = learn('{"id":"u","choices":[1],"obfuscation":"a"}')
    expect(padded?.match('{"id":"u","choices":[1],"obfuscation":"a","id":"x"}')).toBeNull()
    expect(padded?.match('{"id":"u","choices":[1],"obfuscation":"a\\n"}')).toBeNull()
  })
})

test('there is no template without choices, nor for a text that holds a slot', () => {
  expect(learn('{"id":"u"}')).toBeNull()
  expect(learn('{"x":"\\u0000choices","choices":[1]}')).toBeNull()
  expect(learn('{"choices":[1],"x":"\\u0000padding","obfuscation":"a"}')).toBeNull()
})

for (const name of ['openai-text', 'deepseek-tool-call', 'groq-tool-call']) {
  test(`the recorded stream ${name}: each chunk is the same as if it had come first`, () => {
    const path = `${import.meta.dir}/../../../test/fixtures/recorded/openai-chat/${name}.chunks.txt`
    const stream = openStream(HEAD)
    for (const native of readFileSync(path, 'utf8').split('\n').filter(Boolean)) {
      if (/"finish_reason":"|"choices":\[\]/.test(native)) break
      expect(stream.frames([{ native: { dialect: 'chat', json: native }, events: [] }])).toBe(
        openStream(HEAD).frames([{ native: { dialect: 'chat', json: native }, events: [] }]),
      )
    }
  })
}
