/** Answers to render, and the official clients to read them with. */
import Anthropic from '@anthropic-ai/sdk'
import * as fc from 'fast-check'
import OpenAI from 'openai'
import OpenAI7 from 'openai-7'

import type { Frame, ModelEvent } from '../../src/canonical/event.ts'
import type { UrlCitation } from '../../src/canonical/prompt.ts'
import { openProof } from '../../src/canonical/reasoning.ts'
import type { ReasoningProof } from '../../src/canonical/reasoning.ts'
import { usageOf } from '../../src/canonical/usage.ts'
import type { AnswerHead, AnswerTail, StreamRenderer, Written } from '../../src/formats/format.ts'
import { inWholeTexts } from '../../src/formats/with-texts.ts'
import { JsonBody } from '../../src/lib/json/json-body.ts'
import { SseDecoder } from '../../src/lib/network/sse.ts'
import type { SseEvent } from '../../src/lib/network/sse.ts'

export const HEAD: AnswerHead = {
  generationId: 'gen-abc123',
  createdSeconds: 1_700_000_000,
  model: 'acme/one',
  provider: 'Acme',
  // Thinking is enabled, so that it stays where the model put it.
  request: JsonBody.read('{"model":"acme/one","temperature":0.5,"thinking":{"type":"adaptive"}}'),
  inputTokensEstimate: 7,
}

export const TAIL: AnswerTail = {
  usage: usageOf({ inputFresh: 10, inputCacheRead: 4, inputCacheWrite5m: 2, inputCacheWrite1h: 1, output: 5, outputReasoning: 3 }),
  cost: {
    totalNanos: 1_500_000,
    isKnown: true,
    upstreamNanos: 1_200_000,
    upstreamInputNanos: 200_000,
    upstreamOutputNanos: 1_000_000,
    cacheSavedNanos: 0,
    isByok: false,
    customersNanos: 0,
  },
  endedSeconds: 1_700_000_002,
  metadata: null,
}

export const METADATA: NonNullable<AnswerTail['metadata']> = { field: 'service_metadata', value: { strategy: 'direct' } }

export const text = (said: string): ModelEvent => ({ type: 'text', text: said })
export const reasoning = (said: string): ModelEvent => ({ type: 'reasoning', text: said })
export const summary = (said: string): ModelEvent => ({ type: 'reasoning', text: said, summary: true })
export const proven = (proof: ReasoningProof | null): ModelEvent => ({ type: 'reasoning-end', proof })
export const cited = (url: string, more: Partial<UrlCitation> = {}): ModelEvent => ({
  type: 'citation',
  citation: { url, title: null, content: null, start: null, end: null, ...more },
})
export const image = (url: string): ModelEvent => ({ type: 'image', url })
export const logprobs = (...tokens: readonly string[]): ModelEvent => ({
  type: 'logprobs',
  content: tokens.map((token) => ({ token, logprob: -0.5, bytes: null, top_logprobs: [{ token, logprob: -0.5, bytes: [97] }] })),
})
export const refusal = (said: string): ModelEvent => ({ type: 'refusal', text: said })
export const call = (index: number, name: string, proof?: ReasoningProof): ModelEvent => ({
  type: 'tool-call',
  index,
  id: `call_${index}`,
  name,
  ...(proof === undefined ? {} : { proof }),
})
export const args = (index: number, json: string): ModelEvent => ({ type: 'tool-arguments', index, json })
export const finish = (reason: 'stop' | 'length' | 'tool_calls' | 'content_filter', native: string | null = null): ModelEvent => ({
  type: 'finish',
  reason,
  native,
})
export const used: ModelEvent = { type: 'usage', usage: TAIL.usage }

/** One frame for each event. */
export const frames = (...events: readonly ModelEvent[]): Frame[] => events.map((event) => ({ events: [event] }))

/** The whole text of a stream that ends normally. */
export const streamed = (opened: StreamRenderer<Written>, given: readonly Frame[], tail: AnswerTail = TAIL): string => {
  const renderer = inWholeTexts(opened)
  return given.map((frame) => renderer.frames([frame])).join('') + renderer.finish(tail)
}

export const decoded = (stream: string): SseEvent[] => new SseDecoder().push(new TextEncoder().encode(stream))

/** The members of an event's data, in any dialect, that tests read. */
export interface Payload {
  readonly [member: string]: unknown
  readonly type: string
  readonly index: number
  readonly output_index: number
  readonly sequence_number: number
  readonly choices: readonly { readonly finish_reason?: string | null }[]
  readonly response: { readonly output: OpenAI.Responses.ResponseOutputItem[] }
}

/** The parsed data of every event except `[DONE]`. */
export const payloads = (stream: string): Payload[] =>
  decoded(stream)
    .filter((event) => event.data !== '[DONE]')
    .map((event) => JSON.parse(event.data))

const answering = (body: string, type: string) => async (): Promise<Response> => new Response(body, { headers: { 'content-type': type } })

/** An official client that gets `body` as the response to every request. */
export const openAi = (body: string, type = 'text/event-stream'): OpenAI =>
  new OpenAI({ apiKey: 'k', baseURL: 'http://localhost/v1', maxRetries: 0, fetch: answering(body, type) })

/** The same with the next major version of the SDK. */
export const openAi7 = (body: string, type = 'text/event-stream'): OpenAI7 =>
  new OpenAI7({ apiKey: 'k', baseURL: 'http://localhost/v1', maxRetries: 0, fetch: answering(body, type) })

export const anthropic = (body: string, type = 'text/event-stream'): Anthropic =>
  new Anthropic({ apiKey: 'k', baseURL: 'http://localhost', maxRetries: 0, fetch: answering(body, type) })

/** Proofs in each format, as the vendors send them. */
export const CLAUDE: ReasoningProof = { format: 'anthropic-claude-v1', kind: 'signature', data: 'EvQBCk/+==' }
export const REDACTED: ReasoningProof = { format: 'anthropic-claude-v1', kind: 'encrypted', data: 'EmwK+/==' }
export const OPENAI: ReasoningProof = { format: 'openai-responses-v1', kind: 'encrypted', data: 'gAAAAB-_', id: 'rs_theirs' }
export const GEMINI: ReasoningProof = { format: 'google-gemini-v1', kind: 'signature', data: 'CoYB/+==', model: 'google/pro' }

/**
 * The events that a model may send, interleaved in any order: text, thinking with and without proof, sources, images, calls, each opened
 * once and numbered without gaps, and pieces of their JSON; then the end.
 */
export const answerEvents: fc.Arbitrary<ModelEvent[]> = fc
  .record({
    calls: fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 4 }),
    picks: fc.array(fc.record({ kind: fc.nat(), said: fc.string({ unit: 'binary', maxLength: 6 }) }), { maxLength: 40 }),
    proof: fc.constantFrom(CLAUDE, REDACTED, OPENAI, GEMINI),
    summarized: fc.boolean(),
    reason: fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter'),
    usageLast: fc.boolean(),
  })
  .map(({ calls, picks, proof, summarized, reason, usageLast }) => {
    const rest = calls.map((value) => JSON.stringify({ value }))
    const events: ModelEvent[] = []
    let opened = 0
    for (const [at, { kind, said }] of picks.entries()) {
      const choice = kind % 9
      const open = opened === 0 ? -1 : kind % opened
      if (choice === 0) events.push(text(said))
      else if (choice === 1) events.push(summarized ? summary(said) : reasoning(said))
      else if (choice === 2 && kind % 5 === 0) events.push(refusal(said))
      else if (choice === 3 && opened < calls.length) events.push(call(opened++, `tool_${opened}`, kind % 2 === 0 ? GEMINI : undefined))
      else if (choice === 4) events.push(proven(kind % 4 === 0 ? null : { ...proof, data: `${proof.data}${at}` }))
      else if (choice === 5) events.push(text('so'), cited(`https://example.com/${at}`), logprobs('so'))
      else if (choice === 6)
        events.push(kind % 2 === 0 ? image(`data:image/png;base64,AAAA${at}`) : { type: 'unknown', kind: 'web_search_call' })
      else if (open >= 0) {
        const length = 1 + (kind % 7)
        events.push(args(open, (rest[open] ?? '').slice(0, length)))
        rest[open] = (rest[open] ?? '').slice(length)
      }
    }
    for (let index = 0; index < opened; index += 1) events.push(args(index, rest[index] ?? ''))
    const end = finish(reason)
    return usageLast ? [...events, end, used] : [used, ...events, end]
  })

export interface AnswerContents {
  text: string
  reasoning: string
  refusal: string
  calls: { id: string; name: string; arguments: string }[]
  /** The `data` of each proof. */
  proofs: string[]
  /** The base64 data of each image. */
  images: string[]
  /** The URL of each source. */
  sources: string[]
}

export const emptyContents = (): AnswerContents => ({
  text: '',
  reasoning: '',
  refusal: '',
  calls: [],
  proofs: [],
  images: [],
  sources: [],
})

/** The sum of the events, which every rendering of them must match. */
export const contentsOf = (events: readonly ModelEvent[]): AnswerContents => {
  const said = emptyContents()
  for (const event of events) {
    if (event.type === 'text' || event.type === 'reasoning' || event.type === 'refusal') said[event.type] += event.text
    else if (event.type === 'tool-call') {
      said.calls.push({ id: event.id, name: event.name, arguments: '' })
      if (event.proof !== undefined) said.proofs.push(event.proof.data)
    } else if (event.type === 'tool-arguments') said.calls[event.index]!.arguments += event.json
    else if (event.type === 'reasoning-end' && event.proof !== null) said.proofs.push(event.proof.data)
    else if (event.type === 'image') said.images.push(base64Of(event.url))
    else if (event.type === 'citation') said.sources.push(event.citation.url)
  }
  for (const each of said.calls) each.arguments ||= '{}'
  return said
}

export const base64Of = (url: string): string => url.slice(url.indexOf(',') + 1)

/** The `data` of a proof in a field of another dialect, sealed or not. */
export const proofData = (field: string): string => openProof(field)?.data ?? field
