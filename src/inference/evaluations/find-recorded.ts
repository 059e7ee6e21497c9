/** Finds the recorded requests that an evaluation repeats: the newest that were answered and whose contents are stored. */
import type { Position } from '../../contract/cursor.ts'
import type { RecordedItem, RecordedSelection } from '../../contract/evaluation.ts'
import { readTimeRange } from '../../contract/time-range.ts'
import type { GenerationFilter } from '../../storage/generations/generation-filter.ts'
import type { GenerationList, GenerationPage } from '../../storage/generations/generation-list.ts'
import type { PresetRef } from '../../storage/presets/preset-ref.ts'
import { OWN_ORIGINS } from '../own-request.ts'

const PAGE = 500
const SINCE_MS = 30 * 86_400_000

export const findRecorded = async (
  { workspaceId, slug }: PresetRef,
  wanted: RecordedSelection,
  list: Pick<GenerationList, 'page' | 'presetIds'>,
  nowMs: number,
): Promise<readonly RecordedItem[]> => {
  const { preset = slug } = wanted
  const filter: GenerationFilter = {
    ...readTimeRange({ from: wanted.since, to: wanted.until }, { nowMs, daysMax: null, fromDefaultMs: SINCE_MS }),
    workspaceId,
    ownedBy: null,
    status: 'ok',
    hasContent: true,
    presetIds: preset === null ? undefined : await list.presetIds(preset, workspaceId),
    presetVersion: wanted.preset_version,
    interface: wanted.interface,
    model: wanted.model,
    keyHash: wanted.key,
    sessionId: wanted.session_id,
  }
  const found: RecordedItem[] = []
  let after: Position | null = null
  do {
    const page: GenerationPage = await list.page(filter, after, PAGE)
    // Requests of tests and evaluations are the service's own, not a client's.
    const asked = page.rows.filter(({ record }) => !OWN_ORIGINS.some((origin) => origin === record['origin']))
    found.push(...asked.slice(0, wanted.limit - found.length).map(({ id }) => ({ generationId: id, expectsAnswer: wanted.expect_answer })))
    after = page.next
  } while (after !== null && found.length < wanted.limit)
  return found
}
