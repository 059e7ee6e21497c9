/** Destinations of traces on the wire (docs/contract/broadcast.md). */
import { z } from 'zod'

import { isObject } from '../lib/json/json.ts'
import { keyHash } from './key-hash.ts'
import { jsonValue } from './json-value.ts'
import { namedValues } from './named-values.ts'
import { shownName } from './stored-text.ts'

const HEADERS_MAX = 20

/** Counts the headers before examining each of them, because a body may have 10,000 members. */
const fewHeaders = (given: unknown, { addIssue }: z.core.$RefinementCtx): unknown => {
  if (!isObject(given) || Object.keys(given).length <= HEADERS_MAX) return given
  addIssue({ code: 'custom', message: `At most ${HEADERS_MAX} headers.` })
  return z.NEVER
}

const headerPairs = namedValues(
  z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, 'Use the name of a header.'),
  z
    .string()
    .max(4096)
    .regex(/^[\t\x20-\x7e…]*$/, 'Use printable ASCII.'),
)
const headers = z.preprocess(fewHeaders, headerPairs).optional()
const address = z.url({ protocol: /^https?$/, error: 'Write an address that starts with https://' }).max(2048)
const AS_ISSUED = 'Use it exactly as its issuer shows it.'
const publicKey = z
  .string()
  .max(4096)
  .regex(/^[\x21-\x7e]+$/, AS_ISSUED)
/** It may look like a mask here, so that the refusal can say so. */
const secret = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[\x21-\x7e…]+$/, AS_ISSUED)
const word = z.string().min(1).max(256)

/**
 * All destination types with their configuration. Members in `secrets` are returned only masked, as is each value of `headers`.
 * Both spellings of a member are read, `api_key` and `apiKey`; the one that was written is returned.
 */
export const DESTINATION_TYPES = {
  'otel-collector': { config: z.strictObject({ endpoint: address, headers }), secrets: [] },
  webhook: {
    config: z.strictObject({ url: address, method: z.enum(['POST', 'PUT']).default('POST'), headers, secret: secret.min(16).optional() }),
    secrets: ['secret'],
  },
  langfuse: {
    config: z.strictObject({
      base_url: address.default('https://us.cloud.langfuse.com'),
      public_key: publicKey,
      secret_key: secret,
      headers,
    }),
    secrets: ['secret_key'],
  },
  datadog: {
    config: z.strictObject({ url: address.default('https://api.datadoghq.com'), api_key: secret, ml_app: word, headers }),
    secrets: ['api_key'],
  },
  sentry: { config: z.strictObject({ otlp_endpoint: address, dsn: address, headers }), secrets: ['dsn'] },
  grafana: {
    config: z.strictObject({
      base_url: address.default('https://otlp-gateway-prod-us-west-0.grafana.net'),
      instance_id: word,
      api_key: secret,
      headers,
    }),
    secrets: ['api_key'],
  },
  newrelic: {
    config: z.strictObject({ license_key: secret, region: z.enum(['us', 'eu']).default('us'), headers }),
    secrets: ['license_key'],
  },
  s3: {
    config: z.strictObject({
      bucket_name: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,62}$/, 'Use the name of a bucket.'),
      endpoint: address.optional(),
      region: z
        .string()
        .regex(/^[a-z0-9-]{1,32}$/, 'Use the name of a region.')
        .default('us-east-1'),
      access_key_id: word,
      secret_access_key: secret,
      session_token: secret.optional(),
      path_template: z.string().max(256).default('{prefix}/{date}'),
      prefix: z.string().max(256).default('patchbay-traces'),
      headers,
    }),
    secrets: ['secret_access_key', 'session_token'],
  },
  posthog: {
    config: z.strictObject({ endpoint: address.default('https://us.i.posthog.com'), api_key: secret, headers }),
    secrets: ['api_key'],
  },
} as const satisfies Readonly<Record<string, { readonly config: z.ZodObject; readonly secrets: readonly string[] }>>

export type DestinationType = keyof typeof DESTINATION_TYPES

export const DESTINATION_TYPE_NAMES = Object.keys(DESTINATION_TYPES) as [DestinationType, ...DestinationType[]]

/** A configuration as a sender uses it: complete, in our own spelling. */
export type DestinationConfig<Type extends DestinationType> = z.output<(typeof DESTINATION_TYPES)[Type]['config']>

const FILTER_FIELDS = {
  model: 'text',
  provider: 'text',
  session_id: 'text',
  user_id: 'text',
  api_key_name: 'text',
  finish_reason: 'text',
  input: 'text',
  output: 'text',
  total_cost: 'number',
  total_tokens: 'number',
  prompt_tokens: 'number',
  completion_tokens: 'number',
} as const
export type FilterField = keyof typeof FILTER_FIELDS

const FILTER_OPERATORS = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'regex',
  'starts_with',
  'ends_with',
  'gt',
  'lt',
  'gte',
  'lte',
  'exists',
  'not_exists',
] as const
const VALUELESS: ReadonlySet<string> = new Set(['exists', 'not_exists'])
const COMPARING: ReadonlySet<string> = new Set(['gt', 'lt', 'gte', 'lte'])

const filterRule = z
  .strictObject({
    field: z.enum(Object.keys(FILTER_FIELDS) as [FilterField, ...FilterField[]]),
    operator: z.enum(FILTER_OPERATORS),
    value: z.union([z.string().max(1024), z.number()]).optional(),
  })
  .refine(({ operator, value }) => VALUELESS.has(operator) || value !== undefined, {
    path: ['value'],
    message: 'This operator needs a value.',
  })
  .refine(({ operator, value }) => !COMPARING.has(operator) || (value !== '' && Number.isFinite(Number(value ?? 0))), {
    path: ['value'],
    message: 'This operator compares numbers.',
  })

export const filterRules = z
  .strictObject({
    enabled: z.boolean().default(true),
    groups: z.array(z.strictObject({ logic: z.enum(['and', 'or']).default('and'), rules: z.array(filterRule).min(1).max(20) })).max(20),
  })
  .meta({
    id: 'DestinationFilterRules',
    description: 'A trace is sent where one of the groups matches; without groups every trace is.',
  })

const region = z.enum(['global', 'europe', 'us'])
const regionInput = z.enum(['global', 'europe', 'us', 'eu']).transform((name) => (name === 'eu' ? 'europe' : name))

const name = shownName(100)
const apiKeyHashes = z.array(keyHash).min(1).max(1000).meta({ description: 'Only traces of these keys are sent; null: of all.' })
const samplingRate = z.number().min(0.0001).max(1).meta({ description: 'The share of sessions that is sent.' })
const flags = {
  privacy_mode: z.boolean().meta({ description: 'No contents leave: no prompts, answers, tool arguments or results.' }),
  broadcast_generation_cost: z.boolean(),
  broadcast_generation_identity: z.boolean(),
  broadcast_generation_request_context: z.boolean(),
}
const configInput = namedValues(z.string().max(100), jsonValue)

export const destinationId = z.uuid().meta({ description: 'Id of a destination.' })

export const destination = z
  .object({
    id: destinationId,
    type: z.enum(DESTINATION_TYPE_NAMES),
    name: name.nullable(),
    enabled: z.boolean(),
    config: z.record(z.string(), z.unknown()).meta({ description: 'Secrets are masked.' }),
    api_key_hashes: apiKeyHashes.nullable(),
    sampling_rate: samplingRate,
    ...flags,
    filter_rules: filterRules.nullable(),
    regions: z.array(region),
    workspace_id: z.string(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    health: z
      .object({
        last_success_at: z.iso.datetime().nullable(),
        last_error: z.string().nullable(),
        dropped: z.int().meta({ description: 'Traces that were given up.' }),
        queued: z.int().meta({ description: 'Traces that wait.' }),
      })
      .meta({ description: 'Of the process that answers, since its start.' }),
  })
  .meta({ id: 'ObservabilityDestination' })

/** The members that are stored as one JSON text. */
export const destinationSettings = destination.pick({
  name: true,
  enabled: true,
  api_key_hashes: true,
  sampling_rate: true,
  privacy_mode: true,
  broadcast_generation_cost: true,
  broadcast_generation_identity: true,
  broadcast_generation_request_context: true,
  filter_rules: true,
  regions: true,
})

const settings = {
  enabled: z.boolean().optional(),
  api_key_hashes: apiKeyHashes.nullish(),
  sampling_rate: samplingRate.optional(),
  filter_rules: filterRules.nullish(),
  regions: z.array(regionInput).min(1).max(3).optional(),
  privacy_mode: flags.privacy_mode.optional(),
  broadcast_generation_cost: z.boolean().optional(),
  broadcast_generation_identity: z.boolean().optional(),
  broadcast_generation_request_context: z.boolean().optional(),
}

export const createDestinationBody = z
  .strictObject({
    type: z
      .string()
      .max(64)
      .meta({ description: `One of ${DESTINATION_TYPE_NAMES.join(', ')}.` }),
    name: name.nullish(),
    config: configInput.meta({ description: 'What its type needs: see docs/broadcast.md.' }),
    workspace_id: z.string().min(1).max(64).nullish(),
    ...settings,
  })
  .meta({
    id: 'CreateObservabilityDestinationBody',
    examples: [
      {
        type: 'otel-collector',
        name: 'Our collector',
        config: { endpoint: 'https://otel.example.com', headers: { authorization: 'Bearer the-token' } },
        privacy_mode: true,
      },
    ],
  })

export const updateDestinationBody = z.strictObject({ name: name.nullish(), config: configInput.optional(), ...settings }).meta({
  id: 'UpdateObservabilityDestinationBody',
  examples: [{ sampling_rate: 0.1 }],
  description: 'Absent fields stay as they are, also those of `config`; a masked value keeps the secret.',
})

export type DestinationResource = z.output<typeof destination>
export type DestinationSettings = z.output<typeof destinationSettings>
export type FilterRules = z.output<typeof filterRules>
