/** Tools that the service runs between a client and a model; the model follows the instructions in the request. */
import { describe, expect, test } from 'bun:test'

import { type Answer, conversationOf, type Dialect, DIALECTS, infer, PATHS } from '../support/calls.ts'
import { readStream } from '../support/client-stream.ts'
import { useServices } from '../support/started-service.ts'

const service = await useServices().start()

type Turn = Readonly<Record<string, unknown>>

const ask = (dialect: Dialect, script: readonly Turn[], more: Readonly<Record<string, unknown>> = {}): Promise<Answer> => {
  const tools = [{ type: 'service:datetime', parameters: { timezone: 'Asia/Tokyo' } }]
  return infer(
    service,
    { model: 'sandbox/agent', sandbox: { script }, ...conversationOf(dialect, 'What time is it?'), tools, ...more },
    { path: PATHS[dialect] },
  )
}

const CLOCK: Turn = { call: { name: 'service:datetime' } }
const DONE: Turn = { text: 'It is late.' }

/** The final text of the answer on any interface. */
const saidIn = (json: unknown): string => {
  const { choices, output, content } = json as AnswerWire
  const blocks = content ?? output?.flatMap((item) => item.content ?? [])
  return choices?.[0]?.message.content ?? blocks?.findLast(({ text }) => text !== undefined)?.text ?? ''
}

interface AnswerWire {
  readonly choices?: readonly { readonly message: { readonly content: string } }[]
  readonly output?: readonly { readonly content?: readonly { readonly text?: string }[] }[]
  readonly content?: readonly { readonly text?: string }[]
}

describe.each(DIALECTS)('%s', (dialect) => {
  test('a call is run, its result goes back to the model, and the client gets one answer', async () => {
    const { status, json } = await ask(dialect, [{ ...CLOCK, text: 'Let me see.' }, DONE])
    expect(status).toBe(200)
    expect(saidIn(json)).toContain('It is late.')
    expect(JSON.stringify(json)).toMatch(/\d{4}-\d\d-\d\dT[\d:.]+\+09:00/)
  })

  test('a stream of it has one beginning and one end', async () => {
    const { status, text } = await ask(dialect, [{ ...CLOCK, text: 'Let me see.' }, DONE], { stream: true })
    expect(status).toBe(200)
    expect(readStream(dialect, text)).toEqual({ end: 'normal', faults: [] })
    expect(text).toMatch(/\+09:00/)
  })
})

/** Tools that need nothing configured, with their options. */
const TOOLS_EVERYWHERE = [
  { type: 'service:datetime' },
  { type: 'service:experimental__search_models' },
  { type: 'service:web_fetch' },
  { type: 'service:files' },
  { type: 'service:advisor', parameters: { model: 'sandbox/echo' } },
  { type: 'service:subagent', parameters: { model: 'sandbox/echo' } },
]

test.each(DIALECTS)('a tool that runs on %s is known there: a strict request has it, without a warning', async (dialect) => {
  for (const tool of TOOLS_EVERYWHERE) {
    const answer = await ask(dialect, [DONE], { tools: [tool], strict: true })
    expect([tool.type, answer.status, answer.headers.get('x-service-warnings')]).toEqual([tool.type, 200, null])
  }
})
