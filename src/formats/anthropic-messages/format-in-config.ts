/** Moves `output_format`, Anthropic's earlier place for the format of an answer, to `output_config.format` (docs/contract/messages.md#request). */
import type { JsonBody } from '../../lib/json/json-body.ts'
import { isObject } from '../../lib/json/json.ts'

/** Returns the same body if it has no such field. */
export const withFormatInConfig = (body: JsonBody): JsonBody => {
  if (!body.has('output_format')) return body
  const config = body.value('output_config') ?? {}
  const format = body.value('output_format') ?? null
  if (!isObject(config)) return body
  const moved = format === null || (config['format'] ?? null) !== null ? null : JSON.stringify({ ...config, format })
  return body.with({ output_format: null, ...(moved === null ? {} : { output_config: moved }) })
}
