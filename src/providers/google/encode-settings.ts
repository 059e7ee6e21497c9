/** Encodes `generationConfig`: sampling, limits, the format of the answer, thinking. */
import type { ClientDialect } from '../../canonical/call.ts'
import type { OutputFormat } from '../../canonical/prompt.ts'
import { isObject, type JsonObject } from '../../lib/json/json.ts'
import { FORMAT_FIELDS } from '../vendors/format-fields.ts'
import type { Translation } from '../losses/translation.ts'
import { describedSchema } from '../tools/described-schema.ts'
import type { GeminiModel } from './gemini-model.ts'
import { googleSchema } from './json-schema.ts'
import { encodeReasoning } from './encode-reasoning.ts'
import type { EncodedTools } from './encode-tools.ts'

/** Members that are undefined are not sent. */
export const encodeSettings = (
  translation: Translation,
  model: GeminiModel,
  tools: EncodedTools,
  dialect: ClientDialect,
): Readonly<Record<string, unknown>> => {
  const { setting } = translation
  const topLogprobs = setting('topLogprobs')
  const logprobs = setting('logprobs') ?? (topLogprobs === undefined ? undefined : true)
  return {
    temperature: setting('temperature'),
    topP: setting('topP'),
    // In the clients' dialects that have the field, 0 means all tokens; here that is expressed by leaving it out.
    topK: setting('topK') || undefined,
    maxOutputTokens: setting('maxOutputTokens'),
    stopSequences: stopSequences(translation),
    seed: seedOf(translation),
    responseLogprobs: logprobs,
    logprobs: logprobs === true ? topLogprobs : undefined,
    responseModalities: setting('outputModalities')?.map((modality) => modality.toUpperCase()),
    imageConfig: imageConfig(translation),
    thinkingConfig: encodeReasoning(translation, model),
    ...outputFormat(translation, model, tools, dialect),
  }
}

const SEED_MAX = 2 ** 31 - 1

/** Google's API reference, GenerationConfig: `seed` is an integer of 32 bits (`int32`). */
const seedOf = ({ setting, prompt, lose }: Translation): number | undefined => {
  const seed = setting('seed')
  if (seed === undefined || (seed >= -SEED_MAX - 1 && seed <= SEED_MAX)) return seed
  lose(prompt.settings.seed?.field ?? 'seed', `Google takes seeds from ${-SEED_MAX - 1} to ${SEED_MAX}; this one was left out.`)
  return undefined
}

const STOP_SEQUENCES_MAX = 5

const stopSequences = ({ setting, prompt, lose }: Translation): readonly string[] | undefined => {
  const stop = setting('stop')
  if (stop === undefined || stop.length === 0) return undefined
  if (stop.length > STOP_SEQUENCES_MAX)
    lose(prompt.settings.stop?.field ?? 'stop', `Google takes ${STOP_SEQUENCES_MAX} stop sequences; the others were left out.`)
  return stop.slice(0, STOP_SEQUENCES_MAX)
}

const IMAGE_WORDS: Readonly<Record<string, string>> = { aspect_ratio: 'aspectRatio', image_size: 'imageSize' }

const imageConfig = ({ setting, prompt, lose }: Translation): JsonObject | undefined => {
  const given = setting('imageConfig')
  if (!isObject(given)) return undefined
  const out: Record<string, string> = {}
  for (const [key, value] of Object.entries(given)) {
    const word = IMAGE_WORDS[key]
    if (word !== undefined && typeof value === 'string') out[word] = value
    else
      lose(
        `${prompt.settings.imageConfig?.field ?? 'image_config'}.${key}`,
        `Google has no field like ${key} for an image; it was left out.`,
      )
  }
  return Object.keys(out).length === 0 ? undefined : out
}

const outputFormat = (
  { prompt, lose }: Translation,
  model: GeminiModel,
  tools: EncodedTools,
  dialect: ClientDialect,
): Readonly<Record<string, unknown>> => {
  const format = prompt.outputFormat
  if (format.type === 'text') return {}
  if (tools.forced || (tools.hasFunctions && !model.mixesJsonAndTools)) {
    const why = tools.forced ? 'where a function must be called' : `beside functions, for ${model.name}`
    lose(FORMAT_FIELDS[dialect], `Google refuses a JSON format ${why}; it was left out.`)
    return {}
  }
  return {
    responseMimeType: 'application/json',
    ...(format.type === 'json-schema' ? { responseJsonSchema: formatSchema(format, dialect, lose) } : {}),
  }
}

const formatSchema = (
  format: Extract<OutputFormat, { type: 'json-schema' }>,
  dialect: ClientDialect,
  lose: Translation['lose'],
): unknown => {
  const schema = googleSchema(format.schema)
  if (format.description === undefined || !isObject(schema) || schema['$ref'] === undefined) return describedSchema(schema, format)
  lose(FORMAT_FIELDS[dialect], 'Google takes nothing beside the reference that this schema is; the description of the format was left out.')
  return schema
}
