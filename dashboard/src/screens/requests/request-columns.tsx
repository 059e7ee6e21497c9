/** The columns of the list, as many as fit. */
import { Link } from '@tanstack/react-router'

import type { GenerationRow } from '../../api/generations.ts'
import { compact, count, instant } from '../../format.ts'
import { duration, exactMoney } from '../../units.ts'
import type { RowColumn } from '../../parts/virtual-rows.tsx'
import { Figure, Money } from '../../parts/amount.tsx'
import { KeyName, useKeyName } from '../../parts/key-name.tsx'
import { When } from '../../parts/when.tsx'
import { RequestStatus } from './request-status.tsx'

const TIME: RowColumn<GenerationRow> = {
  title: 'Time',
  width: 6.5,
  cell: (row) => <RowLink of={row} />,
}

const RowLink = ({ of: row }: { of: GenerationRow }) => {
  const keyName = useKeyName(row.api_key_name ?? '')
  return (
    <Link
      to="/requests/$id"
      params={{ id: row.id }}
      search={(search) => search}
      className="row-link"
      title={wholeRow(row, keyName)}
      data-row-link={row.id}
    >
      <When at={row.created_at} exact />
    </Link>
  )
}

/** The link covers its row, so its tooltip contains what the row may cut off. */
const wholeRow = (row: GenerationRow, keyName: string): string =>
  [
    instant(row.created_at),
    row.error_type,
    row.model,
    row.preset_slug === null ? null : `${row.preset_slug}@${row.preset_version}`,
    keyName,
    row.tokens_prompt || row.tokens_completion ? `${count(row.tokens_prompt)} → ${count(row.tokens_completion)} tokens` : null,
    row.cost_known ? exactMoney(row.total_cost) : null,
  ]
    .filter((part) => part !== null && part !== undefined && part !== '')
    .join(' · ')

/** The columns that cannot be hidden come first. */
export const COLUMNS: readonly RowColumn<GenerationRow>[] = [
  TIME,
  { title: 'Status', width: 4.75, cell: (row) => <RequestStatus {...row} /> },
  { title: 'Model', width: 10.25, grows: true, cell: (row) => row.model },
  {
    title: 'Preset',
    width: 6,
    grows: true,
    rank: 4,
    cell: (row) => (row.preset_slug === null ? <span className="faint">–</span> : `${row.preset_slug}@${row.preset_version}`),
  },
  {
    title: 'Key',
    width: 7.25,
    grows: true,
    rank: 1,
    cell: ({ api_key_name: key }) => (key === null ? <span className="faint">–</span> : <KeyName name={key} />),
  },
  { title: 'Tries', width: 2.75, align: 'right', rank: 7, cell: (row) => row.attempts },
  { title: 'First token', width: 4, align: 'right', rank: 6, cell: (row) => duration(row.latency) },
  { title: 'Total', width: 3.5, align: 'right', rank: 2, cell: (row) => duration(row.generation_time) },
  {
    title: 'Tokens',
    width: 5.75,
    align: 'right',
    rank: 5,
    cell: (row) =>
      row.tokens_prompt || row.tokens_completion ? (
        <>
          <Tokens of={row.tokens_prompt} /> → <Tokens of={row.tokens_completion} />
        </>
      ) : (
        <span className="faint">–</span>
      ),
  },
  {
    title: 'Cost',
    width: 5.25,
    align: 'right',
    rank: 3,
    cell: (row) => (row.cost_known ? <Money of={row.total_cost} /> : '?'),
  },
]

/** In rem: a cut number looks like a smaller one. */
export const EXACT_WIDTHS: Readonly<Record<string, number>> = { Tokens: 9, Cost: 7 }

/** Two numbers of six digits would be wider than their column. */
const Tokens = ({ of: number }: { of: number | null }) =>
  number === null ? '–' : <Figure short={number < 100_000 ? count(number) : compact(number)} exact={count(number)} />
