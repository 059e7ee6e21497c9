/** Rules for requests in several dialects, whether they came in the dialect or were translated to it. */
import { createHash } from 'node:crypto'

import { type ClientDialect, forEachDialect } from '../../canonical/call.ts'
import { isObject, type JsonValue } from '../../lib/json/json.ts'
import type { FieldMeaning } from '../../request-fields/field.ts'
import { fieldOf, fieldsWhere, meaningsOf } from '../../request-fields/request-fields.ts'
import type { EditableFields } from './editable-fields.ts'
import { asksForNoAnswer, lossesTo, refuseSetting } from '../losses/losses.ts'
import type { Attempt, Target } from '../provider.ts'
import type { Vendor } from './vendor.ts'

export type RuleContext = Pick<Attempt, 'call' | 'target' | 'warn'>

/**
 * Leaves out, with a warning, each field that this service's interface knows and the provider is not known to accept. Throws
 * `invalid_request` for a field without which the answer would be one that the client must not get.
 */
export const keepAccepted = (
  fields: EditableFields,
  dialect: ClientDialect,
  accepts: (field: string) => boolean,
  { target, warn }: RuleContext,
): void => {
  const toolsGo = fields.value('tools') !== undefined && !accepts('tools')
  for (const name of fields.names()) {
    const row = fieldOf(dialect, name)
    if (row === undefined || RULED[dialect].has(name) || accepts(name)) continue
    const value = fields.value(name)
    fields.remove(name)
    // The removed tools were reported already.
    if (saysNothing(name, value) || (toolsGo && name === 'tool_choice')) continue
    const field = fields.reported(name)
    if (meaningsOf(row).some((meaning) => INDISPENSABLE.has(meaning)) || asksForNoAnswer(value))
      lossesTo(warn).refuse(field, `${target.upstreamModel} of ${target.providerName} cannot do this. Leave it out, or use another model.`)
    warn({
      code: 'unsupported_field',
      field,
      message: `${target.upstreamModel} of ${target.providerName} does not take ${field}; it was left out.`,
    })
  }
}

/** Without these the answer is no summary, may come from anywhere, or was not moderated. */
const INDISPENSABLE: ReadonlySet<FieldMeaning> = new Set(['compaction', 'inferenceGeo', 'moderation'])

/** Fields that no provider has to accept, or that have rules of their own. */
const OWN_RULES: ReadonlySet<FieldMeaning> = new Set([
  'conversation',
  'written',
  'service',
  'fallbackModels',
  'refused',
  'maxOutputTokens',
  'reasoning',
])

const ruledFields = (dialect: ClientDialect): ReadonlySet<string> =>
  new Set(fieldsWhere((row) => meaningsOf(row).some((meaning) => OWN_RULES.has(meaning)), [dialect]))

const RULED = forEachDialect(ruledFields)

/** The provider behaves the same without the field, so nothing is lost. */
const saysNothing = (field: string, value: JsonValue | undefined): boolean =>
  value === undefined || (Object.hasOwn(DEFAULTS, field) && DEFAULTS[field] === value) || (field === 'modalities' && isTextAlone(value))

const DEFAULTS: Readonly<Record<string, JsonValue>> = {
  n: 1,
  temperature: 1,
  top_p: 1,
  frequency_penalty: 0,
  presence_penalty: 0,
  repetition_penalty: 1,
  logprobs: false,
  service_tier: 'auto',
  inference_geo: 'global',
  tool_choice: 'none',
  parallel_tool_calls: true,
  verbosity: 'medium',
  truncation: 'disabled',
}

const isTextAlone = (value: JsonValue): boolean => Array.isArray(value) && value.every((kind) => kind === 'text')

export const clampOutput = (fields: EditableFields, name: string, context: RuleContext): void => {
  const asked = fields.value(name)
  const most = typeof asked === 'number' ? outputWithin(asked, fields.reported(name), context) : null
  if (most !== null) fields.put(name, most)
}

export type OutputBounds = Pick<Target, 'upstreamModel' | 'maxCompletionTokens' | 'contextLength'>

/**
 * A limit above the endpoint's maximum is no reason to refuse: the maximum is returned instead, with a warning. Null if the limit is within
 * it.
 */
export const outputWithin = (
  asked: number,
  field: string,
  { target, warn }: { readonly target: OutputBounds; readonly warn: Attempt['warn'] },
): number | null => {
  const { maxCompletionTokens, contextLength = null, upstreamModel } = target
  const most = Math.min(maxCompletionTokens ?? Number.POSITIVE_INFINITY, contextLength ?? Number.POSITIVE_INFINITY)
  if (asked <= most) return null
  warn({ code: 'mapped_field', field, message: `${asked} became ${most}, the most that ${upstreamModel} gives here.` })
  return most
}

/** Identifiers that only have to stay the same from request to request: one that is too long is sent as a hash of it. */
export const shortenIdentifiers = (fields: EditableFields, most: number | null): void => {
  if (most === null) return
  for (const name of IDENTIFIERS) {
    const value = fields.value(name)
    if (typeof value === 'string' && value.length > most) fields.put(name, shortIdentifier(value, most))
  }
}

const IDENTIFIERS = ['user', 'safety_identifier', 'prompt_cache_key'] as const

export const shortIdentifier = (name: string, most: number): string => createHash('sha256').update(name).digest('hex').slice(0, most)

/** Refuses to ask a vendor for no answer that is not known to give none: it would answer, which costs more. */
export const refuseAnswered = (fields: EditableFields, { openAiModels }: Vendor, { target }: RuleContext): void => {
  if (!openAiModels && asksForNoAnswer(fields.value('prompt_cache_options')))
    refuseSetting(fields.reported('prompt_cache_options'), target.providerName)
}

/** If the cache marks are left out, an option to cache only marked content would cache nothing, so it is left out too. */
export const dropCacheOptions = (fields: EditableFields, { target, warn }: RuleContext): void => {
  const options = fields.value('prompt_cache_options')
  if (options === undefined) return
  const field = fields.reported('prompt_cache_options')
  if (asksForNoAnswer(options)) refuseSetting(field, target.providerName)
  fields.remove('prompt_cache_options')
  warn({ code: 'unsupported_field', field, message: `${field} was left out with the marks that it is about.` })
}

const TIERS: Readonly<Record<string, string>> = { fast: 'priority', standard: 'default', standard_only: 'default' }

/** Names the ordinary tier as the vendor does, which is no loss. */
export const nameOrdinaryTier = (fields: EditableFields, ordinaryTier: Vendor['ordinaryTier']): void => {
  const asked = fields.value('service_tier')
  if ((asked === 'default' || asked === 'on_demand') && asked !== ordinaryTier) fields.put('service_tier', ordinaryTier)
}

/** Translates other dialects' names for the same tiers (docs/contract/routing.md#service-tiers). */
export const nameServiceTier = (fields: EditableFields, { warn }: RuleContext): void => {
  const asked = fields.value('service_tier')
  if (typeof asked !== 'string' || !Object.hasOwn(TIERS, asked)) return
  fields.put('service_tier', TIERS[asked] ?? asked)
  warn({
    code: 'mapped_field',
    field: fields.reported('service_tier'),
    message: `${asked} became ${TIERS[asked]}, this provider's name for it.`,
  })
}

const PAIRS_MAX = 16
const KEY_MAX = 64
const VALUE_MAX = 512

/** Keeps only pairs of strings within the API's limits: a single pair beyond them would fail the whole request. */
export const limitMetadata = (fields: EditableFields, { warn }: RuleContext): void => {
  const asked = fields.value('metadata')
  if (!isObject(asked)) return
  const fits = Object.entries(asked).filter(
    ([key, value]) => typeof value === 'string' && key.length <= KEY_MAX && value.length <= VALUE_MAX,
  )
  const kept = Object.fromEntries(fits.slice(0, PAIRS_MAX))
  const lost = Object.keys(asked).filter((key) => !Object.hasOwn(kept, key))
  if (lost.length === 0) return
  fields.put('metadata', kept)
  for (const key of lost) {
    const field = `${fields.reported('metadata')}.${key}`
    warn({ code: 'unsupported_field', field, message: 'This provider takes at most 16 pairs of strings; this one was left out.' })
  }
}
