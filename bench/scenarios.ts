/** What is sent to a target, and what a complete answer to it is. */
import { STREAM_MARKERS, STREAM_TEXT, WHOLE_MARKERS, WHOLE_TEXT } from './answers.ts'
import type { Expectation, LoadPlan } from './load.ts'
import { chatBody, presetBody } from './request-bodies.ts'
import type { Target } from './targets.ts'

export interface Scenario {
  readonly name: string
  /** What one request of it is called in the report. */
  readonly unit: 'request' | 'stream' | 'create'
  /** Whether a bare proxy can do it too, so that there is a ratio. */
  readonly onBareProxy: boolean
  /** The key it is sent with; a target without one leaves it out. */
  readonly needs: 'key' | 'limitedKey' | 'managementKey'
  load(target: Target): Pick<LoadPlan, 'urls' | 'headers' | 'body' | 'expect'>
}

const chat = (name: string, bytes: number, by: 'key' | 'limitedKey' = 'key'): Scenario => ({
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
  name: 'stream',
  unit: 'stream',
  onBareProxy: true,
  needs: 'key',
  load: (target) => ({
    urls: [`${target.base}/chat/completions`],
    headers: headers(target.key),
    body: chatBody({ model: target.model, bytes: 2048, stream: true }),
    expect: target.answersAreKnown ? complete(STREAM_MARKERS, STREAM_TEXT) : complete(['"finish_reason"', 'data: [DONE]'], null),
  }),
}

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
  chat('chat-20kb', 20 * 1024),
  chat('chat-200kb', 200 * 1024),
  stream,
  presets('presets-1-slug', 1),
  presets('presets-64-slugs', 64),
]
