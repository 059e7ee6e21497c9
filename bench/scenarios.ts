/** The request of each scenario, and the check of a complete answer. */
import {
  PACED_CONTENT_EVENTS,
  PACED_MARKERS,
  PACED_TEXT,
  STREAM_EVENTS_AROUND,
  STREAM_MARKERS,
  STREAM_TEXT,
  WHOLE_MARKERS,
  WHOLE_TEXT,
} from './answers.ts'
import type { Expectation, LoadPlan } from './load.ts'
import { STREAM_MESSAGES_MARKERS, WHOLE_MESSAGES_MARKERS } from './messages-answers.ts'
import { chatBody, loopBody, messagesBody, presetBody } from './request-bodies.ts'
import type { Target, TargetKind } from './targets.ts'

export interface Scenario {
  readonly name: string
  /** The name of a unit in the report. */
  readonly unit: 'request' | 'stream' | 'create' | 'event'
  /**
   * The targets that it is measured on. The CPU time of the others is reported as a multiple of the last one's, unless that is the first.
   */
  readonly on: readonly [TargetKind, ...TargetKind[]]
  /** A member that a target must have; the scenario is skipped for targets without it. */
  readonly needs: keyof Target
  /** Measured once, on targets started only for it, so that their memory is due to this scenario. */
  readonly alone: boolean
  /** The number of units in one request. */
  readonly unitsEach: number
  /** Replaces the default, which is one request at a time for each connection. */
  readonly pace: Pick<LoadPlan, 'perSecond' | 'requests'> | null
  load(target: Target): Pick<LoadPlan, 'urls' | 'headers' | 'bodies' | 'expect'>
}

const BASE = { unit: 'request', on: ['patchbay', 'bare proxy'], needs: 'key', alone: false, unitsEach: 1, pace: null } as const

const BYTES = 2 * 1024

const chat = (name: string, bytes: number, changes: Partial<Scenario> & { readonly needs?: KeyName } = {}): Scenario => ({
  ...BASE,
  name,
  ...changes,
  load: (target) => ({
    urls: [`${target.base}/chat/completions`],
    headers: headers(target[changes.needs ?? 'key']),
    bodies: [chatBody({ model: target.model, bytes, stream: false })],
    expect: target.answersAreKnown ? complete(WHOLE_MARKERS, WHOLE_TEXT) : complete(['"finish_reason"'], null),
  }),
})

type KeyName = 'key' | 'limitedKey' | 'guardedKey'

const stream: Scenario = {
  ...BASE,
  name: 'stream',
  unit: 'stream',
  load: (target) => ({
    urls: [`${target.base}/chat/completions`],
    headers: headers(target.key),
    bodies: [chatBody({ model: target.model, bytes: BYTES, stream: true })],
    expect: target.answersAreKnown ? complete(STREAM_MARKERS, STREAM_TEXT) : complete(['"finish_reason"', 'data: [DONE]'], null),
  }),
}

/** Streams are opened at an even pace, so that all are open at once for most of their time. */
const openStreams: Scenario = {
  ...BASE,
  name: 'open-streams-1000',
  unit: 'event',
  needs: 'paced',
  alone: true,
  unitsEach: PACED_CONTENT_EVENTS + STREAM_EVENTS_AROUND,
  pace: { perSecond: 500, requests: 1000 },
  load: ({ paced, key }) => ({
    urls: [`${paced?.base}/chat/completions`],
    headers: headers(key),
    bodies: [chatBody({ model: paced?.model ?? '', bytes: BYTES, stream: true })],
    expect: { ...complete(PACED_MARKERS, PACED_TEXT), events: PACED_CONTENT_EVENTS + STREAM_EVENTS_AROUND },
  }),
}

/** Far below full load, with a provider that takes 50 ms: what the service adds to the latency of a request. */
const delayed: Scenario = {
  ...BASE,
  name: 'added-at-300-per-second',
  on: ['patchbay', 'bare proxy', 'upstream'],
  needs: 'delayed',
  pace: { perSecond: 300, requests: null },
  load: ({ delayed: slow, key }) => ({
    urls: [`${slow?.base}/chat/completions`],
    headers: headers(key),
    bodies: [chatBody({ model: slow?.model ?? '', bytes: BYTES, stream: false })],
    expect: complete(WHOLE_MARKERS, WHOLE_TEXT),
  }),
}

/**
 * The client speaks Messages, the provider Chat Completions. The bare proxy forwards the same request to a provider that speaks Messages.
 */
const messagesOverChat = (name: string, streamed: boolean): Scenario => ({
  ...BASE,
  name,
  unit: streamed ? 'stream' : 'request',
  load: (target) => ({
    urls: [`${target.base}/messages`],
    headers: headers(target.key),
    bodies: [messagesBody({ model: target.model, bytes: BYTES, stream: streamed })],
    expect: target.answersAreKnown
      ? complete(...(streamed ? ([STREAM_MESSAGES_MARKERS, STREAM_TEXT] as const) : ([WHOLE_MESSAGES_MARKERS, WHOLE_TEXT] as const)))
      : complete(['"stop_reason"'], null),
  }),
})

/** The client speaks Chat Completions, the provider Messages. */
const chatOverMessages = (name: string, streamed: boolean): Scenario => ({
  ...BASE,
  name,
  unit: streamed ? 'stream' : 'request',
  needs: 'messagesModel',
  load: (target) => ({
    urls: [`${target.base}/chat/completions`],
    headers: headers(target.key),
    bodies: [chatBody({ model: target.messagesModel ?? '', bytes: BYTES, stream: streamed })],
    expect: streamed ? complete(STREAM_MARKERS, STREAM_TEXT) : complete(WHOLE_MARKERS, WHOLE_TEXT),
  }),
})

/** An agent model of the sandbox, inside the service's process: the cost of a loop is the difference to zero steps. */
const loop = (name: string, steps: number): Scenario => ({
  ...BASE,
  name,
  on: ['patchbay'],
  load: (target) => ({
    urls: [`${target.base}/chat/completions`],
    headers: headers(target.key),
    bodies: [loopBody(steps, BYTES, LOOP_TEXT)],
    expect: complete(['"finish_reason":"stop"', ...(steps === 0 ? [] : [`"tool_calls_executed":${steps}`])], LOOP_TEXT),
  }),
})

const LOOP_TEXT = 'That was it.'

/** Requests that name presets, in turn. */
const presetChat: Scenario = {
  ...BASE,
  name: 'grows-with-presets-and-keys',
  on: ['patchbay, 100,000 presets and keys', 'patchbay, 10 presets and keys'],
  needs: 'presetModels',
  alone: true,
  load: (target) => ({
    urls: [`${target.base}/chat/completions`],
    headers: headers(target.key),
    bodies: (target.presetModels ?? []).map((model) => chatBody({ model, bytes: BYTES, stream: false })),
    expect: complete(WHOLE_MARKERS, WHOLE_TEXT),
  }),
}

const presets = (name: string, slugs: number): Scenario => ({
  ...BASE,
  name,
  unit: 'create',
  on: ['patchbay'],
  needs: 'managementKey',
  load: (target) => ({
    urls: Array.from({ length: slugs }, (_, index) => `${target.base}/presets/bench-${slugs}-${index}/chat/completions`),
    headers: headers(target.managementKey),
    bodies: [presetBody(target.model)],
    // No two creations with one slug may get the same version.
    expect: { ...complete(['"designated_version":{'], null), distinct: '"version":(\\d+)' },
  }),
})

const headers = (key: string | null): Record<string, string> => ({ 'content-type': 'application/json', authorization: `Bearer ${key}` })

const complete = (includes: readonly string[], text: string | null): Expectation => ({
  includes,
  excludes: ['"error":{'],
  text,
  events: null,
  distinct: null,
})

export const SCENARIOS: readonly Scenario[] = [
  chat('chat-2kb', BYTES),
  chat('chat-2kb-limited', BYTES, { needs: 'limitedKey' }),
  chat('chat-2kb-guarded', BYTES, { needs: 'guardedKey' }),
  chat('chat-20kb', 10 * BYTES),
  chat('chat-200kb', 100 * BYTES),
  stream,
  messagesOverChat('messages-over-chat-2kb', false),
  messagesOverChat('messages-over-chat-stream', true),
  chatOverMessages('chat-over-messages-2kb', false),
  chatOverMessages('chat-over-messages-stream', true),
  loop('agent-without-tools', 0),
  loop('agent-loop-of-3', 3),
  delayed,
  presets('presets-1-slug', 1),
  presets('presets-64-slugs', 64),
  openStreams,
  presetChat,
  chat('workers-2', BYTES, { on: ['patchbay, 2 workers', 'patchbay'], alone: true }),
]
