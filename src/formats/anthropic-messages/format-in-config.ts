/** Moves `output_format`, Anthropic's earlier place for the format of an answer, to `output_config.format` (docs/contract/messages.md#request). */
import type { JsonBody } from '../../lib/json/json-body.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'

/**
 * Returns the same body if it has no such field. `preset`: the `output_config` of a preset, whose other members stay if the request has none:
 * it does not say that there is one.
 */
export const withFormatInConfig = (body: JsonBody, preset: JsonValue = null): JsonBody => {
  if (!body.has('output_format')) return body
  const given = body.value('output_config') ?? null
  const format = body.value('output_format') ?? null
  if (given === null && format !== null && isObject(preset)) return moved(body, { ...preset, format })
  const config = given ?? {}
  if (!isObject(config)) return body
  return moved(body, format === null || (config['format'] ?? null) !== null ? null : { ...config, format })
}

const moved = (body: JsonBody, config: JsonObject | null): JsonBody =>
  body.with({ output_format: null, ...(config === null ? {} : { output_config: JSON.stringify(config) }) })
