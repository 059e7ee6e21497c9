/** Files as base64 without a type: the type that a provider needs comes from the file's name. */
import { describe, expect, test } from 'bun:test'

import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, replay } from '../support/replay.ts'

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

const BODIES = {
  chat: (file: object) => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'file', file },
        ],
      },
    ],
  }),
  responses: (file: object) => ({
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Hi' },
          { type: 'input_file', ...file },
        ],
      },
    ],
  }),
} as const

const ask = async (client: keyof typeof BODIES, dialect: UpstreamDialect, file: object) => {
  const reply = { type: 'application/json', pieces: [recording(dialect, 'length', false).bytes] } as const
  const { sent, headers } = await replay({ client, upstreams: [{ dialect, reply }], body: { model: MODEL, ...BODIES[client](file) } })
  return { sent: sent[0]?.body ?? '', warnings: Number(headers.get('x-service-warnings') ?? 0) }
}

describe.each(['chat', 'responses'] as const)('%s', (client) => {
  test.each<[UpstreamDialect, string, string]>([
    ['google', 'a.docx', `"mimeType":"${DOCX}"`],
    ['google', 'a.CSV', '"mimeType":"text/csv"'],
    ['google', 'a', '"mimeType":"application/pdf"'],
    ['google', 'a.unheard', '"mimeType":"application/pdf"'],
    ['bedrock', 'a.docx', '"format":"docx"'],
    ['anthropic', 'a.txt', '"type":"text","media_type":"text/plain"'],
    ['anthropic', 'a.png', '"type":"image","source":{"type":"base64","media_type":"image/png"'],
  ])('%s, %s: %s', async (dialect, filename, type) => {
    expect((await ask(client, dialect, { file_data: 'SGVsbG8=', filename })).sent).toContain(type)
  })
})

test.each<UpstreamDialect>(['openai-chat', 'anthropic', 'google', 'bedrock'])(
  '%s: how closely a file is to be looked at is left out with a warning',
  async (dialect) => {
    const file = { file_data: 'data:application/pdf;base64,JVBERi0=' }
    expect((await ask('responses', dialect, file)).warnings).toBe(0)
    expect((await ask('responses', dialect, { ...file, detail: 'high' })).warnings).toBe(1)
    expect((await ask('responses', dialect, { ...file, detail: 'auto' })).warnings).toBe(0)
  },
)
