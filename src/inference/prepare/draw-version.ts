/** Which version of a preset a rollout gives to a request (docs/contract/presets.md#rollouts). The draw is computed; nothing is stored. */
import type { Sticky } from '../../contract/rollout.ts'
import { isObject } from '../../lib/json/json.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import type { ServedPreset } from '../../presets/presets.ts'
import { slotOf, versionAt } from '../../presets/split.ts'
import type { Received } from '../request.ts'

export interface DrawnVersion extends Omit<ServedPreset, 'rollout'> {
  readonly rolloutId: string | null
}

/** `body` must already contain the session that a header may name. */
export const drawVersion = ({ preset, version, rollout }: ServedPreset, received: Received, body: JsonBody): DrawnVersion => {
  if (rollout === null) return { preset, version, rolloutId: null }
  const number = versionAt(rollout.segments, slotOf(preset.id, drawnBy(rollout.sticky, received, body)))
  return { preset, version: rollout.versions.get(number) ?? version, rolloutId: rollout.id }
}

/** The name by which requests get the same version. A request without one is drawn on its own. */
const drawnBy = (sticky: Sticky, { principal, requestId }: Received, body: JsonBody): string => {
  if (sticky === 'key') return `key ${principal.hash}`
  const name = NAMES[sticky](body) ?? (sticky === 'user' ? principal.externalUser : null)
  return name === null ? `request ${requestId}` : `${sticky} ${principal.workspaceId} ${name}`
}

const NAMES: Readonly<Record<Exclude<Sticky, 'key'>, (body: JsonBody) => string | null>> = {
  session: (body) => textOf(body, 'session_id'),
  user: (body) => userOf(body),
  none: () => null,
}

const userOf = (body: JsonBody): string | null => {
  const metadata = body.value('metadata')
  const named = isObject(metadata) ? metadata['user_id'] : null
  return textOf(body, 'user') ?? textOf(body, 'safety_identifier') ?? (typeof named === 'string' && named !== '' ? named : null)
}

const textOf = (body: JsonBody, field: string): string | null => {
  const value = body.value(field)
  return typeof value === 'string' && value !== '' ? value : null
}
