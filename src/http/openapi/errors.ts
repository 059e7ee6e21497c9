/** The errors that a route may answer with, and their forms: one component for each status of each surface. */
import { z } from 'zod'

import {
  ERRORS,
  ERROR_TYPES,
  GatewayError,
  INFERENCE_KEY_REQUIRED,
  MANAGEMENT_KEY_REQUIRED,
  MANAGEMENT_MESSAGES,
  MANAGEMENT_TYPES,
  MISSING_AUTHENTICATION,
  errorRow,
  type ErrorMetadata,
  type ErrorType,
} from '../../errors.ts'
import { FORMATS } from '../../formats/formats.ts'
import { errorType } from '../../contract/error-type.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { managementError } from '../error-boundary.ts'
import { exampleHead } from './examples.ts'
import { SESSION_REQUIRED, type Policy } from '../access/policies.ts'
import type { Route, Surface } from '../route.ts'

/** The route's own statuses, and those that its policy and its body add. 405 belongs to a path, not to an operation. */
export const errorStatuses = (route: Route): readonly number[] => {
  const statuses = new Set([...route.errors, 500])
  // Even where every kind of caller is admitted, a person's session is refused to pages of other origins.
  if (route.policy !== 'public') for (const status of [401, 403]) statuses.add(status)
  if (route.body !== undefined) for (const status of [400, 413]) statuses.add(status)
  statuses.delete(405)
  for (const answered of Object.keys(route.answers)) statuses.delete(Number(answered))
  return [...statuses].sort((a, b) => a - b)
}

const SURFACE_NAMES: Readonly<Record<Surface, string>> = {
  management: 'Management',
  chat: 'Chat',
  responses: 'Responses',
  messages: 'Messages',
}

/** `Management400`; a 403 is about the key, so its name depends on the policy: `Management403ManagementKey`. */
export const errorResponseName = (surface: Surface, status: number, policy: Policy): string =>
  `${SURFACE_NAMES[surface]}${status}${status === 403 ? KEY_NAMES[policy] : ''}`

const KEY_NAMES: Readonly<Record<Policy, string>> = {
  management: 'ManagementKey',
  own: 'ManagementKey',
  inference: 'InferenceKey',
  session: 'Session',
  key: '',
  'any-key': '',
  public: '',
}

/** `schema` is a reference to the error body of the surface. */
export const errorResponseObject = (surface: Surface, status: number, policy: Policy, schema: JsonObject): JsonObject => {
  const examples = exampleErrors(surface, status, policy).map(([name, error]) => [
    name,
    { summary: error.message, value: errorBodyExample(surface, error) },
  ])
  const retry = status === 429 || status === 503 || status === 402 ? { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } : {}
  const generation =
    surface !== 'management' && AFTER_ROUTING.has(status) ? { 'X-Generation-Id': { $ref: '#/components/headers/X-Generation-Id' } } : {}
  const preset =
    policy === 'inference' && surface !== 'management' && !BEFORE_PRESETS.has(status)
      ? { 'X-Preset': { $ref: '#/components/headers/X-Preset' } }
      : {}
  const headers = { ...retry, ...generation, ...preset }
  return {
    description: MEANINGS[status] ?? 'The request failed.',
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    content: { 'application/json': { schema, examples: Object.fromEntries(examples) as JsonObject } },
  }
}

/** Statuses of requests that are refused before their preset is looked up. */
const BEFORE_PRESETS: ReadonlySet<number> = new Set([401, 413])

/** The meaning of each status for a client (docs/contract/errors.md#types). */
const MEANINGS: Readonly<Record<number, string>> = {
  400: 'A parameter is missing or malformed; every faulty path is named.',
  401: 'The API key is missing, invalid, revoked or expired.',
  402: 'Insufficient credits. Waiting helps only where Retry-After is sent.',
  403: 'This key may not do this.',
  404: 'There is no such resource, model or preset.',
  408: 'The request timed out.',
  409: 'Another request changed the same thing at the same time.',
  412: 'A precondition header was not satisfied.',
  413: 'The body is too large.',
  422: 'The request is well formed but cannot be processed.',
  429: 'Too many requests or tokens.',
  500: 'An unexpected failure of the service; the answer says nothing of its cause.',
  502: 'The model is down, or its answer is invalid.',
  503: 'Nothing can answer now: the service or the provider is overloaded, or no provider fits the request.',
  504: 'The provider did not answer in time.',
}

/** These statuses come after a provider was tried: their bodies name the generation. */
const AFTER_ROUTING: ReadonlySet<number> = new Set([429, 502, 504])

/** Statuses that have no row in the table of errors. */
const OTHER_STATUSES: Readonly<Record<number, ErrorType>> = { 408: 'timeout', 409: 'precondition_failed' }

const exampleErrors = (surface: Surface, status: number, policy: Policy): readonly (readonly [string, GatewayError])[] => {
  if (status === 401) return [['authentication', new GatewayError('authentication', MISSING_AUTHENTICATION)]]
  if (surface === 'management') return [managementExample(status, policy)]
  const named = SPECIAL[status] ?? []
  const keyExample =
    policy === 'inference' && status === 403
      ? [['permission_denied', new GatewayError('permission_denied', INFERENCE_KEY_REQUIRED)] as const]
      : []
  const special = [
    ...keyExample,
    ...named.map(([name, type, message, metadata]) => [name, new GatewayError(type, message, { metadata })] as const),
  ]
  const types = ERROR_TYPES.filter((type) => ERRORS[type].status === status && !special.some(([, error]) => error.type === type))
  // The Responses interface turns an error of length into an answer (docs/contract/errors.md#length-errors).
  const shown = surface === 'responses' ? types.filter((type) => errorRow(type).length !== true) : types
  const other = OTHER_STATUSES[status]
  if (shown.length === 0 && special.length === 0 && other !== undefined)
    return [[other, new GatewayError(other, MEANINGS[status], { status })]]
  return [...special, ...shown.map((type) => [type, new GatewayError(type)] as const)]
}

const managementExample = (status: number, policy: Policy): readonly [string, GatewayError] => {
  if (status === 403) {
    return ['permission_denied', new GatewayError('permission_denied', REFUSALS[policy])]
  }
  const type = MAIN_TYPES[status] ?? OTHER_STATUSES[status] ?? ERROR_TYPES.find((one) => ERRORS[one].status === status) ?? 'server'
  const [message, metadata] = MANAGEMENT_CASES[status] ?? [undefined, {}]
  return [type, new GatewayError(type, message ?? MANAGEMENT_MESSAGES[status], { status, metadata })]
}

const REFUSALS: Readonly<Record<Policy, string>> = {
  management: MANAGEMENT_KEY_REQUIRED,
  own: MANAGEMENT_KEY_REQUIRED,
  inference: INFERENCE_KEY_REQUIRED,
  session: SESSION_REQUIRED,
  key: ERRORS.permission_denied.message,
  'any-key': ERRORS.permission_denied.message,
  public: ERRORS.permission_denied.message,
}

const MAIN_TYPES: Readonly<Record<number, ErrorType>> = { 400: 'invalid_request', 403: 'permission_denied' }

const ISSUE = { path: 'temperature', message: 'Must be at most 2.' }

const MANAGEMENT_CASES: Readonly<Record<number, readonly [string, ErrorMetadata]>> = {
  400: [`${ISSUE.path}: ${ISSUE.message}`, { issues: [ISSUE] }],
  404: ['There is no preset "support-bot" in this workspace. Check its name, in which case counts, and the workspace of the key.', {}],
}

type Special = readonly [name: string, type: ErrorType, message: string | undefined, metadata: ErrorMetadata]

/** Cases whose metadata clients branch on (docs/contract/errors.md#metadata). */
const SPECIAL: Readonly<Record<number, readonly Special[]>> = {
  400: [['invalid_request', 'invalid_request', `${ISSUE.path}: ${ISSUE.message}`, { issues: [ISSUE] }]],
  402: [
    ['payment_required', 'payment_required', undefined, {}],
    ['in_flight_budget', 'payment_required', 'Too much is being spent at this moment.', { limit_source: 'service_in_flight_budget' }],
  ],
  403: [
    [
      'budget',
      'permission_denied',
      'The limit of this key is spent: $25.02 of $25.00, until 2026-02-01T00:00:00Z.',
      {
        limit_source: 'service_key_limit',
        scope: 'key_limit',
        limit_usd: 25,
        spend_usd: 25.02,
        resets_at: '2026-02-01T00:00:00Z',
        remedy_hint: 'Raise the limit of the key, or wait until it resets.',
      },
    ],
    [
      'guardrail',
      'permission_denied',
      'Blocked by a guardrail: prompt injection was detected.',
      { patterns: ['ignore previous instructions'] },
    ],
    [
      'moderation',
      'content_policy_violation',
      undefined,
      { reasons: ['violence'], flagged_input: 'How do I…', provider_name: 'OpenAI', model_slug: 'openai/gpt-5.4' },
    ],
  ],
  404: [['not_found', 'not_found', 'There is no model "openai/gpt-5.5". Close to it: openai/gpt-5.4.', {}]],
}

const errorBodyExample = (surface: Surface, error: GatewayError): JsonObject => {
  if (surface === 'management') return managementError(error)
  const head = AFTER_ROUTING.has(error.status) ? exampleHead() : null
  return JSON.parse(FORMATS[surface].renderError(error, head, null).body) as JsonObject
}

const facts = z.record(z.string(), z.unknown()).meta({
  description: 'Facts for programs: issues, limit_source, provider_name, provider_code, retry hints and the like.',
})
const codedError = z.object({
  code: z.int().meta({ description: 'The HTTP status.' }),
  message: z.string().meta({ description: 'For people; it may change.' }),
  metadata: z
    .looseObject({ error_type: errorType })
    .optional()
    .meta({ description: 'Facts for programs; error_type is always among them.' }),
})
const generationId = z.string().meta({ description: 'The generation, once a provider was tried.' })

export const ERROR_SCHEMAS: Readonly<Record<Surface, z.ZodType>> = {
  management: z
    .object({
      error: codedError.extend({
        metadata: codedError.shape.metadata
          .unwrap()
          .extend({ error_type: z.union([errorType, z.enum(Object.values(MANAGEMENT_TYPES))]) })
          .optional(),
        message: z.string().meta({ description: 'One fixed sentence for each status; the reason of this case is in metadata.reason.' }),
      }),
    })
    .meta({ id: 'ManagementError', description: 'The error body of everything but the three inference interfaces.' }),
  chat: z
    .object({ id: generationId.optional(), error: codedError })
    .meta({ id: 'ChatError', description: 'The error body of chat completions. In a stream, error stands on the last chunk.' }),
  responses: z
    .union([
      z
        .object({ error: codedError, error_type: errorType })
        .meta({ id: 'ResponsesRequestError', description: 'Before a provider was tried.' }),
      z
        .looseObject({
          id: generationId,
          status: z.literal('failed'),
          error: z.object({
            code: z.enum([...new Set(ERROR_TYPES.map((type) => errorRow(type).responsesCode))]),
            message: z.string(),
            metadata: facts.optional(),
          }),
          error_type: errorType,
        })
        .meta({ id: 'FailedResponse', description: 'After a provider was tried: a whole response object that failed.' }),
    ])
    .meta({ id: 'ResponsesError', description: 'The error body of the Responses interface.' }),
  messages: z
    .object({
      type: z.literal('error'),
      error: z.object({
        type: z.enum([...new Set(ERROR_TYPES.map((type) => errorRow(type).messagesType))]),
        message: z.string(),
        error_type: errorType,
      }),
      metadata: facts.optional(),
      request_id: z.string().nullable().meta({ description: 'The generation; null before routing.' }),
    })
    .meta({ id: 'MessagesError', description: 'The error envelope of the Messages interface.' }),
}

/** The table of typed errors, for readers of the API description. */
export const errorTypeTable = (): readonly JsonObject[] =>
  ERROR_TYPES.map((type) => {
    const { status, message, responsesCode, messagesType } = errorRow(type)
    return { error_type: type, status, meaning: message, responses_code: responsesCode, messages_type: messagesType }
  })
