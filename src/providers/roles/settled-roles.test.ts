import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../canonical/call.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { settledBody } from './settled-roles.ts'
import type { RoleRule } from './role-rules.ts'

const settle = (dialect: ClientDialect, items: readonly object[], ...rules: readonly RoleRule[]) => {
  const field = dialect === 'responses' ? 'input' : 'messages'
  const settling = settledBody(dialect, JsonBody.read(JSON.stringify({ [field]: items })), new Set(rules))
  for (let steps = 1; ; steps += 1) {
    const { done, value } = settling.next()
    if (done === true) return { steps, sent: value?.request.value(field) as unknown, body: value?.request }
  }
}

const user = (content: unknown) => ({ role: 'user', content })

test('messages of the user in a row become one, whatever they hold', () => {
  const picture = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
  const said = [user('a'), user([{ type: 'text', text: 'b' }]), user('c'), { role: 'assistant', content: 'd' }, user('e'), user([picture])]
  expect(settle('chat', said, 'alternating').sent).toEqual([
    user('a\n\nb\n\nc'),
    { role: 'assistant', content: 'd' },
    user([{ type: 'text', text: 'e' }, picture]),
  ])
  expect(settle('chat', [user('a'), { role: 'assistant', content: 'd' }], 'alternating').sent).toBeUndefined()
})

test("Messages: system messages at the beginning join the system prompt, later ones are the user's words, after the results of tools", () => {
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'r' }] }
  const called = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] }
  const said = [{ role: 'system', content: 'first' }, user('a'), called, { role: 'system', content: 'later' }, result, user('b')]
  const { sent, body } = settle('messages', said, 'system-first')
  expect(sent).toEqual([user('a'), called, result, user('later'), user('b')])
  expect(body?.value('system')).toEqual([{ type: 'text', text: 'first' }])
})

describe('a conversation of ten times as many messages is settled in more steps', () => {
  test.each(CLIENT_DIALECTS)('%s', (dialect) => {
    const said = (count: number) =>
      Array.from({ length: count }, (_, at) =>
        at % 2 === 0 ? user('x') : { role: dialect === 'messages' ? 'system' : 'developer', content: 'y' },
      )
    const steps = (count: number): number => settle(dialect, said(count), 'system-first', 'no-developer', 'alternating').steps
    expect(steps(19_000)).toBeGreaterThan(steps(1900) + 5)
  })
})

test('20,000 messages in a row are joined by work that grows with them', () => {
  const [one] = (settle(
    'chat',
    Array.from({ length: 19_000 }, () => user('x'.repeat(100))),
    'alternating',
  ).sent ?? []) as { content: string }[]
  expect(one?.content).toHaveLength(19_000 * 102 - 2)
})
