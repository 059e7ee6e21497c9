/**
 * Every error type on every interface, whole or streamed, before content or after it, in both settings
 * (docs/contract/errors.md#provider-failures): status, headers, body and last event, and how each official client reports it.
 */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { OpenRouter } from '@openrouter/sdk'
import { OpenRouterError } from '@openrouter/sdk/models/errors'
import { APICallError, generateText, type LanguageModel, streamText } from 'ai'
import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'

import { type Dialect, DIALECTS, PATHS } from '../support/calls.ts'
import { readStream, streamEvents } from '../support/client-stream.ts'
import { ERROR_RULES, RULED_TYPES, type RuledType } from '../support/error-rules.ts'
import { useServices } from '../support/started-service.ts'

const service = await useServices().start()

const SETTINGS = ['body', 'status'] as const
type Setting = (typeof SETTINGS)[number]

/** When the provider fails, and whether the client asked for a stream. */
const MOMENTS = {
  'whole, before content': { kind: 'error', stream: false },
  'whole, after content': { kind: 'midstream', stream: false },
  'streamed, before content': { kind: 'error', stream: true },
  'streamed, after content': { kind: 'midstream', stream: true },
} as const
type Moment = keyof typeof MOMENTS
const MOMENT_NAMES = Object.keys(MOMENTS) as Moment[]

interface Cell {
  readonly type: RuledType
  readonly dialect: Dialect
  readonly moment: Moment
  readonly setting: Setting
}

const HEADER = 'X-Service-Provider-Failure'
const INPUT = 'A question that a filter may not like.'
const PROMPT = { role: 'user', content: INPUT } as const

const modelOf = ({ type, moment }: Pick<Cell, 'type' | 'moment'>): string => `sandbox/${MOMENTS[moment].kind}/${type}`

const bodyOf = (cell: Cell): object => {
  const { stream } = MOMENTS[cell.moment]
  const common = { model: modelOf(cell), stream }
  if (cell.dialect === 'responses') return { ...common, input: INPUT }
  return { ...common, messages: [PROMPT], ...(cell.dialect === 'messages' ? { max_tokens: 100 } : {}) }
}

const isAnswer = ({ type, dialect }: Cell): boolean => dialect === 'responses' && ERROR_RULES[type].responses === null

/** The real status is for clients that asked for it, if nothing was sent before; an answer cut by length is a normal answer. */
const hasRealStatus = (cell: Cell): boolean => cell.setting === 'status' && cell.moment !== 'streamed, after content' && !isAnswer(cell)

const MODERATION = ['content_policy_violation']

/** The members of an error's metadata, except its type: none on a 500, the provider's code if the category is unknown. */
const checkFacts = (cell: Cell, facts: Readonly<Record<string, unknown>> | undefined): void => {
  const { type } = cell
  if (ERROR_RULES[type].status === 500) {
    const { error_type: _, ...rest } = facts ?? {}
    expect(rest).toEqual(type === 'unmapped' ? { provider_code: 'E_SANDBOX_4711' } : {})
    return
  }
  expect(facts?.['provider_name']).toBe('Sandbox')
  expect(facts?.['retry_after_seconds']).toBe(type in RETRY_AFTER ? Number(RETRY_AFTER[type]) : undefined)
  const raw = JSON.parse(String(facts?.['raw'])) as { error: { code: string } }
  expect(raw.error.code).toBe(String(facts?.['provider_code']))
  if (MODERATION.includes(type)) {
    expect(facts).toMatchObject({ reasons: ['violence', 'self-harm'], flagged_input: INPUT, model_slug: modelOf(cell) })
  } else for (const name of ['reasons', 'flagged_input', 'model_slug']) expect(facts).not.toHaveProperty(name)
}

const checkMessage = ({ type }: Cell, message: unknown): void => {
  if (ERROR_RULES[type].status === 500) expect(message).toBe('Internal Server Error')
  else expect(String(message)).toMatch(/^Sandbox: \S/)
}

// Bodies and events of three dialects.
// oxlint-disable-next-line typescript/no-explicit-any
type Wire = any

const checkChatError = (cell: Cell, error: Wire): void => {
  expect(error.code).toBe(ERROR_RULES[cell.type].status)
  expect(error.metadata.error_type).toBe(cell.type)
  checkMessage(cell, error.message)
  checkFacts(cell, error.metadata)
}

const checkMessagesError = (cell: Cell, body: Wire): void => {
  expect(body.type).toBe('error')
  expect(Object.keys(body.error)).toEqual(['type', 'message', 'error_type'])
  expect([body.error.type, body.error.error_type]).toEqual([ERROR_RULES[cell.type].messages, cell.type])
  checkMessage(cell, body.error.message)
  checkFacts(cell, body.metadata)
}

const checkResponse = (cell: Cell, response: Wire): void => {
  const { responses: code } = ERROR_RULES[cell.type]
  const said = cell.moment.endsWith('after content')
  expect(JSON.stringify(response.output).includes('Lorem')).toBe(said)
  if (code === null) {
    expect(response).toMatchObject({ status: 'incomplete', error: null, incomplete_details: { reason: 'max_output_tokens' } })
    expect(response).not.toHaveProperty('error_type')
    return
  }
  expect(response).toMatchObject({ status: 'failed', error_type: cell.type, incomplete_details: null, error: { code } })
  checkMessage(cell, response.error.message)
  checkFacts(cell, response.error.metadata)
}

const checkWhole = (cell: Cell, body: Wire, generationId: string): void => {
  const partial = cell.moment === 'whole, after content'
  if (cell.dialect === 'messages') {
    checkMessagesError(cell, body)
    expect(body.request_id).toBe(generationId)
  } else if (cell.dialect === 'responses') {
    checkResponse(cell, body)
    expect(body.id).toBe(generationId.replace('gen-', 'resp_'))
  } else {
    expect(body.id).toBe(generationId)
    checkChatError(cell, body.error)
    if (!partial) {
      expect(body).not.toHaveProperty('choices')
      return
    }
    expect(body.choices).toHaveLength(1)
    expect(body.choices[0].finish_reason).toBe('error')
    expect(body.choices[0].message.content).toStartWith('Lorem')
    checkChatError(cell, body.choices[0].error)
  }
}

const checkStream = (cell: Cell, text: string): void => {
  expect(readStream(cell.dialect, text)).toEqual({ end: isAnswer(cell) ? 'normal' : 'error', faults: [] })
  const events = streamEvents(text)
  const { data, name } = events.at(-1) ?? { data: {}, name: null }
  const last = data as Readonly<Record<string, unknown>>
  const said = cell.moment === 'streamed, after content'
  expect(events.some(({ data }) => JSON.stringify(data).includes('Lorem'))).toBe(said)
  if (cell.dialect === 'chat') {
    checkChatError(cell, last['error'])
    expect(Object.keys(last)).toEqual(['error', 'id', 'object', 'created', 'model', 'provider', 'choices'])
    expect(last['choices']).toEqual([{ index: 0, delta: { content: '' }, finish_reason: 'error' }])
  } else if (cell.dialect === 'messages') {
    expect(name).toBe('error')
    checkMessagesError(cell, last)
  } else {
    expect(name).toBe(isAnswer(cell) ? 'response.incomplete' : 'response.failed')
    checkResponse(cell, last['response'])
  }
}

const RETRY_AFTER: Readonly<Record<string, string>> = { rate_limit_exceeded: '2', provider_overloaded: '1' }

const checkWire = async (cell: Cell): Promise<void> => {
  const response = await fetch(service.api + PATHS[cell.dialect], {
    method: 'POST',
    headers: { authorization: `Bearer ${service.inferenceKey}`, 'content-type': 'application/json', [HEADER]: cell.setting },
    body: JSON.stringify(bodyOf(cell)),
  })
  const text = await response.text()
  const streams = MOMENTS[cell.moment].stream && !hasRealStatus(cell)
  expect(response.status).toBe(hasRealStatus(cell) ? ERROR_RULES[cell.type].status : 200)
  expect(response.headers.get('content-type')).toBe(streams ? 'text/event-stream; charset=utf-8' : 'application/json; charset=utf-8')
  // Headers that were sent before the failure cannot mention it.
  const waits = cell.moment === 'streamed, after content' ? null : (RETRY_AFTER[cell.type] ?? null)
  expect(response.headers.get('retry-after')).toBe(waits)
  const generationId = response.headers.get('x-generation-id') ?? ''
  expect(generationId).toMatch(/^gen-/)
  if (streams) checkStream(cell, text)
  else checkWhole(cell, JSON.parse(text), generationId)
  expect(text).not.toMatch(/provider returned error/i)
}

/** The error that a client throws; fails the test if it throws none. */
const raised = async (work: () => Promise<unknown>): Promise<Wire> => {
  try {
    await work()
  } catch (thrown) {
    return thrown
  }
  throw new Error('The client raised nothing.')
}

const OPENAI_CLASSES: Readonly<Record<number, new (...parts: never[]) => Error>> = {
  400: OpenAI.BadRequestError,
  401: OpenAI.AuthenticationError,
  403: OpenAI.PermissionDeniedError,
  404: OpenAI.NotFoundError,
  422: OpenAI.UnprocessableEntityError,
  429: OpenAI.RateLimitError,
  500: OpenAI.InternalServerError,
  502: OpenAI.InternalServerError,
  503: OpenAI.InternalServerError,
  504: OpenAI.InternalServerError,
}

const openai = (setting: Setting): OpenAI =>
  new OpenAI({ apiKey: service.inferenceKey, baseURL: service.api, maxRetries: 0, defaultHeaders: { [HEADER]: setting } })

/** Chat Completions with `openai`: throws the class for the status; a 200 gives a body with `error`, or an APIError from the stream. */
const checkOpenaiChat = async (cell: Cell): Promise<void> => {
  const client = openai(cell.setting)
  const request = { model: modelOf(cell), messages: [PROMPT] }
  const { stream } = MOMENTS[cell.moment]
  const ask = async (): Promise<unknown> => {
    if (!stream) return client.chat.completions.create(request)
    return Array.fromAsync(await client.chat.completions.create({ ...request, stream }))
  }
  if (!stream && !hasRealStatus(cell)) {
    const answer = (await ask()) as Wire
    checkChatError(cell, answer.error)
    // The body has no choices, or one that says that it failed.
    expect(answer.choices?.[0]?.finish_reason ?? 'error').toBe('error')
    return
  }
  const thrown = await raised(ask)
  expect(thrown).toBeInstanceOf(hasRealStatus(cell) ? (OPENAI_CLASSES[ERROR_RULES[cell.type].status] ?? OpenAI.APIError) : OpenAI.APIError)
  checkChatError(cell, thrown.error)
}

/** Responses with `openai`: throws the class for the status; otherwise returns the response itself, also from the `.stream()` helper. */
const checkOpenaiResponses = async (cell: Cell): Promise<void> => {
  const client = openai(cell.setting)
  const request = { model: modelOf(cell), input: INPUT }
  const { stream } = MOMENTS[cell.moment]
  if (hasRealStatus(cell)) {
    const thrown = await raised(() => client.responses.create({ ...request, stream }))
    expect(thrown).toBeInstanceOf(OPENAI_CLASSES[ERROR_RULES[cell.type].status] ?? OpenAI.APIError)
    expect(thrown.error).toMatchObject({ code: ERROR_RULES[cell.type].responses, metadata: { error_type: cell.type } })
  } else if (!stream) checkResponse(cell, await client.responses.create(request))
  else {
    const events: Wire[] = await Array.fromAsync(await client.responses.create({ ...request, stream }))
    expect(events.at(-1).type).toBe(isAnswer(cell) ? 'response.incomplete' : 'response.failed')
    checkResponse(cell, events.at(-1).response)
    checkResponse(cell, await client.responses.stream(request).finalResponse())
  }
}

/**
 * Messages with `@anthropic-ai/sdk`: throws the class for the status; a 200 gives the error envelope, or an APIError from stream and
 * helper.
 */
const checkAnthropic = async (cell: Cell): Promise<void> => {
  const client = new Anthropic({
    apiKey: service.inferenceKey,
    baseURL: service.url,
    maxRetries: 0,
    defaultHeaders: { [HEADER]: cell.setting },
  })
  const request = { model: modelOf(cell), max_tokens: 100, messages: [PROMPT] }
  const { stream } = MOMENTS[cell.moment]
  if (!stream && !hasRealStatus(cell)) {
    checkMessagesError(cell, await client.messages.create(request))
    return
  }
  const asks = stream
    ? [
        async () => Array.fromAsync(await client.messages.create({ ...request, stream })),
        () => client.messages.stream(request).finalMessage(),
      ]
    : [() => client.messages.create(request)]
  for (const ask of asks) {
    const thrown = await raised(ask)
    expect(thrown).toBeInstanceOf(Anthropic.APIError)
    expect(thrown.status).toBe(hasRealStatus(cell) ? ERROR_RULES[cell.type].status : undefined)
    expect(thrown.type).toBe(ERROR_RULES[cell.type].messages)
    checkMessagesError(cell, thrown.error)
  }
}

/**
 * `@openrouter/sdk`: its schemas do not allow an answer without choices, a Responses body with a status other than 200, or an error beside
 * choices except with status 200. In these cases it throws that it cannot read the body, which is not a normal end either.
 */
const checkOpenrouter = async (cell: Cell): Promise<void> => {
  const client = new OpenRouter({ apiKey: service.inferenceKey, serverURL: service.api, retryConfig: { strategy: 'none' } })
  const options = { headers: { [HEADER]: cell.setting } }
  const { stream } = MOMENTS[cell.moment]
  const ask = async (): Promise<Wire> => {
    const answer: Wire =
      cell.dialect === 'chat'
        ? await client.chat.send({ chatRequest: { model: modelOf(cell), messages: [PROMPT], stream } as never }, options)
        : await client.responses.send({ responsesRequest: { model: modelOf(cell), input: INPUT, stream } as never }, options)
    return stream ? (await Array.fromAsync(answer as AsyncIterable<Wire>)).at(-1) : answer
  }
  if (hasRealStatus(cell) || (cell.dialect === 'chat' && cell.moment === 'whole, before content')) {
    const thrown = await raised(ask)
    expect(thrown).toBeInstanceOf(OpenRouterError)
    expect(thrown.statusCode).toBe(hasRealStatus(cell) ? ERROR_RULES[cell.type].status : 200)
    expect(thrown.body).toContain(`"error_type":"${cell.type}"`)
    return
  }
  const last = await ask()
  if (cell.dialect === 'chat') {
    expect(last.choices[0].finishReason).toBe('error')
    if (stream) expect(last.error).toMatchObject({ code: ERROR_RULES[cell.type].status, metadata: { errorType: cell.type } })
    return
  }
  const response = stream ? last.response : last
  expect(response.status).toBe(isAnswer(cell) ? 'incomplete' : 'failed')
  expect(response.error?.code).toBe(ERROR_RULES[cell.type].responses ?? undefined)
}

const aiModel = (cell: Cell): LanguageModel => {
  const options = { apiKey: service.inferenceKey, baseURL: service.api, headers: { [HEADER]: cell.setting } }
  if (cell.dialect === 'messages') return createAnthropic(options)(modelOf(cell))
  return cell.dialect === 'chat' ? createOpenAI(options).chat(modelOf(cell)) : createOpenAI(options).responses(modelOf(cell))
}

/**
 * `ai`, on each interface: throws the APICallError for the status. In a 200 it reports an error, except on Chat Completions with content or
 * as a stream, where it does not know our error format: there the answer ends with the reason `other`.
 */
const checkAi = async (cell: Cell): Promise<void> => {
  const request = { model: aiModel(cell), prompt: INPUT, maxOutputTokens: 100, maxRetries: 0 }
  const { stream } = MOMENTS[cell.moment]
  let failure: Wire = null
  const finish = async (): Promise<string> => {
    if (!stream) return (await generateText(request)).finishReason
    const result = streamText({ ...request, onError: ({ error }) => void (failure = error) })
    await result.consumeStream()
    return failure === null ? result.finishReason : 'error'
  }
  const reason = await finish().catch((thrown: unknown) => {
    failure = thrown
    return 'error'
  })
  const unknown = cell.dialect === 'chat' && !hasRealStatus(cell) && cell.moment !== 'whole, before content'
  expect(reason).toBe(isAnswer(cell) ? 'length' : unknown ? 'other' : 'error')
  if (!hasRealStatus(cell)) return
  expect(APICallError.isInstance(failure)).toBe(true)
  expect(failure.statusCode).toBe(ERROR_RULES[cell.type].status)
  expect(failure.responseBody).toContain(`"error_type":"${cell.type}"`)
}

const CLIENTS: Readonly<Record<Dialect, Readonly<Record<string, (cell: Cell) => Promise<void>>>>> = {
  chat: { openai: checkOpenaiChat, '@openrouter/sdk': checkOpenrouter, ai: checkAi },
  responses: { openai: checkOpenaiResponses, '@openrouter/sdk': checkOpenrouter, ai: checkAi },
  // @openrouter/sdk has no method for Messages.
  messages: { '@anthropic-ai/sdk': checkAnthropic, ai: checkAi },
}

test('the table has 27 types, and the matrix covers all of them', () => {
  expect(RULED_TYPES).toHaveLength(27)
})

for (const dialect of DIALECTS) {
  for (const setting of SETTINGS) {
    describe(`${dialect}, ${setting}`, () => {
      for (const moment of MOMENT_NAMES) {
        for (const type of RULED_TYPES) {
          const cell = { type, dialect, moment, setting }
          test(`${type}, ${moment}: status, headers, body, last event`, () => checkWire(cell))
          for (const [name, check] of Object.entries(CLIENTS[dialect])) test(`${type}, ${moment}: ${name}`, () => check(cell))
        }
      }
    })
  }
}
