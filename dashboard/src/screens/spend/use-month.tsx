/** The cost of this month so far, its forecast, and its budget. */
import { Money } from '../../parts/amount.tsx'
import type { Figure } from '../../parts/figures.tsx'
import { Meter } from '../../parts/meter.tsx'
import { useNow } from '../../parts/when.tsx'
import { forecastOf } from './month.ts'
import { countedCost, nextMinute, useMonthBudget, useMonthCost } from './month-budget.ts'
import type { SpendFilterValues } from './spend-groups.ts'

/** The figures are present from the beginning, so that nothing moves when their values come. */
export const useMonth = (filter: SpendFilterValues): readonly Figure[] => {
  const nowMs = nextMinute(useNow())
  const month = useMonthCost(filter, nowMs)
  const budget = useMonthBudget(filter)
  const counted = countedCost(month, budget)
  const isOver = budget !== undefined && forecastOf(counted, nowMs) > budget.limit_usd
  return [
    { name: 'This month, UTC', value: <Money of={month?.cost} /> },
    { name: 'Forecast for the month', value: <Money of={month === undefined ? null : forecastOf(month.cost, nowMs)} /> },
    ...(budget === undefined
      ? []
      : [
          {
            name: isOver ? '▲ Budget a month, below the forecast' : 'Budget a month',
            value: (
              <span className="row">
                <Money of={budget.limit_usd} /> <Meter label="Budget of the month" used={counted} limit={budget.limit_usd} />
              </span>
            ),
          },
        ]),
  ]
}
