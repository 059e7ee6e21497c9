/** Upstream replies written inside tests, and what the client or the upstream gets. */
import { expect } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { readStream } from './client-stream.ts'
import { readAnswer, type Reading } from './read-answer.ts'
import { recording, streamBytes, type UpstreamDialect } from './recordings.ts'
import { MODEL, OWN_DIALECT, replay, type Reply, replayReply } from './replay.ts'

const encoder = new TextEncoder()
export const reported = (dialect: UpstreamDialect, ...payloads: readonly unknown[]): Reply => ({
  type: 'text/event-stream',
  pieces: [
    streamBytes(
      dialect,
      payloads.map((payload) => (typeof payload === 'string' ? payload : JSON.stringify(payload))),
    ),
  ],
})
export const whole = (body: unknown): Reply => ({ type: 'application/json', pieces: [encoder.encode(JSON.stringify(body))] })

export const chunk = (delta: unknown, finish: string | null = null, more: object = {}): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
})
export const calling = (index: number, id: string, name: string, json: string): object => ({
  tool_calls: [{ index, id, type: 'function', function: { name, arguments: json } }],
})
export const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }

/** The reading of one upstream stream by a client of each dialect, after a check of the lifecycle. */
export const readings = async (dialect: UpstreamDialect, reply: Reply): Promise<Readonly<Record<ClientDialect, Reading>>> => {
  const read = async (client: ClientDialect): Promise<Reading> => {
    const { text } = await replayReply(client, dialect, reply)
    expect(readStream(client, text)).toEqual({ end: 'normal', faults: [] })
    return readAnswer(OWN_DIALECT[client], true, text)
  }
  return { chat: await read('chat'), responses: await read('responses'), messages: await read('messages') }
}

export const everywhere = (
  found: Readonly<Record<ClientDialect, Reading>>,
  check: (reading: Reading, client: ClientDialect) => void,
): void => {
  for (const client of CLIENT_DIALECTS) check(found[client], client)
}

/** The request that an upstream of `dialect` gets. */
export const sentTo = async (
  client: ClientDialect,
  dialect: UpstreamDialect,
  body: Readonly<Record<string, unknown>>,
): Promise<{ body: Readonly<Record<string, unknown>>; text: string; warnings: number }> => {
  const reply = { type: 'application/json', pieces: [recording(dialect, 'length', false).bytes] } as const
  const { sent, text, headers } = await replay({ client, upstreams: [{ dialect, reply }], body: { model: MODEL, stream: false, ...body } })
  if (sent[0] === undefined) throw new Error(`Nothing was sent: ${text}`)
  return {
    body: JSON.parse(sent[0].body) as Readonly<Record<string, unknown>>,
    text: sent[0].body,
    warnings: Number(headers.get('x-service-warnings') ?? 0),
  }
}
