import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { atOnce } from '../../lib/steps.ts'
import type { Message, Part } from '../../canonical/prompt.ts'
import type { Warning } from '../../canonical/warning.ts'
import { withPairedResults } from './paired-results.ts'

const call = (id: string): Part => ({ type: 'tool-call', id, name: `f_${id}`, arguments: '{}' })
const result = (callId: string, text: string): Part => ({ type: 'tool-result', callId, text })
const text = (said: string): Part => ({ type: 'text', text: said })
const user = (...parts: readonly Part[]): Message => ({ role: 'user', parts })
const assistant = (...parts: readonly Part[]): Message => ({ role: 'assistant', parts })

const paired = (messages: readonly Message[], openEnd = true): { messages: readonly Message[]; reported: readonly Warning[] } => {
  const reported: Warning[] = []
  return { messages: atOnce(withPairedResults(messages, (warning) => reported.push(warning), { openEnd })), reported }
}

/** Only a few ids, repeated often, as from programs that restart their numbering. */
const id = fc.constantFrom('', 'a', 'b', 'c')
const conversations: fc.Arbitrary<readonly Message[]> = fc
  .array(
    fc.oneof(
      fc.array(fc.oneof(id.map(call), fc.constant(text('x'))), { minLength: 1, maxLength: 4 }).map((parts) => assistant(...parts)),
      fc
        .array(
          fc.oneof(
            id.map((each) => result(each, '')),
            fc.constant(text('y')),
          ),
          { minLength: 1, maxLength: 4 },
        )
        .map((parts) => user(...parts)),
      fc.constant<Message>({ role: 'system', parts: [text('z')] }),
    ),
    { maxLength: 12 },
  )
  // Each result gets a text of its own.
  .map((messages) =>
    messages.map((message, place) => ({
      ...message,
      parts: message.parts.map((part, index) => (part.type === 'tool-result' ? { ...part, text: `said ${place} ${index}` } : part)),
    })),
  )

interface Turn {
  readonly assistant: boolean
  readonly parts: Part[]
}

const turnsOf = (messages: readonly Message[]): readonly Turn[] => {
  const turns: Turn[] = []
  for (const { role, parts } of messages) {
    const last = turns.at(-1)
    if (last?.assistant === (role === 'assistant')) last.parts.push(...parts)
    else turns.push({ assistant: role === 'assistant', parts: [...parts] })
  }
  return turns
}

const idsIn = (turn: Turn | undefined, type: 'tool-call' | 'tool-result'): string[] =>
  (turn?.parts ?? [])
    .flatMap((part) => (part.type !== type ? [] : [part.type === 'tool-call' ? part.id : part.type === 'tool-result' ? part.callId : '']))
    .toSorted()

describe('calls and their results', () => {
  test('whatever an agent sends: each call has its one result in the next turn, and nothing that was said is lost', () => {
    fc.assert(
      fc.property(conversations, (given) => {
        const { messages } = paired(given)
        const turns = turnsOf(messages)
        for (const [place, turn] of turns.entries()) {
          if (turn.assistant && place < turns.length - 1) expect(idsIn(turns[place + 1], 'tool-result')).toEqual(idsIn(turn, 'tool-call'))
          if (!turn.assistant && place === 0) expect(idsIn(turn, 'tool-result')).toEqual([])
        }
        const all = JSON.stringify(messages)
        for (const { parts } of given) for (const part of parts) if (part.type === 'tool-result') expect(all).toContain(`"${part.text}"`)
        const calls = (list: readonly Message[]): unknown => list.flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool-call'))
        expect(calls(messages)).toEqual(calls(given))
      }),
      { numRuns: 500 },
    )
  })

  test('what is in order stays the same object, without a word', () => {
    const given = [user(text('Hi')), assistant(call('a'), call('b')), user(result('b', '1'), result('a', '2')), assistant(call('a'))]
    const { messages, reported } = paired(given)
    expect(messages).toBe(given)
    expect(reported).toEqual([])
  })

  test('a result of no call is text of the user, with its pictures', () => {
    const picture: Part = { type: 'image', url: 'data:image/png;base64,AA==' }
    const { messages, reported } = paired([
      user({ type: 'tool-result', callId: 'x', text: 'Go on.', pieces: [{ type: 'text', text: 'Go on.' }, picture] }),
      user(text('Hi')),
    ])
    expect(messages).toEqual([user(text('Go on.'), picture), user(text('Hi'))])
    expect(reported).toHaveLength(1)
  })

  test('the second result of one call is text of the user', () => {
    const { messages } = paired([user(text('Hi')), assistant(call('a')), user(result('a', 'one'), result('a', 'two'))])
    expect(messages.at(-1)).toEqual(user(result('a', 'one'), text('two')))
  })

  test('a result before its call is sent after it', () => {
    const { messages, reported } = paired([user(text('Hi'), result('a', 'early')), assistant(call('a')), user(text('Go on'))])
    expect(messages).toEqual([user(text('Hi')), assistant(call('a')), user(result('a', 'early')), user(text('Go on'))])
    expect(reported.map(({ code }) => code)).toEqual(['mapped_field'])
  })

  test('a call that was never answered gets an answer that says so, unless it is the last word', () => {
    const { messages } = paired([user(text('Hi')), assistant(call('a')), user(text('Never mind'))])
    expect(messages[2]).toEqual(user(result('a', 'This call was not answered.')))
    const open = [user(text('Hi')), assistant(call('a'))]
    expect(paired(open).messages).toBe(open)
  })

  test('a call that is the last word gets one too, where a provider wants each call answered', () => {
    const { messages, reported } = paired([user(text('Hi')), assistant(call('a'))], false)
    expect(messages[2]).toEqual(user(result('a', 'This call was not answered.')))
    expect(reported.map(({ code }) => code)).toEqual(['mapped_field'])
  })

  test('its work grows with the conversation only', () => {
    const many = 40_000
    const calls = Array.from({ length: many }, () => call('a'))
    const results = Array.from({ length: many }, (_, index) => result('a', String(index)))
    const { messages } = paired([user(text('Hi')), ...calls.map((part) => assistant(part)), ...results.map((part) => user(part))])
    expect(messages).toHaveLength(2 * many + 1)
    expect(paired([...results.map((part) => user(part)), ...calls.map((part) => assistant(part))]).messages.length).toBeGreaterThan(many)
  })
})
