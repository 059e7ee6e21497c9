/** A chat request for an upstream that speaks the same dialect: the client's own JSON, with only what we own replaced. */
import { GatewayError } from '../../errors.ts'
import type { JsonChanges } from '../../lib/json-body.ts'
import { isObject } from '../../lib/json.ts'
import type { Attempt } from '../provider.ts'

/**
 * Fields that address this service, or that would let a request steer where an upstream that is itself a router sends
 * it (reliability.md 4.9, rule 8). They never leave.
 */
const OURS = [
  'models',
  'preset',
  'provider',
  'plugins',
  'route',
  'session_id',
  'trace',
  'debug',
  'sandbox',
  'strict',
  'transforms',
  'usage',
  'stop_server_tools_when',
  'deferred_tools',
  'api_base',
  'base_url',
  'api_key',
  'user_config',
  'extra_headers',
]

const REMOVED: JsonChanges = Object.fromEntries(OURS.map((name) => [name, null]))

export const encodeChatRequest = ({ call, target }: Attempt): string => {
  if (call.dialect !== 'chat') {
    throw new GatewayError(
      'unprocessable',
      `The ${call.dialect} interface cannot yet be translated for ${target.providerName}. Use chat completions.`,
    )
  }
  const changes: Record<string, string | null> = { ...REMOVED, model: JSON.stringify(target.upstreamModel) }
  if (call.stream) {
    // Usage always comes back (contract 3.1), so it is always asked for.
    const options = call.body.value('stream_options')
    changes['stream_options'] = JSON.stringify({ ...(isObject(options) ? options : {}), include_usage: true })
  }
  const { body } = call
  const reasoning = body.value('reasoning')
  if (isObject(reasoning) && !body.has('reasoning_effort') && typeof reasoning['effort'] === 'string') {
    changes['reasoning'] = null
    changes['reasoning_effort'] = JSON.stringify(reasoning['effort'])
  }
  return body.textWith(changes)
}
