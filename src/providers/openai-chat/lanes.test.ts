import { expect, test } from 'bun:test'

import { pulled } from '../../../test/support/frame-pulling.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { FINISH_CHUNK, proseAnswer, proseChunk, type Script, startFakeUpstream } from '../../../test/support/fake-upstream.ts'
import type { ClientDialect } from '../../canonical/call.ts'
import type { Frame } from '../../canonical/event.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { createUpstream } from '../transport/upstream.ts'
import { attemptTo } from '../attempt.test-kit.ts'
import { promptOf, targetOf, text, user } from './encode.test-kit.ts'
import { openaiChat } from './openai-chat.ts'

const upstream = await startFakeUpstream()

const frames = async (script: Script, dialect: ClientDialect, stream: boolean, vendor = 'acme', query = ''): Promise<readonly Frame[]> => {
  upstream.script(script)
  const clock = createFakeClock()
  const answer = pulled((take) =>
    openaiChat(
      attemptTo(
        { ...targetOf(vendor), baseUrl: upstream.url + query },
        {
          dialect,
          body: JsonBody.read('{"messages":[{"role":"user","content":"Hi"}]}'),
          stream,
          prompt: () => promptOf({ messages: [user(text('Hi'))] }),
        },
      ),
      { upstream: createUpstream(clock, { streamHeadersMs: 1000, wholeHeadersMs: 1000, idleMs: 1000 }), clock },
      take,
    ),
  )
  const all: Frame[] = []
  for await (const batch of answer) all.push(...batch)
  return all
}

const types = (all: readonly Frame[]): readonly string[] => all.flatMap(({ events }) => events.map(({ type }) => type))

const streamed: Script = (exchange) => exchange.stream([proseChunk('Hi'), FINISH_CHUNK])
const whole: Script = (exchange) => exchange.answer(200, proseAnswer('Hi'))

test.each<[ClientDialect, boolean, boolean]>([
  ['chat', true, true],
  ['chat', false, true],
  ['responses', true, false],
  ['responses', false, false],
  ['messages', true, false],
  ['messages', false, false],
])('the upstream’s own text goes to chat clients only: %s, stream %p', async (dialect, stream, native) => {
  const all = await frames(stream ? streamed : whole, dialect, stream)
  expect(all.map((frame) => frame.native !== undefined)).toEqual(all.map(() => native))
  expect(types(all)).toContain('text')
  expect(upstream.last.body.messages).toEqual([{ role: 'user', content: 'Hi' }])
})

test('Azure is asked with its own header, at a base URL that ends in a query', async () => {
  await frames(whole, 'chat', false, 'azure', '/?api-version=2026-01-01')
  expect([upstream.last.path, upstream.last.headers['api-key'], upstream.last.headers['authorization']]).toEqual([
    '/v1/chat/completions?api-version=2026-01-01',
    'k',
    undefined,
  ])
})

test('a whole answer with calls that does not say how it ended ended so that they are made', async () => {
  const message = { tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] }
  const body = JSON.stringify({ id: 'x', choices: [{ index: 0, message, finish_reason: '' }] })
  const all = await frames((exchange) => exchange.answer(200, body), 'messages', false)
  expect(all.flatMap(({ events }) => events).at(-1)).toEqual({ type: 'finish', reason: 'tool_calls', native: null })
})

test('an answer that the vendor broke off for want of resources is a failure', async () => {
  const chunk = JSON.stringify({ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'insufficient_system_resource' }] })
  const answer = frames((exchange) => exchange.stream([proseChunk('Hi'), chunk]), 'chat', true)
  expect(answer).rejects.toMatchObject({ type: 'provider_overloaded' })
})
