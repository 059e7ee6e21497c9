/** What is sent to a target, and what a complete answer to it is. */
import { STREAM_MARKERS, STREAM_TEXT, WHOLE_MARKERS, WHOLE_TEXT } from './answers.ts'
import type { Expectation, LoadPlan } from './load.ts'
import { STREAM_MESSAGES_MARKERS, WHOLE_MESSAGES_MARKERS } from './messages-answers.ts'
import { chatBody, messagesBody, presetBody } from './request-bodies.ts'
import type { Target } from './targets.ts'

export interface Scenario {
  readonly name: string
  /** What one request of it is called in the report. */
  readonly unit: 'request' | 'stream' | 'create'
  /** Whether a bare proxy can do it too, so that there is a ratio. */
  readonly onBareProxy: boolean
  /** What the target must have; one without it leaves the scenario out. */
  readonly needs: 'key' | 'limitedKey' | 'guardedKey' | 'managementKey' | 'messagesModel'
  load(target: Target): Pick<LoadPlan, 'urls' | 'headers' | 'body' | 'expect'>
}

const ON_BOTH = { unit: 'request', onBareProxy: true, needs: 'key' } as const

const chat = (name: string, bytes: number, by: 'key' | 'limitedKey' | 'guardedKey' = 'key'): Scenario => ({
  name,
  unit: 'request',
  onBareProxy: by === 'key',
  needs: by,
  load: (target) => ({
    urls: [`${target.base}/chat/completions`],
    headers: headers(target[by] ?? ''),
    body: chatBody({ model: target.model, bytes, stream: false }),
    expect: target.answersAreKnown ? complete(WHOLE_MARKERS, WHOLE_TEXT) : complete(['"finish_reason"'], null),
  }),
})

const stream: Scenario = {
  ...ON_BOTH,
  name: 'stream',
  unit: 'stream',
  load: (target) => ({
    urls: [`${target.base}/chat/completions`],
    headers: headers(target.key),
    body: chatBody({ model: target.model, bytes: 2048, stream: true }),
    expect: target.answersAreKnown ? complete(STREAM_MARKERS, STREAM_TEXT) : complete(['"finish_reason"', 'data: [DONE]'], null),
  }),
}

/** The client speaks Messages, the provider Chat Completions. The bare proxy passes the same request on to a provider that speaks it. */
const messagesOverChat = (name: string, streamed: boolean): Scenario => ({
  ...ON_BOTH,
  name,
  unit: streamed ? 'stream' : 'request',
  load: (target) => ({
    urls: [`${target.base}/messages`],
    headers: headers(target.key),
    body: messagesBody({ model: target.model, bytes: 2048, stream: streamed }),
    expect: target.answersAreKnown
      ? complete(...(streamed ? ([STREAM_MESSAGES_MARKERS, STREAM_TEXT] as const) : ([WHOLE_MESSAGES_MARKERS, WHOLE_TEXT] as const)))
      : complete(['"stop_reason"'], null),
  }),
})

/** The client speaks Chat Completions, the provider Messages. */
const chatOverMessages = (name: string, streamed: boolean): Scenario => ({
  ...ON_BOTH,
  name,
  unit: streamed ? 'stream' : 'request',
  needs: 'messagesModel',
  load: (target) => ({
    urls: [`${target.base}/chat/completions`],
    headers: headers(target.key),
    body: chatBody({ model: target.messagesModel ?? '', bytes: 2048, stream: streamed }),
    expect: streamed ? complete(STREAM_MARKERS, STREAM_TEXT) : complete(WHOLE_MARKERS, WHOLE_TEXT),
  }),
})

const presets = (name: string, slugs: number): Scenario => ({
  name,
  unit: 'create',
  onBareProxy: false,
  needs: 'managementKey',
  load: (target) => ({
    urls: Array.from({ length: slugs }, (_, index) => `${target.base}/presets/bench-${slugs}-${index}/chat/completions`),
    headers: headers(target.managementKey ?? ''),
    body: presetBody(target.model),
    // No two creates of one slug may get the same version.
    expect: { includes: ['"designated_version":{'], excludes: ['"error":{'], text: null, distinct: '"version":(\\d+)' },
  }),
})

const headers = (key: string): Record<string, string> => ({ 'content-type': 'application/json', authorization: `Bearer ${key}` })

const complete = (includes: readonly string[], text: string | null): Expectation => ({
  includes,
  excludes: ['"error":{'],
  text,
  distinct: null,
})

export const SCENARIOS: readonly Scenario[] = [
  chat('chat-2kb', 2 * 1024),
  chat('chat-2kb-limited', 2 * 1024, 'limitedKey'),
  chat('chat-2kb-guarded', 2 * 1024, 'guardedKey'),
  chat('chat-20kb', 20 * 1024),
  chat('chat-200kb', 200 * 1024),
  stream,
  messagesOverChat('messages-over-chat-2kb', false),
  messagesOverChat('messages-over-chat-stream', true),
  chatOverMessages('chat-over-messages-2kb', false),
  chatOverMessages('chat-over-messages-stream', true),
  presets('presets-1-slug', 1),
  presets('presets-64-slugs', 64),
]
