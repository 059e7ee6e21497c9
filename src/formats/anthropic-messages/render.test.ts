import { describe, expect, test } from 'bun:test'

import {
  anthropic,
  args,
  call,
  cited,
  CLAUDE,
  finish,
  GEMINI,
  HEAD,
  image,
  METADATA,
  OPENAI,
  proven,
  reasoning,
  REDACTED,
  refusal,
  summary,
  TAIL,
  text,
  used,
} from '../../../test/support/answers.ts'
import type { ModelEvent } from '../../canonical/event.ts'
import { sealProof } from '../../canonical/reasoning.ts'
import { usageOf } from '../../canonical/usage.ts'
import { ERROR_TYPES, errorRow, GatewayError } from '../../errors.ts'
import { renderError } from './render-error.ts'
import { renderAnswer as rendering } from './render.ts'
import { atOnce } from '../../lib/steps.ts'

const renderAnswer = (...given: Parameters<typeof rendering>): string => atOnce(rendering(...given))

const message = (content: string, reason: string, details = 'null', more = ''): string =>
  `{"id":"msg_abc123","type":"message","role":"assistant","model":"acme/one","provider":"Acme","content":[${content}],` +
  `"stop_reason":"${reason}","stop_sequence":null,"stop_details":${details},"container":null,` +
  '"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,' +
  '"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":1},"output_tokens":8,' +
  '"output_tokens_details":{"thinking_tokens":3},"server_tool_use":null,"service_tier":null,"inference_geo":null,"speed":null,' +
  '"cost":0.0015,"is_byok":false,"cost_details":{"upstream_inference_cost":0.0012,' +
  `"upstream_inference_prompt_cost":0.0002,"upstream_inference_completions_cost":0.001}}${more}}`

const render = (...events: readonly ModelEvent[]): string => renderAnswer(HEAD, { events }, TAIL)

describe('a whole message', () => {
  test('thinking, text and tool calls are blocks in the order they came; arguments keep their number forms', () => {
    expect(
      render(
        reasoning('hm'),
        text('Hi'),
        call(0, 'a'),
        args(0, ' {"x":1.0,'),
        call(1, 'b'),
        args(0, '"y":12345678901234567890}'),
        finish('tool_calls'),
        used,
      ),
    ).toBe(
      message(
        '{"type":"thinking","thinking":"hm","signature":"pb1.unsigned"},{"type":"text","text":"Hi","citations":[]},' +
          '{"type":"tool_use","id":"call_0","name":"a","input":{"x":1.0,"y":12345678901234567890}},' +
          '{"type":"tool_use","id":"call_1","name":"b","input":{}}',
        'tool_use',
      ),
    )
  })

  test('thinking has its signature, a foreign one sealed; a proof without text is a block of its own', () => {
    expect(
      render(reasoning('a'), proven(CLAUDE), summary('b'), proven(OPENAI), proven(CLAUDE), proven(REDACTED), call(0, 'a', GEMINI)),
    ).toBe(
      message(
        `{"type":"thinking","thinking":"a","signature":"${CLAUDE.data}"},{"type":"thinking","thinking":"b","signature":"${sealProof(OPENAI)}"},` +
          `{"type":"thinking","thinking":"","signature":"${CLAUDE.data}"},{"type":"redacted_thinking","data":"${REDACTED.data}"},` +
          `{"type":"redacted_thinking","data":"${sealProof({ ...GEMINI, id: 'call_0' })}"},{"type":"tool_use","id":"call_0","name":"a","input":{}}`,
        'tool_use',
      ),
    )
  })

  test('sources and pictures', () => {
    expect(render(text('Hi'), cited('https://a', { title: 'A', content: 'c' }), image('data:image/png;base64,AA=='), finish('stop'))).toBe(
      message(
        '{"type":"text","text":"Hi","citations":[{"type":"web_search_result_location","cited_text":"c","encrypted_index":"","title":"A","url":"https://a"}]},' +
          '{"type":"text","text":"![image](data:image/png;base64,AA==)","citations":[]}',
        'end_turn',
      ),
    )
  })

  test('a refusal is text, and is in the details of the end', () => {
    expect(render(refusal('No.'), finish('stop'))).toBe(
      message('{"type":"text","text":"No.","citations":[]}', 'refusal', '{"type":"refusal","category":null,"explanation":"No."}'),
    )
  })

  test('length; arguments that were cut off cannot be told', () => {
    expect(render(call(0, 'a'), args(0, '{"x":'), finish('length'))).toBe(
      message('{"type":"tool_use","id":"call_0","name":"a","input":{}}', 'max_tokens'),
    )
  })

  test.each([
    ['{"x":1', '"{\\"x\\":1"'],
    ["{'x': 1}", '"{\'x\': 1}"'],
    ['[1]', '"[1]"'],
    ['all of them', '"all of them"'],
  ])('a call that the model ended, with arguments that are no object, is none without arguments: %s', (json, told) => {
    expect(render(call(0, 'a'), args(0, json), finish('tool_calls'))).toBe(
      message(`{"type":"tool_use","id":"call_0","name":"a","input":{"INVALID_JSON":${told}}}`, 'tool_use'),
    )
  })

  test.each(['', ' ', 'null'])('a call without arguments has an empty object: %j', (json) => {
    expect(render(call(0, 'a'), args(0, json), finish('tool_calls'))).toBe(
      message('{"type":"tool_use","id":"call_0","name":"a","input":{}}', 'tool_use'),
    )
  })

  test('an empty answer, with the routing metadata', () => {
    expect(renderAnswer(HEAD, { events: [] }, { ...TAIL, metadata: METADATA })).toBe(
      message('', 'end_turn', 'null', ',"service_metadata":{"strategy":"direct"}'),
    )
  })

  test('web searches are counted', () => {
    const tail = { ...TAIL, usage: usageOf({ webSearches: 2 }) }
    expect(JSON.parse(renderAnswer(HEAD, { events: [] }, tail)).usage.server_tool_use).toEqual({
      web_search_requests: 2,
      web_fetch_requests: 0,
    })
  })

  test('that failed is its error', () => {
    const error = new GatewayError('timeout')
    expect(renderAnswer(HEAD, { events: [text('Hi')] }, TAIL, error)).toBe(renderError(error, HEAD, TAIL).body)
  })

  test('is read by the official client', async () => {
    const body = render(text('Hi'), finish('stop'))
    const read = await anthropic(body, 'application/json').messages.create({ model: 'm', max_tokens: 1, messages: [] })
    expect(read.content).toEqual([{ type: 'text', text: 'Hi', citations: [] }])
  })
})

describe('an error that stands alone', () => {
  for (const type of ERROR_TYPES) {
    test(`${type} has its name of this dialect and its own`, () => {
      const { body, answered } = renderError(new GatewayError(type, 'The prompt is too long.'), HEAD, null)
      const message = errorRow(type).status === 500 ? 'Internal Server Error' : 'The prompt is too long.'
      expect(body).toBe(
        `{"type":"error","error":{"type":"${errorRow(type).messagesType}","message":"${message}","error_type":"${type}"},"request_id":"gen-abc123"}`,
      )
      expect(answered).toBe(false)
    })
  }

  test('before routing it has no request id; facts and routing metadata stand beside the error', () => {
    const error = new GatewayError('permission_denied', 'Blocked.', { metadata: { patterns: ['p'] } })
    expect(renderError(error, null, { ...TAIL, metadata: METADATA }).body).toBe(
      '{"type":"error","error":{"type":"permission_error","message":"Blocked.","error_type":"permission_denied"},' +
        '"metadata":{"patterns":["p"]},"service_metadata":{"strategy":"direct"},"request_id":null}',
    )
  })
})
