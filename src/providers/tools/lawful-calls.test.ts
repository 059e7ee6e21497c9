import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { atOnce } from '../../lib/steps.ts'
import type { Message, Part, Prompt } from '../../canonical/prompt.ts'
import { withLawfulCalls } from './lawful-calls.ts'

const call = (id: string, args = '{}', more: object = {}): Part => ({ type: 'tool-call', id, name: 'f', arguments: args, ...more })
const result = (callId: string, text: string): Part => ({ type: 'tool-result', callId, text })
const promptOf = (...turns: readonly (readonly Part[])[]): Prompt => ({
  messages: turns.map((parts, index): Message => ({ role: index % 2 === 0 ? 'assistant' : 'user', parts, at: `messages[${index}]` })),
  tools: [],
  toolChoice: { type: 'auto' },
  outputFormat: { type: 'text' },
  settings: {},
  otherFields: [],
})

const mend = (...turns: readonly (readonly Part[])[]) => {
  const reported: string[] = []
  const { messages } = atOnce(withLawfulCalls(promptOf(...turns), (field) => void reported.push(field)))
  return { parts: messages.flatMap(({ parts }) => parts), reported }
}

describe('ids', () => {
  test('two calls of one turn with the same id are distinguished, and each has its own result', () => {
    expect(mend([call('a'), call('a')], [result('a', '1'), result('a', '2')]).parts).toEqual([
      call('a'),
      call('a_2'),
      result('a', '1'),
      result('a_2', '2'),
    ])
  })

  test('an id that comes again in a later turn is another call', () => {
    expect(mend([call('a')], [result('a', '1')], [call('a')], [result('a', '2')]).parts).toEqual([
      call('a'),
      result('a', '1'),
      call('a_2'),
      result('a_2', '2'),
    ])
  })

  test('a new id is no other call’s', () => {
    expect(mend([call('a'), call('a_2'), call('a')]).parts).toEqual([call('a'), call('a_2'), call('a_3')])
  })

  test('a history without doubles stays as it is', () => {
    const prompt = promptOf([call('a'), call('b')], [result('b', '1'), result('a', '2')])
    expect(atOnce(withLawfulCalls(prompt, () => undefined))).toBe(prompt)
  })

  test('property: no id twice; results in the order of their calls find the call that they answer', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.constantFrom('a', 'b', 'a_2'), { maxLength: 4 }), { maxLength: 4 }), (turns) => {
        let number = 0
        const given = turns.flatMap((ids) => {
          const numbers = ids.map(() => String(number++))
          return [ids.map((id, index) => call(id, `{"n":${numbers[index]}}`)), ids.map((id, index) => result(id, numbers[index] ?? ''))]
        })
        const { parts } = mend(...given)
        const calls = parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []))
        expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length)
        for (const part of parts)
          if (part.type === 'tool-result') expect(calls.find(({ id }) => id === part.callId)?.arguments).toBe(`{"n":${part.text}}`)
      }),
    )
  })
})

describe('arguments', () => {
  test.each(['[1]', '{"a":', '7', 'null', 'text'])('%s is replaced by an empty object, and told', (args) => {
    expect(mend([call('a', args)])).toEqual({ parts: [call('a', '{}')], reported: ['messages[0]'] })
  })

  test('an object that is written as a JSON text once more is sent as that object, with a warning', () => {
    const object = '{"n":12345678901234567890,"said":"a \\"b\\""}'
    expect(mend([call('a', ` ${JSON.stringify(object)}`)])).toEqual({ parts: [call('a', object)], reported: ['messages[0]'] })
    for (const args of ['"{"', '"[1]"', JSON.stringify('{"a":')])
      expect(mend([call('a', args)])).toEqual({ parts: [call('a', '{}')], reported: ['messages[0]'] })
    expect(() => mend([call('a', JSON.stringify(`{"a":[${'1,'.repeat(1_000_000)}1]}`))])).toThrow('hold more than')
  })

  test('long ones are counted before they are parsed, and the parser gets none that are nested too deep', () => {
    const many = `{"a":[${'1,'.repeat(1_000_000)}`
    for (const args of [many, JSON.stringify(many)]) expect(() => mend([call('a', args)])).toThrow('hold more than')
    const deep = `{"a":${'['.repeat(300_000)}${']'.repeat(300_000)}}`
    for (const args of [deep, JSON.stringify(deep)])
      expect(mend([call('a', args)])).toEqual({ parts: [call('a', '{}')], reported: ['messages[0]'] })
  })

  test('none are an empty object', () => {
    expect(mend([call('a', ' ')])).toEqual({ parts: [call('a', '{}')], reported: [] })
  })

  test('an object stays as it was written, and so does any text of a tool that takes text', () => {
    const written = [call('a', '{ "n": 1.0, "n2": 12345678901234567890 }'), call('b', 'any text', { custom: true })]
    expect(mend(written)).toEqual({ parts: written, reported: [] })
  })
})
