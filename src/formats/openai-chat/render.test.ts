import { describe, expect, test } from 'bun:test'

import { ChatResult$inboundSchema } from '@openrouter/sdk/models/chatresult.js'
import * as fc from 'fast-check'
import type OpenAI from 'openai'

import {
  answerEvents,
  args,
  base64Of,
  call,
  cited,
  CLAUDE,
  finish,
  GEMINI,
  HEAD,
  image,
  logprobs,
  METADATA,
  OPENAI,
  openAi,
  proven,
  reasoning,
  REDACTED,
  refusal,
  contentsOf,
  summary,
  TAIL,
  text,
  used,
} from '../../../test/support/answers.ts'
import type { ModelEvent } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { renderError } from './render-error.ts'
import { renderAnswer as rendering } from './render.ts'
import { atOnce } from '../../lib/steps.ts'

const renderAnswer = (...given: Parameters<typeof rendering>): string => atOnce(rendering(...given))

/** Members of a message that the official types lack. */
interface Beyond {
  readonly reasoning?: string
  readonly reasoning_details?: readonly { readonly signature?: string; readonly data?: string }[]
  readonly images?: readonly { readonly image_url: { readonly url: string } }[]
}

const USAGE =
  '"prompt_tokens":17,"completion_tokens":8,"total_tokens":25,' +
  '"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":3,"audio_tokens":0},' +
  '"completion_tokens_details":{"reasoning_tokens":3,"audio_tokens":0,"image_tokens":0},' +
  '"cost":0.0015,"is_byok":false,"cost_details":{"upstream_inference_cost":0.0012,' +
  '"upstream_inference_prompt_cost":0.0002,"upstream_inference_completions_cost":0.001}'

const completion = (message: string, reason: string, native: string, more = ''): string =>
  '{"id":"gen-abc123","object":"chat.completion","created":1700000000,"model":"acme/one","provider":"Acme","system_fingerprint":null,' +
  `"choices":[{"index":0,"message":{"role":"assistant",${message}},"logprobs":null,"finish_reason":"${reason}","native_finish_reason":${native}${more}}],` +
  `"usage":{${USAGE}}}`

const render = (...events: readonly ModelEvent[]): string => renderAnswer(HEAD, { events }, TAIL)

describe('an answer built from events', () => {
  test('text and reasoning', () => {
    expect(render(reasoning('h'), reasoning('m'), text('Hi'), finish('stop', 'eos'), used)).toBe(
      completion(
        '"content":"Hi","refusal":null,"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","index":0,"format":"unknown"}]',
        'stop',
        '"eos"',
      ),
    )
  })

  test('the pieces of thinking are whole details, each with its proof', () => {
    expect(
      render(
        reasoning('h'),
        reasoning('m'),
        proven(CLAUDE),
        summary('a'),
        summary('b'),
        proven(OPENAI),
        proven(REDACTED),
        call(0, 'a', GEMINI),
      ),
    ).toBe(
      completion(
        '"content":null,"refusal":null,"reasoning":"hmab","reasoning_details":[' +
          '{"type":"reasoning.text","text":"hm","index":0,"signature":"EvQBCk/+==","format":"anthropic-claude-v1"},' +
          '{"type":"reasoning.summary","summary":"ab","index":1},' +
          '{"type":"reasoning.encrypted","data":"gAAAAB-_","id":"rs_theirs","format":"openai-responses-v1","index":1},' +
          '{"type":"reasoning.encrypted","data":"EmwK+/==","format":"anthropic-claude-v1","index":2},' +
          '{"type":"reasoning.encrypted","data":"CoYB/+==","id":"call_0","format":"google-gemini-v1","index":3}],' +
          '"tool_calls":[{"id":"call_0","type":"function","function":{"name":"a","arguments":"{}"},' +
          '"extra_content":{"google":{"thought_signature":"CoYB/+=="}}}]',
        'tool_calls',
        'null',
      ),
    )
  })

  test('sources, pictures and log probabilities', () => {
    const choice = JSON.parse(
      render(text('Hi'), cited('https://a', { title: 'A' }), image('https://b'), logprobs('H'), logprobs('i'), finish('stop')),
    ).choices[0]
    expect(choice).toMatchObject({
      message: {
        annotations: [{ type: 'url_citation', url_citation: { url: 'https://a', title: 'A', start_index: 0, end_index: 2 } }],
        images: [{ type: 'image_url', image_url: { url: 'https://b' }, index: 0 }],
      },
      logprobs: { content: [{ token: 'H' }, { token: 'i' }], refusal: null },
    })
  })

  test('tool calls, woven, one of them without arguments', () => {
    expect(render(call(0, 'a'), args(0, '{"x"'), call(1, 'b'), args(0, ':1}'), finish('stop'))).toBe(
      completion(
        '"content":null,"refusal":null,"tool_calls":[' +
          '{"id":"call_0","type":"function","function":{"name":"a","arguments":"{\\"x\\":1}"}},' +
          '{"id":"call_1","type":"function","function":{"name":"b","arguments":"{}"}}]',
        'tool_calls',
        'null',
      ),
    )
  })

  test('a refusal', () => {
    expect(render(refusal('No.'), finish('stop', 'stop'))).toBe(completion('"content":null,"refusal":"No."', 'content_filter', '"stop"'))
  })

  test('a budget that reasoning used up: length and empty content', () => {
    expect(render(reasoning('hm'), finish('length'))).toBe(
      completion(
        '"content":"","refusal":null,"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","index":0,"format":"unknown"}]',
        'length',
        'null',
      ),
    )
  })

  test('a failure next to partial content', () => {
    const error = new GatewayError('provider_unavailable', 'Acme broke off.', { metadata: { provider_name: 'Acme' } })
    const member =
      ',"error":{"code":502,"message":"Acme broke off.","metadata":{"provider_name":"Acme","error_type":"provider_unavailable"}}'
    const answer = completion('"content":"Hi","refusal":null', 'error', 'null', member)
    // The error is in the choice, and also where every other failure has it.
    expect(renderAnswer(HEAD, { events: [text('Hi')] }, TAIL, error)).toBe(`${answer.slice(0, -1)}${member}}`)
  })

  test('the routing metadata, but not next to a 500', () => {
    const tail = { ...TAIL, metadata: METADATA }
    expect(renderAnswer(HEAD, { events: [] }, tail)).toEndWith(',"service_metadata":{"strategy":"direct"}}')
    expect(renderAnswer(HEAD, { events: [] }, tail, new GatewayError('server'))).not.toContain('service_metadata')
  })

  test('an unknown cost is left out: typed clients take a number or nothing', () => {
    const usage = JSON.parse(
      renderAnswer(HEAD, { events: [] }, { ...TAIL, cost: { ...TAIL.cost, totalNanos: 0, isKnown: false, upstreamNanos: null } }),
    ).usage
    expect(usage).not.toHaveProperty('cost')
    expect(usage).toMatchObject({ cost_details: { upstream_inference_cost: null, upstream_inference_prompt_cost: 0.0002 } })
  })

  test('property: the official client reads what the model said, and strict clients take the body', async () => {
    await fc.assert(
      fc.asyncProperty(answerEvents, async (events) => {
        const body = render(...events)
        expect(JSON.stringify(ChatResult$inboundSchema.parse(JSON.parse(body)))).not.toContain('"UNKNOWN"')
        const read = await openAi(body, 'application/json').chat.completions.create({ model: 'm', messages: [] })
        const message = read.choices[0]!.message as OpenAI.ChatCompletionMessage & Beyond
        expect({
          text: message.content ?? '',
          reasoning: message.reasoning ?? '',
          refusal: message.refusal ?? '',
          calls: (message.tool_calls ?? []).flatMap((each) => (each.type === 'function' ? [{ id: each.id, ...each.function }] : [])),
          proofs: (message.reasoning_details ?? []).flatMap(({ signature, data }) => signature ?? data ?? []),
          images: (message.images ?? []).map((each) => base64Of(each.image_url.url)),
          sources: (message.annotations ?? []).map((each) => each.url_citation.url),
        }).toEqual(contentsOf(events))
      }),
    )
  })
})

describe('an answer of an upstream of the same dialect', () => {
  const stop = finish('stop', 'stop')

  test('keeps its text but for what is ours', () => {
    const native =
      '{\n "id": "u", "x": 1.0, "object": "chat.completion", "created": 5, "model": "m", ' +
      '"choices": [ { "index": 0, "message": {"role":"assistant","content":"\\u00e9","x":1E2}, "finish_reason": "stop" } ], ' +
      '"usage": { "queue_time": 0.0410, "prompt_tokens": 1, "completion_tokens_details": null } }\n'
    expect(
      renderAnswer(HEAD, { native: { dialect: 'chat', json: native }, events: [text('é'), stop] }, { ...TAIL, metadata: METADATA }),
    ).toBe(
      '{\n "id": "gen-abc123", "x": 1.0, "object": "chat.completion", "created": 5, "model": "acme/one", ' +
        '"choices": [{ "index": 0, "message": {"role":"assistant","content":"\\u00e9","x":1E2}, "finish_reason": "stop","native_finish_reason":"stop" }], ' +
        '"usage": { "queue_time": 0.0410, "prompt_tokens": 17, ' +
        '"completion_tokens_details": {"reasoning_tokens":3,"audio_tokens":0,"image_tokens":0},"completion_tokens":8,"total_tokens":25,' +
        '"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":3,"audio_tokens":0},"cost":0.0015,"is_byok":false,' +
        '"cost_details":{"upstream_inference_cost":0.0012,"upstream_inference_prompt_cost":0.0002,"upstream_inference_completions_cost":0.001} },' +
        '"provider":"Acme","system_fingerprint":null,"service_metadata":{"strategy":"direct"} }\n',
    )
  })

  test('keeps several choices, and its fingerprint', () => {
    const choice = (index: number, reason: string) => ({ index, message: { role: 'assistant', content: 'a' }, finish_reason: reason })
    const native = JSON.stringify({ choices: [choice(0, 'stop'), choice(1, 'length')], system_fingerprint: 'fp' })
    const body = JSON.parse(renderAnswer(HEAD, { native: { dialect: 'chat', json: native }, events: [text('a'), stop] }, TAIL))
    ChatResult$inboundSchema.parse(body)
    expect(body).toMatchObject({
      system_fingerprint: 'fp',
      choices: [
        { ...choice(0, 'stop'), native_finish_reason: 'stop' },
        { ...choice(1, 'length'), native_finish_reason: 'length' },
      ],
    })
  })

  test.each([{ tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] }, { reasoning: 'Hm.' }])(
    'whose message has no content says so with null: %j',
    (message) => {
      const native = JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }] })
      const body = JSON.parse(renderAnswer(HEAD, { native: { dialect: 'chat', json: native }, events: [stop] }, TAIL))
      expect(body.choices[0].message).toEqual({ role: 'assistant', ...message, content: null })
    },
  )

  test('that is not one plain object, or has failed, is rendered from its meaning', () => {
    const native = '{"id":"u","id":"v","choices":[]}'
    expect(renderAnswer(HEAD, { native: { dialect: 'chat', json: native }, events: [text('Hi'), stop] }, TAIL)).toBe(
      render(text('Hi'), stop),
    )
    const failure = new GatewayError('timeout')
    expect(renderAnswer(HEAD, { native: { dialect: 'chat', json: '{"choices":[]}' }, events: [] }, TAIL, failure)).toBe(
      renderAnswer(HEAD, { events: [] }, TAIL, failure),
    )
  })

  test('whose usage names a member twice gets ours', () => {
    const native = '{"choices":[],"usage":{"a":1,"a":2}}'
    expect(renderAnswer(HEAD, { native: { dialect: 'chat', json: native }, events: [stop] }, TAIL)).toContain(`"usage":{${USAGE}}`)
  })
})

describe('an error that stands alone', () => {
  const error = new GatewayError('rate_limit_exceeded', 'Slow down.', { metadata: { provider_code: 'x' } })
  const member = '"error":{"code":429,"message":"Slow down.","metadata":{"provider_code":"x","error_type":"rate_limit_exceeded"}}'

  test('names the generation once there is one', () => {
    expect(renderError(error, null, null)).toEqual({ body: `{${member}}`, answered: false })
    expect(renderError(error, HEAD, TAIL)).toEqual({ body: `{"id":"gen-abc123",${member}}`, answered: false })
  })

  test('carries the routing metadata that was asked for, unless it is a 500, which is masked', () => {
    const tail = { ...TAIL, metadata: METADATA }
    expect(renderError(error, null, tail).body).toBe(`{${member},"service_metadata":{"strategy":"direct"}}`)
    expect(renderError(new GatewayError('unmapped', 'secret', { metadata: { provider_code: 'x', raw: 'y' } }), HEAD, tail).body).toBe(
      '{"id":"gen-abc123","error":{"code":500,"message":"Internal Server Error","metadata":{"error_type":"unmapped","provider_code":"x"}}}',
    )
  })
})
