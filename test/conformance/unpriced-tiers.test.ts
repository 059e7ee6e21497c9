/** A more expensive tier with an unknown price is not requested, in whichever dialect (docs/contract/routing.md#service-tiers). */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { recording, UPSTREAM_DIALECTS, type UpstreamDialect } from '../support/recordings.ts'
import { question, replay, typeOf } from '../support/replay.ts'

/** Models that have their vendors' more expensive tiers. */
const MODELS: Readonly<Record<UpstreamDialect, string>> = {
  'openai-chat': 'gpt-5.4',
  'openai-responses': 'gpt-5.4',
  anthropic: 'claude-opus-4-6',
  google: 'gemini-3-flash',
  bedrock: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
}

const WORDS: Readonly<Record<ClientDialect, readonly (readonly [string, string])[]>> = {
  chat: [
    ['service_tier', 'priority'],
    ['service_tier', 'fast'],
    ['service_tier', 'ultrafast'],
  ],
  responses: [
    ['service_tier', 'priority'],
    ['service_tier', 'fast'],
    ['service_tier', 'ultrafast'],
  ],
  messages: [
    ['service_tier', 'priority'],
    ['service_tier', 'performance'],
    ['speed', 'fast'],
  ],
}

const ask = async (client: ClientDialect, dialect: UpstreamDialect, stream: boolean, more: Readonly<Record<string, unknown>>) => {
  const reply = { type: typeOf(stream), pieces: [recording(dialect, 'length', stream).bytes] }
  const { status, sent, text } = await replay({
    client,
    upstreams: [{ dialect, reply, model: MODELS[dialect] }],
    body: { ...question(client, stream), ...more },
    headers: { 'x-service-metadata': 'enabled' },
  })
  return { status, text, sent: sent.map(({ body }) => JSON.parse(body) as unknown) }
}

for (const client of CLIENT_DIALECTS) {
  for (const dialect of UPSTREAM_DIALECTS) {
    describe(`${client} → ${dialect}`, () => {
      for (const [field, word] of WORDS[client]) {
        for (const stream of [false, true]) {
          test(`${field}: ${word} is sent as an ordinary request, ${stream ? 'streamed' : 'whole'}, with a warning`, async () => {
            const ordinary = await ask(client, dialect, stream, field === 'speed' ? {} : { service_tier: 'default' })
            const { status, sent, text } = await ask(client, dialect, stream, { [field]: word })
            expect(status).toBe(200)
            expect(sent).toEqual(ordinary.sent)
            expect(text).toContain(`"code":"unsupported_field","field":"${field}","message":"The price of ${word} is not known`)
          })
        }

        test(`400: ${field}: ${word} of a strict request, before anybody is asked`, async () => {
          const { status, sent, text } = await ask(client, dialect, false, { [field]: word, strict: true })
          expect([status, sent]).toEqual([400, []])
          expect(text).toContain(`${field}: The request is strict. Otherwise it would get this warning: The price of ${word} is not known`)
        })
      }

      test.each(['auto', 'flex', 'default'])('service_tier: %s is not taken for a dearer one', async (word) => {
        expect((await ask(client, dialect, false, { service_tier: word })).text).not.toContain('The price of')
      })
    })
  }
}
