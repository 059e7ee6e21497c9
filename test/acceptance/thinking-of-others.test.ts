/** Signed thinking is sent back to the model that signed it, and to no other, though its signature names no model. */
import { describe, expect, test } from 'bun:test'

import { type Answer, infer, streamChunks } from '../support/calls.ts'
import { type Exchange, startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()
const service = await useServices().start({ env: { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: upstream.url } })

const ONE = 'anthropic/claude-opus-4.8'
const OTHER = 'anthropic/claude-sonnet-4.5'

const signatureOf = (turn: string): string => Buffer.from(`signed thinking of turn ${turn}, which is long enough`).toString('base64')

const event = (body: { readonly type: string }): string => `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`

/** The model thinks, and gives the turn that the last message names. */
const think = async (exchange: Exchange): Promise<void> => {
  const turn = JSON.stringify(exchange.body.messages.at(-1)?.content).replaceAll(/[^a-z-]/g, '')
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'claude', stop_sequence: null, usage }
  const blocks = [
    { type: 'thinking', thinking: 'Hm.', signature: signatureOf(turn) },
    { type: 'redacted_thinking', data: signatureOf(`${turn} unseen`) },
    { type: 'text', text: 'Yes' },
  ]
  if (exchange.body.stream !== true) {
    await exchange.answer(200, JSON.stringify({ ...message, content: blocks, stop_reason: 'end_turn' }))
    return
  }
  await exchange.head(200, { 'content-type': 'text/event-stream' })
  await exchange.piece(event({ type: 'message_start', message: { ...message, content: [], stop_reason: null } } as { type: string }))
  const starts = [{ type: 'thinking', thinking: '', signature: '' }, blocks[1], { type: 'text', text: '' }]
  const deltas = [
    [
      { type: 'thinking_delta', thinking: 'Hm.' },
      { type: 'signature_delta', signature: signatureOf(turn) },
    ],
    [],
    [{ type: 'text_delta', text: 'Yes' }],
  ]
  for (const [index, content_block] of starts.entries()) {
    await exchange.piece(event({ type: 'content_block_start', index, content_block } as { type: string }))
    for (const delta of deltas[index] ?? []) await exchange.piece(event({ type: 'content_block_delta', index, delta } as { type: string }))
    await exchange.piece(event({ type: 'content_block_stop', index } as { type: string }))
  }
  await exchange.piece(event({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage } as { type: string }))
  await exchange.piece(event({ type: 'message_stop' }))
  await exchange.done()
}
upstream.script(think)

const warned = (answer: Answer): boolean => answer.headers.get('x-service-warnings') !== null

/** The blocks of the assistant's turn, as the model received them. */
const reportedBlocks = (): unknown => {
  const content = upstream.last.body.messages[1]?.content
  return Array.isArray(content) ? content.map(({ type }: { type: string }) => type) : content
}

describe.each([
  ['whole', false],
  ['streamed', true],
] as const)('%s', (_, stream) => {
  const turn = stream ? 'streamed' : 'whole'

  test('Messages: kept for its maker to the byte, left out with a warning for another model', async () => {
    const question = { role: 'user', content: `${turn}-messages` }
    await infer(service, { model: ONE, messages: [question], max_tokens: 99, stream }, { path: '/messages' })
    const said = [
      { type: 'thinking', thinking: 'Hm.', signature: signatureOf(`${turn}-messages`) },
      { type: 'redacted_thinking', data: signatureOf(`${turn}-messages unseen`) },
      { type: 'text', text: 'Yes' },
    ]
    const messages = [question, { role: 'assistant', content: said }, { role: 'user', content: 'more' }]
    await infer(service, { model: ONE, messages, max_tokens: 99 }, { path: '/messages' })
    expect(upstream.last.body.messages).toEqual(messages)
    const other = await infer(service, { model: OTHER, messages, max_tokens: 99 }, { path: '/messages' })
    expect(reportedBlocks()).toEqual(['text'])
    expect([other.status, warned(other)]).toEqual([200, true])
    // The same history, escaped as some programs write it.
    const escaped = JSON.stringify({ model: OTHER, messages, max_tokens: 99 }).replaceAll('/', String.raw`\/`)
    await infer(service, escaped, { path: '/messages' })
    expect(reportedBlocks()).toEqual(['text'])
  })

  test('Chat Completions: kept for its maker, left out with a warning for another model', async () => {
    const question = { role: 'user', content: `${turn}-chat` }
    const asked = { model: ONE, messages: [question], stream, reasoning: { effort: 'low' } }
    const details: unknown[] = []
    if (stream) {
      for (const chunk of streamChunks((await infer(service, asked)).text)) {
        const { choices } = chunk as {
          readonly choices: readonly { readonly delta: { readonly reasoning_details?: readonly unknown[] } }[]
        }
        details.push(...(choices[0]?.delta.reasoning_details ?? []))
      }
    } else {
      const { choices } = (await infer(service, asked)).json as { choices: { message: { reasoning_details: unknown[] } }[] }
      details.push(...(choices[0]?.message.reasoning_details ?? []))
    }
    const messages = [question, { role: 'assistant', content: 'Yes', reasoning_details: details }, { role: 'user', content: 'more' }]
    await infer(service, { model: ONE, messages })
    expect(reportedBlocks()).toEqual(['thinking', 'redacted_thinking', 'text'])
    const other = await infer(service, { model: OTHER, messages })
    expect(upstream.last.text).not.toContain(signatureOf(`${turn}-chat`))
    expect([other.status, warned(other)]).toEqual([200, true])
  })
})

test('a signature that nobody knows passes', async () => {
  const said = [
    { type: 'thinking', thinking: 'Hm.', signature: signatureOf('of long ago') },
    { type: 'text', text: 'Yes' },
  ]
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: said },
    { role: 'user', content: 'more' },
  ]
  const answer = await infer(service, { model: OTHER, messages, max_tokens: 99 }, { path: '/messages' })
  expect(upstream.last.body.messages).toEqual(messages)
  expect(warned(answer)).toBe(false)
})
