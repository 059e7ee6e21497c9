/** Tool arguments and seeds belong to the model and the client: numbers too precise for a double reach the other side as they are written. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, replay, replayReply } from '../support/replay.ts'

const BIG = '12345678901234567890'

const ANSWERS: Readonly<Partial<Record<UpstreamDialect, string>>> = {
  anthropic: `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t1","name":"f","input":{"n":${BIG}}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`,
  google: `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"n":${BIG}}}}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1}}`,
}

describe('large numbers', () => {
  for (const [dialect, body] of Object.entries(ANSWERS)) {
    for (const client of CLIENT_DIALECTS) {
      test(`${dialect} → ${client}: in an answer`, async () => {
        const pieces = [new TextEncoder().encode(body)]
        const { text } = await replayReply(client, dialect as UpstreamDialect, { type: 'application/json', pieces })
        expect(text).toContain(BIG)
      })
    }
  }

  test('chat → openai-chat: the seed', async () => {
    const reply = { type: 'application/json', pieces: [recording('openai-chat', 'length', false).bytes] } as const
    const body = `{"model":"${MODEL}","messages":[{"role":"user","content":"Hi"}],"seed":9007199254740993}`
    const { sent } = await replay({ client: 'chat', upstreams: [{ dialect: 'openai-chat', slug: 'openai', reply }], body })
    expect(sent[0]?.body).toContain('"seed":9007199254740993')
  })

  test('chat → openai-chat, written anew: a seed that would be another is left out with a warning', async () => {
    const reply = { type: 'application/json', pieces: [recording('openai-chat', 'length', false).bytes] } as const
    const tools = '[{"type":"service:datetime"}]'
    const body = `{"model":"${MODEL}","messages":[{"role":"user","content":"Hi"}],"seed":9223372036854775807,"tools":${tools}}`
    const { sent, headers } = await replay({ client: 'chat', upstreams: [{ dialect: 'openai-chat', slug: 'openai', reply }], body })
    expect(sent[0]?.body).not.toContain('"seed"')
    expect(headers.get('x-service-warnings')).toBe('1')
  })

  test('messages → openai-chat: in the history', async () => {
    const history = `[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{"n":${BIG}}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}]`
    const answer = {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
    }
    const reply = { type: 'application/json', pieces: [new TextEncoder().encode(JSON.stringify(answer))] } as const
    const body = `{"model":"${MODEL}","max_tokens":100,"messages":${history}}`
    const { sent } = await replay({ client: 'messages', upstreams: [{ dialect: 'openai-chat', reply }], body })
    expect(sent[0]?.body).toContain(BIG)
  })
})
