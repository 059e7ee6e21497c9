import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

import { finish, HEAD, METADATA, TAIL, text } from '../../../test/support/answers.ts'
import type { ModelEvent } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { renderAnswer as rendering } from './render.ts'
import { relayedUsage } from './usage.ts'
import { atOnce } from '../../lib/steps.ts'

const renderAnswer = (...given: Parameters<typeof rendering>): string => atOnce(rendering(...given))

const relayed = (json: string, tail = TAIL, ...events: readonly ModelEvent[]): string =>
  renderAnswer(HEAD, { native: { dialect: 'messages', json }, events }, tail)

/** Members that strict clients need, besides those under test. */
const WHOLE = '"type":"message","role":"assistant","stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"container":null'
const COUNTED = '"output_tokens_details":null,"server_tool_use":null,"inference_geo":null,"speed":null'
const LACKING = {
  stop_details: null,
  container: null,
}
const UNCOUNTED = {
  cache_creation: null,
  cache_creation_input_tokens: null,
  cache_read_input_tokens: null,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: null,
  inference_geo: null,
  speed: null,
}

describe('a whole message of the same dialect', () => {
  test('keeps its text but for what is ours', () => {
    const { output_tokens: output, ...usage } = relayedUsage(TAIL)
    const native = `{\n "x" : 1.0, "model":"m","id":"u",${WHOLE},"content":[ {"type":"new","y":1E2} ],"usage": {${COUNTED},"service_tier":"standard","output_tokens":1} }\n`
    expect(relayed(native, { ...TAIL, metadata: METADATA }, text('Hi'), finish('stop'))).toBe(
      `{\n "x" : 1.0, "model":"acme/one","id":"msg_abc123",${WHOLE},"content":[ {"type":"new","y":1E2} ],"usage": ` +
        `{${COUNTED},"service_tier":"standard","output_tokens":${JSON.stringify(output)},${JSON.stringify(usage).slice(1)},"provider":"Acme","service_metadata":{"strategy":"direct"} }\n`,
    )
  })

  test('gets the members that strict clients need and the upstream left out, after its own', () => {
    const sent = relayed('{"id":"u","content":[]}', TAIL, finish('stop'))
    expect(sent).toStartWith('{"id":"msg_abc123","content":[],"type":"message","role":"assistant","stop_reason":"end_turn"')
    expect(JSON.parse(sent)).toMatchObject({ ...LACKING, stop_sequence: null, usage: { ...UNCOUNTED, ...relayedUsage(TAIL) } })
  })

  test('that failed is its error', () => {
    const error = new GatewayError('timeout')
    const native = { dialect: 'messages', json: '{"id":"u","content":[]}' } as const
    expect(renderAnswer(HEAD, { events: [], native }, TAIL, error)).toBe(renderAnswer(HEAD, { events: [] }, TAIL, error))
  })

  for (const name of ['anthropic-clear-thinking.1', 'anthropic-refusal', 'anthropic-text', 'anthropic-tool-no-args']) {
    test(`the recording ${name} is itself but for the members that are ours`, () => {
      const recorded = readFileSync(`${import.meta.dir}/../../../test/fixtures/recorded/anthropic/${name}.json`, 'utf8')
      const reported = JSON.parse(recorded)
      expect(JSON.parse(relayed(recorded))).toEqual({
        ...LACKING,
        ...reported,
        id: 'msg_abc123',
        model: 'acme/one',
        provider: 'Acme',
        usage: { ...UNCOUNTED, ...reported.usage, ...relayedUsage(TAIL) },
      })
    })
  }
})
