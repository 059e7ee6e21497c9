/** The columns of the list: all of them, or the few that are shown beside an open request. */
import { Link } from '@tanstack/react-router'

import type { GenerationRow } from '../../api/generations.ts'
import { compact, count, instant, money } from '../../format.ts'
import { duration } from '../../units.ts'
import type { RowColumn } from '../../parts/virtual-rows.tsx'
import { When } from '../../parts/when.tsx'
import { RequestStatus } from './request-status.tsx'

const TIME: RowColumn<GenerationRow> = {
  title: 'Time',
  width: '104px',
  cell: (row) => (
    <Link
      to="/requests/$id"
      params={{ id: row.id }}
      search={(search) => search}
      className="row-link"
      title={wholeRow(row)}
      data-row-link={row.id}
    >
      <When at={row.created_at} exact />
    </Link>
  ),
}
/** The link covers its row, so its tooltip contains what the row may cut off. */
const wholeRow = (row: GenerationRow): string =>
  [
    instant(row.created_at),
    row.error_type,
    row.model,
    row.preset_slug === null ? null : `${row.preset_slug}@${row.preset_version}`,
    row.api_key_name,
    row.cost_known ? money(row.total_cost) : null,
  ]
    .filter((part) => part !== null && part !== undefined)
    .join(' · ')

const STATUS: RowColumn<GenerationRow> = { title: 'Status', width: '76px', cell: (row) => <RequestStatus {...row} /> }
const MODEL: RowColumn<GenerationRow> = {
  title: 'Model',
  width: 'minmax(96px, 1.5fr)',
  cell: (row) => row.model,
}
const COST: RowColumn<GenerationRow> = {
  title: 'Cost',
  width: '84px',
  align: 'right',
  cell: (row) => (row.cost_known ? money(row.total_cost) : '?'),
}

/** Two numbers of six digits would be wider than their column. */
const tokens = (number: number | null): string => (number === null || number < 100_000 ? count(number) : compact(number))

export const FEW_COLUMNS: readonly RowColumn<GenerationRow>[] = [TIME, STATUS, MODEL]
export const PHONE_COLUMNS: readonly RowColumn<GenerationRow>[] = [TIME, STATUS, MODEL]
/** The columns that cannot be hidden come first. */
export const ALL_COLUMNS: readonly RowColumn<GenerationRow>[] = [
  TIME,
  STATUS,
  MODEL,
  {
    title: 'Preset',
    width: 'minmax(64px, 1fr)',
    cell: (row) => (row.preset_slug === null ? <span className="faint">–</span> : `${row.preset_slug}@${row.preset_version}`),
  },
  { title: 'Key', width: 'minmax(64px, 1.1fr)', cell: (row) => row.api_key_name ?? <span className="faint">–</span> },
  { title: 'Tries', width: '44px', align: 'right', cell: (row) => row.attempts },
  { title: 'TTFT', width: '60px', align: 'right', cell: (row) => duration(row.latency) },
  { title: 'Total', width: '56px', align: 'right', cell: (row) => duration(row.generation_time) },
  {
    title: 'Tokens',
    width: '92px',
    align: 'right',
    cell: (row) => `${tokens(row.tokens_prompt)} → ${tokens(row.tokens_completion)}`,
  },
  COST,
]
