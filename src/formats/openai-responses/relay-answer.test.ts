import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

import { OpenResponsesResult$inboundSchema } from '@openrouter/sdk/models/openresponsesresult.js'

import { finish, HEAD, METADATA, TAIL, text } from '../../../test/support/answers.ts'
import type { ModelEvent } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { renderAnswer as rendering } from './render.ts'
import { responsesUsage } from './usage.ts'
import { atOnce } from '../../lib/steps.ts'

const renderAnswer = (...given: Parameters<typeof rendering>): string => atOnce(rendering(...given))

const relayed = (json: string, tail = TAIL, ...events: readonly ModelEvent[]): string =>
  renderAnswer(HEAD, { native: { dialect: 'responses', json }, events }, tail)

/** Members that strict clients need, besides those under test. */
const REST =
  '"object":"response","created_at":1,"completed_at":null,"status":"completed","error":null,"incomplete_details":null,"instructions":null,"metadata":null,' +
  '"parallel_tool_calls":true,"temperature":null,"top_p":null,"presence_penalty":null,"frequency_penalty":null,"tool_choice":"auto","tools":[]'

describe('a whole response of the same dialect', () => {
  test('keeps its text but for what is ours', () => {
    const { input_tokens: input, ...usage } = responsesUsage(TAIL)
    const native = `{\n "x" : 1.0, "id":"u",${REST},"output":[ {"type":"new","y":1E2} ],"model":"m","usage": {"input_tokens":1} }\n`
    expect(relayed(native, { ...TAIL, metadata: METADATA }, text('Hi'), finish('stop'))).toBe(
      `{\n "x" : 1.0, "id":"resp_abc123",${REST},"output":[ {"type":"new","y":1E2} ],"model":"acme/one","usage": ` +
        `{"input_tokens":${JSON.stringify(input)},${JSON.stringify(usage).slice(1)},"provider":"Acme","service_metadata":{"strategy":"direct"} }\n`,
    )
  })

  test('gets the members that strict clients need and the upstream left out, after its own', () => {
    const sent = relayed('{"id":"u","output":[ ],"temperature":1.0}', TAIL, finish('stop'))
    expect(sent).toStartWith('{"id":"resp_abc123","output":[ ],"temperature":1.0,"object":"response","created_at":1700000000')
    const reported = JSON.parse(sent)
    expect(reported).toMatchObject({
      ...JSON.parse(`{${REST}}`),
      created_at: HEAD.createdSeconds,
      completed_at: TAIL.endedSeconds,
      temperature: 1,
    })
    expect(OpenResponsesResult$inboundSchema.safeParse(reported).success).toBe(true)
  })

  test('that names a member twice is relayed as its reader understood it', () => {
    expect(JSON.parse(relayed('{"id":"a","id":"b","status":"x","status":"completed"}'))).toMatchObject({
      id: 'resp_abc123',
      status: 'completed',
    })
  })

  test('that failed is rendered from its meaning', () => {
    const error = new GatewayError('timeout')
    const native = { dialect: 'responses', json: '{"id":"u","output":[]}' } as const
    const events = [text('Hi')]
    expect(renderAnswer(HEAD, { events, native }, TAIL, error)).toBe(renderAnswer(HEAD, { events }, TAIL, error))
  })

  for (const name of ['openai-custom-tool.1', 'openai-phase.1', 'openai-reasoning-encrypted-content.1']) {
    test(`the recording ${name} is itself but for the members that are ours`, () => {
      const recorded = readFileSync(`${import.meta.dir}/../../../test/fixtures/recorded/openai-responses/${name}.json`, 'utf8')
      const { usage, ...sent } = JSON.parse(relayed(recorded))
      const { usage: _, ...kept } = JSON.parse(recorded)
      expect(sent).toMatchObject({ ...kept, id: 'resp_abc123', model: 'acme/one', provider: 'Acme' })
      expect(usage).toMatchObject(responsesUsage(TAIL))
    })
  }
})
