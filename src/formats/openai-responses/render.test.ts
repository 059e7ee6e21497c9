import { describe, expect, test } from 'bun:test'

import { OpenResponsesResult$inboundSchema } from '@openrouter/sdk/models/openresponsesresult.js'
import * as fc from 'fast-check'

import { answerEvents, args, call, finish, HEAD, METADATA, openAi, text, TAIL } from '../../../test/support/answers.ts'
import type { ModelEvent } from '../../canonical/event.ts'
import { ERROR_TYPES, errorRow, GatewayError } from '../../errors.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { renderError } from './render-error.ts'
import { renderAnswer as rendering } from './render.ts'
import { atOnce } from '../../lib/steps.ts'

const renderAnswer = (...given: Parameters<typeof rendering>): string => atOnce(rendering(...given))

const failed = (error: GatewayError, ...events: readonly ModelEvent[]) => JSON.parse(renderAnswer(HEAD, { events }, TAIL, error))

describe('a whole response', () => {
  test('has every key of the strict schema, the items, and the text at hand', () => {
    expect(
      renderAnswer(HEAD, { events: [text('Hi'), call(0, 'a'), args(0, '{}'), finish('tool_calls')] }, { ...TAIL, metadata: METADATA }),
    ).toBe(
      '{"id":"resp_abc123","object":"response","created_at":1700000000,"completed_at":1700000002,"status":"completed","error":null,"incomplete_details":null,' +
        '"output":[{"type":"message","id":"msg_abc123_0","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hi","annotations":[],"logprobs":[]}]},' +
        '{"type":"function_call","id":"fc_abc123_1","call_id":"call_0","name":"a","arguments":"{}","status":"completed"}],"model":"acme/one",' +
        '"instructions":null,"metadata":null,"parallel_tool_calls":true,"temperature":0.5,"top_p":null,"presence_penalty":null,"frequency_penalty":null,' +
        '"max_output_tokens":null,"max_tool_calls":null,"tool_choice":"auto","reasoning":null,"text":{"format":{"type":"text"}},"truncation":"disabled",' +
        '"user":null,"tools":[],"store":false,"background":false,"previous_response_id":null,' +
        '"usage":{"input_tokens":17,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":3},"output_tokens":8,' +
        '"output_tokens_details":{"reasoning_tokens":3},"total_tokens":25,"cost":0.0015,"is_byok":false,"cost_details":' +
        '{"upstream_inference_cost":0.0012,"upstream_inference_input_cost":0.0002,"upstream_inference_output_cost":0.001}},' +
        '"output_text":"Hi","service_metadata":{"strategy":"direct"}}',
    )
  })

  test('echoes the request, with what strict clients need of its tools', () => {
    const request = JsonBody.read(
      '{\n"instructions":"Be brief.","metadata":{"a":"b"},"tools":[{"type":"function","name":"f"},{"type":"web_search"}],"tool_choice":"required",' +
        '"parallel_tool_calls":false,"top_p":0.5,"max_output_tokens":9,"reasoning":{"effort":"low"},"service_tier":null,"user":"u","stream":true,"input":"x"}',
    )
    const body = renderAnswer({ ...HEAD, request }, { events: [] }, TAIL)
    expect(body).not.toContain('\n')
    const parsed = JSON.parse(body)
    expect(parsed).toMatchObject({
      instructions: 'Be brief.',
      metadata: { a: 'b' },
      tools: [{ type: 'function', name: 'f', parameters: null, strict: null }, { type: 'web_search' }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      top_p: 0.5,
      max_output_tokens: 9,
      reasoning: { effort: 'low' },
      user: 'u',
    })
    for (const key of ['service_tier', 'stream', 'input']) expect(parsed).not.toHaveProperty(key)
    expect(JSON.stringify(OpenResponsesResult$inboundSchema.parse(parsed))).not.toContain('UNKNOWN')
  })

  test('that a failure ended keeps what was produced', () => {
    expect(failed(new GatewayError('timeout', 'Acme is silent.'), text('Hi'))).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: 'Acme is silent.' },
      error_type: 'timeout',
      output: [{ status: 'incomplete', content: [{ text: 'Hi' }] }],
    })
  })

  test('that an error of length ended is incomplete, not failed', () => {
    const body = failed(new GatewayError('max_tokens_exceeded'), text('Hi'))
    expect(body).toMatchObject({
      status: 'incomplete',
      error: null,
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
    })
    expect(body).not.toHaveProperty('error_type')
  })

  test('property: strict clients and the official one take it', async () => {
    await fc.assert(
      fc.asyncProperty(answerEvents, async (events) => {
        const body = renderAnswer(HEAD, { events }, TAIL)
        expect(JSON.stringify(OpenResponsesResult$inboundSchema.parse(JSON.parse(body)))).not.toContain('"UNKNOWN"')
        const read = await openAi(body, 'application/json').responses.create({ model: 'm', input: 'x' })
        expect(read.output_text).toBe(events.map((event) => (event.type === 'text' ? event.text : '')).join(''))
      }),
    )
  })
})

test('instructions and tools of more than 1 MiB are not echoed, whole or failed; shorter ones are', () => {
  const echoOf = (length: number, instructions?: string): unknown => {
    const tools = [{ type: 'function', name: 'f', description: 'd'.repeat(length), parameters: {}, strict: true }]
    const request = JsonBody.read(JSON.stringify({ model: 'a/b', input: 'x', instructions: 'i'.repeat(length), tools }))
    const head = instructions === undefined ? { ...HEAD, request } : { ...HEAD, request, instructions }
    const whole = JSON.parse(renderAnswer(head, { events: [] }, TAIL)) as Record<string, unknown>
    const failed = JSON.parse(renderError(new GatewayError('server'), head, TAIL).body) as Record<string, unknown>
    for (const name of ['instructions', 'tools']) expect(failed[name]).toEqual(whole[name])
    return [whole['instructions'], whole['tools']]
  }
  expect(echoOf(1024 * 1024)).toEqual([null, []])
  expect(echoOf(500_000)).toEqual(['i'.repeat(500_000), [expect.objectContaining({ description: 'd'.repeat(500_000) })]])
  expect(echoOf(500_000, 'own')).toEqual(['own', expect.anything()])
})

describe('an error that stands alone', () => {
  const error = new GatewayError('rate_limit_exceeded', 'Slow down.', { metadata: { provider_code: 'x' } })

  test('before routing is the standard body, with error_type on top as well', () => {
    expect(renderError(error, null, { ...TAIL, metadata: METADATA })).toEqual({
      body:
        '{"error":{"code":429,"message":"Slow down.","metadata":{"provider_code":"x","error_type":"rate_limit_exceeded"}},' +
        '"error_type":"rate_limit_exceeded","service_metadata":{"strategy":"direct"}}',
      answered: false,
    })
  })

  for (const type of ERROR_TYPES) {
    test(`${type}: after routing a full response that strict clients take`, () => {
      const { body, answered } = renderError(new GatewayError(type, 'Because.'), HEAD, TAIL)
      const parsed = JSON.parse(body)
      expect(JSON.stringify(OpenResponsesResult$inboundSchema.parse(parsed))).not.toContain('UNKNOWN')
      const row = errorRow(type)
      expect(answered).toBe(row.length === true)
      expect(parsed).toMatchObject(
        row.length === true
          ? { status: 'incomplete', error: null, incomplete_details: { reason: 'max_output_tokens' }, output: [] }
          : { status: 'failed', error: { code: row.responsesCode }, error_type: type, output: [] },
      )
    })
  }

  test('before routing an error of length is an error: nothing was produced', () => {
    const { body, answered } = renderError(new GatewayError('string_too_long'), null, null)
    expect(answered).toBe(false)
    expect(JSON.parse(body)).toMatchObject({ error: { code: 400 }, error_type: 'string_too_long' })
  })
})
