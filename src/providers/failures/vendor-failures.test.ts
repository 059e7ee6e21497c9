/** Every failure of a provider becomes an error of the table, with a sentence, by each dialect. */
import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { ERRORS, type ErrorType, type GatewayError } from '../../errors.ts'
import { jsonIn } from '../../lib/json/json.ts'
import { anthropicFailure } from '../anthropic/errors.ts'
import { converseFailure } from '../bedrock/errors.ts'
import { holdsError } from './failure-words.ts'
import { blockedPrompt, googleFailure } from '../google/errors.ts'
import { chatFailure } from '../openai-chat/errors.ts'
import { inBandFailure, responsesFailure } from '../openai-responses/errors.ts'
import type { Target } from '../provider.ts'
import { openai, type Row, VENDORS } from './vendor-failures.test-kit.ts'

import { patient } from '../../../test/support/patience.ts'

const target: Target = {
  provider: 'acme',
  providerName: 'Acme',
  baseUrl: 'https://acme.example/v1',
  apiKey: 'acme-credential',
  modelId: 'vendor/model',
  upstreamModel: 'model',
  maxCompletionTokens: null,
}

const check = (error: GatewayError, [, , type, code, message]: Row): void => {
  expect([error.type, error.status]).toEqual([type, ERRORS[type].status])
  expect(error.metadata['provider_name']).toBe('Acme')
  expect(error.message).not.toMatch(/provider returned error/i)
  if (code !== undefined) expect(error.metadata['provider_code']).toBe(code)
  if (message instanceof RegExp) expect(error.message).toMatch(message)
  else if (message !== undefined) expect(error.message).toBe(message)
}

const textOf = (body: object | string): string => (typeof body === 'string' ? body : JSON.stringify(body))

describe.each(Object.entries(VENDORS))('%s', (_, rows) => {
  test.each(rows.map((row) => ({ status: row[0], type: row[2], text: textOf(row[1]).slice(0, 120), row })))(
    '$status $text is $type, by either of the OpenAI dialects',
    ({ row }) => {
      check(chatFailure(row[0], textOf(row[1]), target), row)
      check(responsesFailure(row[0], textOf(row[1]), target), row)
    },
  )
})

const SENTENCES: readonly (readonly [string, ErrorType])[] = [
  ['Please reduce your prompt. Current length is 9000 while limit is 8192', 'context_length_exceeded'],
  ['total message size 2100954 exceeds limit 2097152', 'context_length_exceeded'],
  ['The conversation is too long, please try again with a shorter one.', 'context_length_exceeded'],
  ['Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).', 'context_length_exceeded'],
  ['输入长度超过模型最大上下文长度限制', 'context_length_exceeded'],
  ['请求的 tokens 总数超出模型上限', 'context_length_exceeded'],
  ['输入内容过长,请适当缩短', 'context_length_exceeded'],
  ['上下文超长', 'context_length_exceeded'],
  ['余额不足,请充值', 'provider_unavailable'],
  ['账号已被锁定:存在违规行为', 'provider_unavailable'],
  ['模型 glm-9 不存在或已下线', 'not_found'],
  ['输入内容涉敏', 'content_policy_violation'],
  // Similar to the sentences above, but about something else.
  ['Request too large for x on tokens per min (TPM): Limit 6000, Requested 7000. Input tokens exceed it.', 'rate_limit_exceeded'],
  ['Tokens per minute limit exceeded - too many tokens processed.', 'rate_limit_exceeded'],
  ['每分钟 tokens 数超过限制', 'rate_limit_exceeded'],
  ['输入 tokens 速率超过上限', 'rate_limit_exceeded'],
  ['max_tokens 超出范围,应小于 8192', 'invalid_request'],
  ['输入参数 user 长度超过 64', 'invalid_request'],
  ['输入图片大小超过 10MB', 'invalid_request'],
  ['频率惩罚应在 -2 与 2 之间', 'invalid_request'],
  ['参数名大小写敏感', 'invalid_request'],
  ['The name of the tool is too long', 'invalid_request'],
  ['The conversation is missing', 'invalid_request'],
  ['temperature exceeds limit 2', 'invalid_request'],
]

describe('a sentence alone, under status 400', () => {
  test.each(SENTENCES.map(([message, type]) => ({ message, type })))(
    '$message: $type, by every dialect of OpenAI and Anthropic',
    ({ message, type }) => {
      const body = JSON.stringify(openai(message, 'invalid_request_error', null))
      for (const fails of [chatFailure, responsesFailure, anthropicFailure]) expect(fails(400, body, target).type).toBe(type)
    },
  )
})

const INSIDE: readonly (readonly [object, ErrorType, string?])[] = [
  [
    { choices: null, base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
    'provider_unavailable',
    'Acme refused the credential that this service holds for it.',
  ],
  [{ choices: null, base_resp: { status_code: 1026, status_msg: 'input new_sensitive' } }, 'content_policy_violation'],
  [{ choices: null, base_resp: { status_code: 1002, status_msg: 'rate limit' } }, 'rate_limit_exceeded'],
  [{ choices: null, base_resp: { status_code: 1039, status_msg: 'token limit' } }, 'rate_limit_exceeded'],
  [{ error: { code: 429, message: 'x' } }, 'rate_limit_exceeded'],
  [{ error: { code: 'rate_limit_exceeded', message: 'x' } }, 'rate_limit_exceeded'],
  [{ error: { type: 'overloaded_error', message: 'Overloaded' } }, 'provider_overloaded'],
  [
    { error: { message: 'Provider returned error', code: 502, metadata: { raw: { error: { message: 'Broken pipe.' } } } }, choices: [] },
    'provider_unavailable',
    'Acme: Broken pipe.',
  ],
  [{ error: { object: 'error', message: 'EngineCore encountered an issue.', type: 'InternalServerError', code: 500 } }, 'server'],
  [{ error: { type: 'invalid_request_error', message: 'context length exceeded' } }, 'context_length_exceeded'],
  [{ error: { type: 'timeout', message: 'x' } }, 'timeout'],
  [
    { error: 'an error was encountered while running the model' },
    'provider_unavailable',
    'Acme: an error was encountered while running the model',
  ],
  [{ error: { code: 'E_NOBODY_KNOWS', message: 'x' } }, 'unmapped'],
  [{ choices: null, base_resp: { status_code: 1004, status_msg: 'login fail' } }, 'provider_unavailable'],
  [{ choices: null, base_resp: { status_code: 2056, status_msg: 'usage limit exceeded' } }, 'rate_limit_exceeded'],
  [{ choices: null, base_resp: { status_code: 1013, status_msg: 'unknown error, 520' } }, 'server'],
  [{ error: { code: 'misalignment_policy_violation', message: 'x' } }, 'content_policy_violation'],
  [{ error: { code: 'cyber_policy', message: 'x' } }, 'content_policy_violation'],
  [{ error: {} }, 'provider_unavailable', 'Acme answered with an error that it does not explain.'],
]

const BARE: readonly (readonly [object, ErrorType, string?])[] = [
  [
    { object: 'error', message: "This model's maximum context length is 4096 tokens.", type: 'BadRequestError', param: null, code: 400 },
    'context_length_exceeded',
  ],
  [{ object: 'error', message: 'CUDA out of memory', type: 'InternalServerError', param: null, code: 500 }, 'server'],
  [{ code: 'Throttling.RateQuota', message: 'Requests rate limit exceeded', request_id: 'r' }, 'rate_limit_exceeded'],
  [{ code: 500, msg: '404 NOT_FOUND', success: false }, 'server'],
  [{ code: 20012, message: 'Model does not exist.', data: null }, 'not_found'],
  [
    { result: {}, success: false, errors: [{ message: 'The prompt exceeds the context window', code: 5021 }], messages: [] },
    'context_length_exceeded',
    'Acme: The prompt exceeds the context window',
  ],
  [
    { error_code: 'rate_limit_exceeded', error_message: 'Too many requests.', request_id: 'r' },
    'rate_limit_exceeded',
    'Acme: Too many requests.',
  ],
  [{ error_code: 336003, error_msg: 'The model is overloaded', id: 'as-1' }, 'provider_overloaded', 'Acme: The model is overloaded'],
  [{ detail: [{ loc: ['body', 'messages'], msg: 'Field required' }] }, 'provider_unavailable', 'Acme: messages: Field required'],
]

describe('an error without a member of its own', () => {
  test.each(BARE.map(([body, type, message]) => ({ body, text: JSON.stringify(body), type, message })))(
    '$text is $type',
    ({ body, type, message }) => {
      const error = chatFailure(200, JSON.stringify(body), target)
      expect([holdsError({ ...body }), error.type]).toEqual([true, type])
      if (message !== undefined) expect(error.message).toBe(message)
    },
  )

  test.each([
    { object: 'chat.completion.chunk', choices: [] },
    { code: 0, message: 'Success', sid: 's' },
    { code: 200, message: 'OK' },
    { error_message: '', error_code: null },
    { error_message: 'told beside the answer', choices: [{ index: 0, delta: {} }] },
    { code: 1, message: 'told beside the answer', choices: [{ index: 0, delta: {} }] },
    { type: 'response.code_interpreter_call_code.done', code: '1 + 1' },
  ])('%o is none', (body) => {
    expect(holdsError({ ...body })).toBe(false)
  })
})

describe('inside a body or a stream of status 200', () => {
  test.each(INSIDE.map(([body, type, message]) => ({ body, text: JSON.stringify(body), type, message })))(
    '$text is $type',
    ({ body, type, message }) => {
      for (const error of [chatFailure(200, JSON.stringify(body), target), inBandFailure(body, JSON.stringify(body), target)]) {
        expect(error.type).toBe(type)
        if (message !== undefined) expect(error.message).toBe(message)
      }
    },
  )
})

describe('Anthropic', () => {
  const said = (type: string, message: string): string => JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_1' })
  test.each<[number, string, ErrorType]>([
    [400, said('invalid_request_error', 'prompt is too long: 207944 tokens > 200000 maximum'), 'context_length_exceeded'],
    [
      400,
      said('invalid_request_error', 'messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1.'),
      'invalid_prompt',
    ],
    [400, said('invalid_request_error', 'messages: roles must alternate between "user" and "assistant"'), 'invalid_prompt'],
    [
      400,
      said('invalid_request_error', 'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens'),
      'invalid_request',
    ],
    [400, said('invalid_request_error', 'system.0.text: String should have at most 100 characters'), 'string_too_long'],
    [529, said('overloaded_error', 'Overloaded'), 'provider_overloaded'],
    [200, said('overloaded_error', 'Overloaded'), 'provider_overloaded'],
    [413, said('request_too_large', 'Request exceeds the maximum size'), 'payload_too_large'],
  ])('%d %s is %s', (status, body, type) => {
    expect(anthropicFailure(status, body, target).type).toBe(type)
  })
})

describe('Google', () => {
  const said = (code: number, status: string, message: string): string => JSON.stringify({ error: { code, message, status } })
  test.each<[number, string, ErrorType]>([
    [
      400,
      said(
        400,
        'INVALID_ARGUMENT',
        'Unable to submit request because the input token count is 1200000 but model only supports up to 1048576.',
      ),
      'context_length_exceeded',
    ],
    [400, said(400, 'INVALID_ARGUMENT', 'Please ensure that function call turn comes immediately after a user turn.'), 'invalid_prompt'],
    [400, said(400, 'INVALID_ARGUMENT', '* GenerateContentRequest.contents: contents is not specified'), 'invalid_prompt'],
    [400, said(400, 'INVALID_ARGUMENT', 'Request payload size exceeds the limit: 20971520 bytes.'), 'payload_too_large'],
    [429, said(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota. Please retry in 34.07s.'), 'rate_limit_exceeded'],
    [503, said(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'), 'provider_overloaded'],
    [499, said(499, 'CANCELLED', 'The operation was cancelled.'), 'provider_unavailable'],
  ])('%d %s is %s', (status, body, type) => {
    expect(googleFailure(status, body, target).type).toBe(type)
  })

  test('a blocked prompt has its reasons, the name of the provider and the model', () => {
    const ratings = [
      { category: 'HARM_CATEGORY_HARASSMENT', probability: 'HIGH', blocked: true },
      { category: 'HARM_CATEGORY_HATE_SPEECH', probability: 'LOW' },
    ]
    const error = blockedPrompt({ promptFeedback: { blockReason: 'SAFETY', safetyRatings: ratings } }, target)
    expect(error).toMatchObject({
      type: 'content_policy_violation',
      metadata: {
        reasons: ['SAFETY', 'HARM_CATEGORY_HARASSMENT'],
        provider_name: 'Acme',
        model_slug: 'vendor/model',
        provider_code: 'SAFETY',
      },
    })
  })
})

describe('Bedrock', () => {
  test.each<[number | null, string, string, ErrorType]>([
    [400, 'ValidationException', 'Input is too long for requested model.', 'context_length_exceeded'],
    [
      400,
      'ValidationException',
      'The model returned the following errors: messages.0: all messages must have non-empty content',
      'invalid_prompt',
    ],
    [400, 'ValidationException', 'A conversation must start with a user message.', 'invalid_prompt'],
    [400, 'ValidationException', "Invocation of model ID x with on-demand throughput isn't supported.", 'not_found'],
    [400, 'ValidationException', 'Output blocked by content filtering policy', 'content_policy_violation'],
    [403, 'AccessDeniedException', "You don't have access to the model with the specified model ID.", 'provider_unavailable'],
    [424, 'ModelErrorException', 'x', 'provider_unavailable'],
    [429, 'ThrottlingException', 'Too many tokens, please wait before trying again.', 'rate_limit_exceeded'],
    [429, 'ModelNotReadyException', 'x', 'provider_overloaded'],
    [null, 'modelTimeoutException', 'x', 'timeout'],
    [null, 'serviceUnavailableException', 'x', 'provider_overloaded'],
  ])('%p %s (%s) is %s', (status, name, message, type) => {
    expect(converseFailure({ status, name, body: JSON.stringify({ message }) }, target).type).toBe(type)
  })
})

describe('what is shown', () => {
  test('the reasons of a filter, and the flagged text in at most 100 characters, where the provider tells them', () => {
    const [azure, router] = [VENDORS['Azure OpenAI']?.[0], VENDORS['a router']?.[3]]
    expect(chatFailure(400, textOf(azure?.[1] ?? ''), target).metadata).toMatchObject({
      reasons: ['violence', 'jailbreak'],
      provider_name: 'Acme',
      model_slug: 'vendor/model',
    })
    const { metadata } = chatFailure(403, textOf(router?.[1] ?? ''), target)
    expect(metadata['reasons']).toEqual(['hate'])
    expect(metadata['flagged_input']).toMatch(/^ab+\.\.\.b+c$/)
    expect(String(metadata['flagged_input'])).toHaveLength(100)
  })

  test('few reasons, and short ones, without what looks like a credential', () => {
    const reasons = ['our sk-abcdefghijklmnopqrstuv', 'x'.repeat(5000), ...Array.from({ length: 100 }, String)]
    const body = JSON.stringify({
      error: { code: 403, message: 'Flagged.', metadata: { error_type: 'content_policy_violation', reasons } },
    })
    const reported = chatFailure(403, body, target).metadata['reasons'] as string[]
    expect([reported.length, reported[0], reported[1]?.length]).toEqual([20, 'our [redacted]', 200])
  })

  test('the payload in at most 4 KB, cut between characters, without what looks like a credential', () => {
    const body = `${'é'.repeat(3000)} acme-credential`
    const raw = String(chatFailure(400, body, target).metadata['raw'])
    expect(Buffer.byteLength(raw)).toBe(4096)
    expect(raw.isWellFormed()).toBe(true)
    const leaks =
      'acme-credential Bearer abc.def AKIAIOSFODNN7EXAMPLE hf_abcdefghijklmnop eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x'
    expect(chatFailure(400, leaks, target).metadata['raw']).toBe('[redacted] [redacted] [redacted] [redacted] [redacted]')
  })

  test('no form of the credential, however the provider encodes it', () => {
    const apiKey = 'acme/+"credential=?'
    const forms = [
      apiKey,
      JSON.stringify(apiKey).slice(1, -1),
      encodeURIComponent(apiKey),
      btoa(apiKey),
      Buffer.from(apiKey).toString('base64url'),
      Buffer.from(apiKey).toString('hex'),
    ]
    expect(chatFailure(400, forms.join(' '), { ...target, apiKey }).metadata['raw']).toMatch(/^(?:\[redacted\]=* ?){6}$/)
    expect(converseFailure({ status: 400, name: null, body: forms.join(' ') }, { ...target, apiKey }).metadata['raw']).toMatch(
      /^(?:\[redacted\]=* ?){6}$/,
    )
  })

  test('a failure that waiting does not help tells no wait', () => {
    expect(chatFailure(502, '', target, 7).retryAfterSeconds).toBeUndefined()
    expect(chatFailure(503, '', target, 7).retryAfterSeconds).toBe(7)
    expect(chatFailure(429, textOf(VENDORS['OpenAI']?.find(([status]) => status === 429)?.[1] ?? ''), target).retryAfterSeconds).toBe(7)
  })
})

describe('whatever a provider sends', () => {
  const fails = (status: number, text: string): readonly GatewayError[] => [
    chatFailure(status, text, target),
    responsesFailure(status, text, target),
    inBandFailure(jsonIn(text), text, target),
    anthropicFailure(status, text, target),
    googleFailure(status, text, target),
    converseFailure({ status, name: null, body: text }, target),
  ]
  const member = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constant('acme-credential'),
    fc.constant('Provider returned error'),
    fc.integer(),
  )
  const words = ['code', 'type', 'message', 'status', 'details', 'metadata', 'param', 'innererror', 'detail', 'raw', 'error'] as const
  const error = fc.dictionary(fc.constantFrom(...words), member)
  const body = fc.oneof(
    fc.jsonValue(),
    error,
    error.map((inside) => ({ error: inside })),
    error.map((inside) => ({ error: { metadata: inside } })),
  )

  test('it becomes a typed error of the table, with a sentence, without our credential and within its bounds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 700 }), body, (status, sent) => {
        for (const failed of fails(status, JSON.stringify(sent))) {
          expect(failed.status).toBe(ERRORS[failed.type].status)
          expect(['authentication', 'permission_denied', 'payment_required']).not.toContain(failed.type)
          expect(failed.message).toMatch(/^Acme\b./)
          expect(failed.message.length).toBeLessThan(1100)
          expect(failed.message).not.toMatch(/provider returned error\.?$/i)
          expect(JSON.stringify([failed.message, failed.metadata])).not.toContain('acme-credential')
          const { raw } = failed.metadata
          expect(typeof raw === 'string' ? Buffer.byteLength(raw) : 0).toBeLessThanOrEqual(4096)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('a body of megabytes is read in no time', () => {
    const startedMs = performance.now()
    const long = 'try again in 1s '.repeat(200_000)
    for (const text of [
      long,
      JSON.stringify({ error: { message: long } }),
      JSON.stringify({ error: { message: `[${'['.repeat(500_000)}` } }),
    ])
      fails(200, text)
    expect(performance.now() - startedMs).toBeLessThan(patient(5000))
  })
})
