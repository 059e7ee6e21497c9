/**
 * The strictest readers accept every stream of ours: the `.stream()` helpers, which follow the lifecycle, and the AI SDK, which checks
 * shapes.
 */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { type LanguageModel, streamText } from 'ai'
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { anthropic, openAi } from '../support/answers.ts'
import { readAnswer } from '../support/read-answer.ts'
import { ALL_RECORDINGS, fails } from '../support/recordings.ts'
import { OWN_DIALECT, replayReply } from '../support/replay.ts'

const HELPERS: Readonly<Record<ClientDialect, (body: string) => Promise<string>>> = {
  async chat(body) {
    const final = await openAi(body).chat.completions.stream({ model: 'm', messages: [] }).finalChatCompletion()
    return final.choices[0]?.message.content ?? ''
  },
  async responses(body) {
    return (await openAi(body).responses.stream({ model: 'm', input: 'x' }).finalResponse()).output_text
  },
  async messages(body) {
    const { content } = await anthropic(body).messages.stream({ model: 'm', max_tokens: 1, messages: [] }).finalMessage()
    return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  },
}

const saying = (body: string): typeof fetch =>
  (async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })) as unknown as typeof fetch

type Provider = (body: string) => LanguageModel
const apiKey = 'k'
const AI_PROVIDERS: Readonly<Record<ClientDialect, readonly Provider[]>> = {
  chat: [
    (body) => createOpenAI({ apiKey, fetch: saying(body) }).chat('m'),
    (body) => createOpenRouter({ apiKey, fetch: saying(body) }).chat('m'),
  ],
  responses: [(body) => createOpenAI({ apiKey, fetch: saying(body) }).responses('m')],
  messages: [(body) => createAnthropic({ apiKey, fetch: saying(body) })('m')],
}

/** The answer that the AI SDK reads, and the errors that it reports. */
const readByAi = async (model: LanguageModel): Promise<{ readonly text: string; readonly finish: string; readonly errors: unknown[] }> => {
  const errors: unknown[] = []
  const result = streamText({ model, prompt: 'x', maxRetries: 0, onError: ({ error }) => void errors.push(error) })
  await result.consumeStream()
  if (errors.length > 0) return { text: '', finish: 'error', errors }
  return { text: await result.text, finish: await result.finishReason, errors }
}

/** These were shortened by hand before publication, which helpers that follow the lifecycle detect. */
const SHORTENED = /^openai-(?:phase|reasoning-encrypted-content)\.1/

for (const recording of ALL_RECORDINGS.filter(({ stream }) => stream)) {
  const { dialect, name, bytes } = recording
  describe(`${dialect}/${name}`, () => {
    for (const client of CLIENT_DIALECTS) {
      if (OWN_DIALECT[client] === dialect && SHORTENED.test(name)) continue
      test(`${client}: ${fails(recording) ? 'each of them tells the failure' : 'each of them reads the whole text'}`, async () => {
        const { text: body } = await replayReply(client, dialect, { type: 'text/event-stream', pieces: [bytes] })
        const failing = fails(recording)
        if (!failing) {
          const { text, refusal } = await readAnswer(OWN_DIALECT[client], true, body)
          expect(await HELPERS[client](body)).toBe(text)
          for (const provider of AI_PROVIDERS[client]) {
            const read = await readByAi(provider(body))
            expect(read.errors).toEqual([])
            // Some of its providers show the words of a refusal as text.
            expect([text, text + refusal]).toContain(read.text)
          }
        } else {
          for (const provider of AI_PROVIDERS[client]) {
            const read = await readByAi(provider(body))
            // On chat this library does not recognise our error chunk as an error, but it must not report a normal end.
            expect(['error', 'other']).toContain(read.finish)
          }
        }
      })
    }
  })
}
