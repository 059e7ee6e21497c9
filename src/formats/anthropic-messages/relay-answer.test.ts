import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

import { finish, HEAD, METADATA, TAIL, text } from '../../../test/support/answers.ts'
import type { ModelEvent } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { renderAnswer } from './render.ts'
import { relayedUsage } from './usage.ts'

const relayed = (json: string, tail = TAIL, ...events: readonly ModelEvent[]): string =>
  renderAnswer(HEAD, { native: { dialect: 'messages', json }, events }, tail)

describe('a whole message of the same dialect', () => {
  test('keeps its text but for what is ours', () => {
    const { output_tokens: output, ...usage } = relayedUsage(TAIL)
    const native =
      '{\n "x" : 1.0, "model":"m","id":"u","content":[ {"type":"new","y":1E2} ],"usage": {"service_tier":"standard","output_tokens":1} }\n'
    expect(relayed(native, { ...TAIL, metadata: METADATA }, text('Hi'), finish('stop'))).toBe(
      '{\n "x" : 1.0, "model":"acme/one","id":"msg_abc123","content":[ {"type":"new","y":1E2} ],"usage": ' +
        `{"service_tier":"standard","output_tokens":${JSON.stringify(output)},${JSON.stringify(usage).slice(1)},"provider":"Acme","service_metadata":{"strategy":"direct"} }\n`,
    )
  })

  test('that failed is its error', () => {
    const error: ModelEvent = { type: 'error', error: new GatewayError('timeout') }
    expect(relayed('{"id":"u","content":[]}', TAIL, error)).toBe(renderAnswer(HEAD, { events: [error] }, TAIL))
  })

  for (const name of ['anthropic-clear-thinking.1', 'anthropic-refusal', 'anthropic-text', 'anthropic-tool-no-args']) {
    test(`the recording ${name} is itself but for the members that are ours`, () => {
      const recorded = readFileSync(`${import.meta.dir}/../../../test/fixtures/recorded/anthropic/${name}.json`, 'utf8')
      const told = JSON.parse(recorded)
      expect(JSON.parse(relayed(recorded))).toEqual({
        ...told,
        id: 'msg_abc123',
        model: 'acme/one',
        provider: 'Acme',
        usage: { ...told.usage, ...relayedUsage(TAIL) },
      })
    })
  }
})
