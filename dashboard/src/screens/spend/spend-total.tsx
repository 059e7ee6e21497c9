import { Link } from '@tanstack/react-router'

import type { Usage } from '../../api/usage.ts'
import { count } from '../../format.ts'
import { Compact, Money } from '../../parts/amount.tsx'
import { type Figure, Figures } from '../../parts/figures.tsx'
import { requestsSearch, type SpendFilterValues } from './spend-groups.ts'
import { totalCost } from './spend-series.ts'
import { percent } from '../../units.ts'

interface SpendTotalProps {
  readonly used: Usage
  readonly filter: SpendFilterValues
  readonly month: readonly Figure[]
  /** The cost of the time before; undefined until it is known. */
  readonly before: number | undefined
}

/** The sum of all groups. Spend with customers' own keys, estimated cost and requests without a price are listed separately. */
export const SpendTotal = ({ used, filter, month, before }: SpendTotalProps) => {
  const { groups } = used
  const sum = (of: (group: Usage['groups'][number]) => number | undefined): number =>
    groups.reduce((total, group) => total + (of(group) ?? 0), 0)
  const [byok, estimated, unpriced] = [
    sum(({ byok_cost }) => byok_cost),
    sum(({ estimated_cost }) => estimated_cost),
    sum(({ unpriced_requests }) => unpriced_requests),
  ]
  return (
    <Figures
      figures={[
        { name: 'Spent', value: <Money of={totalCost(used)} /> },
        {
          name: 'Requests',
          value: (
            <Link to="/requests" search={requestsSearch(filter, used)}>
              {count(sum(({ requests }) => requests))}
            </Link>
          ),
        },
        { name: 'Tokens', value: <Compact of={sum(({ tokens_prompt, tokens_completion }) => tokens_prompt + tokens_completion)} /> },
        ...(byok === 0 ? [] : [{ name: 'With own provider keys, apart', value: <Money of={byok} /> }]),
        ...(estimated === 0 ? [] : [{ name: 'Estimated, part of it', value: <Money of={estimated} /> }]),
        ...(unpriced === 0 ? [] : [{ name: 'Requests of unknown price', value: count(unpriced) }]),
        ...month,
        { name: 'The time before', value: <Before cost={before} now={totalCost(used)} /> },
      ]}
    />
  )
}

const Before = ({ cost, now }: { cost: number | undefined; now: number }) => (
  <>
    <Money of={cost} />
    {cost === undefined ? '' : growthOf(now, cost)}
  </>
)

const growthOf = (now: number, before: number): string =>
  before === 0 ? '' : now >= before ? `, +${percent(now / before - 1)} since` : `, −${percent(1 - now / before)} since`
