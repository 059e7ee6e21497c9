import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

import { finish, HEAD, METADATA, TAIL, text } from '../../../test/support/answers.ts'
import type { ModelEvent } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { renderAnswer } from './render.ts'
import { responsesUsage } from './usage.ts'

const relayed = (json: string, tail = TAIL, ...events: readonly ModelEvent[]): string =>
  renderAnswer(HEAD, { native: { dialect: 'responses', json }, events }, tail)

describe('a whole response of the same dialect', () => {
  test('keeps its text but for what is ours', () => {
    const { input_tokens: input, ...usage } = responsesUsage(TAIL)
    const native = '{\n "x" : 1.0, "id":"u","output":[ {"type":"new","y":1E2} ],"model":"m","usage": {"input_tokens":1} }\n'
    expect(relayed(native, { ...TAIL, metadata: METADATA }, text('Hi'), finish('stop'))).toBe(
      '{\n "x" : 1.0, "id":"resp_abc123","output":[ {"type":"new","y":1E2} ],"model":"acme/one","usage": ' +
        `{"input_tokens":${JSON.stringify(input)},${JSON.stringify(usage).slice(1)},"provider":"Acme","service_metadata":{"strategy":"direct"} }\n`,
    )
  })

  test('that names a member twice is relayed as its reader understood it', () => {
    expect(JSON.parse(relayed('{"id":"a","id":"b","status":"x","status":"completed"}'))).toMatchObject({
      id: 'resp_abc123',
      status: 'completed',
    })
  })

  test('that failed is rendered from its meaning', () => {
    const error: ModelEvent = { type: 'error', error: new GatewayError('timeout') }
    expect(relayed('{"id":"u","output":[]}', TAIL, text('Hi'), error)).toBe(renderAnswer(HEAD, { events: [text('Hi'), error] }, TAIL))
  })

  for (const name of ['openai-custom-tool.1', 'openai-phase.1', 'openai-reasoning-encrypted-content.1']) {
    test(`the recording ${name} is itself but for the members that are ours`, () => {
      const recorded = readFileSync(`${import.meta.dir}/../../../test/fixtures/recorded/openai-responses/${name}.json`, 'utf8')
      const { usage, ...sent } = JSON.parse(relayed(recorded))
      const { usage: _, ...kept } = JSON.parse(recorded)
      expect(sent).toEqual({ ...kept, id: 'resp_abc123', model: 'acme/one', provider: 'Acme' })
      expect(usage).toMatchObject(responsesUsage(TAIL))
    })
  }
})
