/** The state of the service: failing providers, usage, spend, the latest errors. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'

import { keysInUse } from '../../api/keys.ts'
import { providerHealth } from '../../api/providers.ts'
import { currentSession } from '../../api/session.ts'
import { usage } from '../../api/usage.ts'
import { workspaceFigures } from '../../api/workspaces.ts'
import { count, numbered } from '../../format.ts'
import { Money } from '../../parts/amount.tsx'
import { ColumnsChart } from '../../parts/columns-chart.tsx'
import { CopyCurl } from '../../parts/copy-curl.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { OnceKnown } from '../../parts/once-known.tsx'
import { Panel } from '../../parts/panel.tsx'
import { RangeSelect } from '../../parts/range-select.tsx'
import { ScreenHead } from '../../parts/screen-head.tsx'
import { useWholeList } from '../../parts/use-whole-list.ts'
import { useNow } from '../../parts/when.tsx'
import { rangeIn, rangeOf, type TimeRange } from '../../range.ts'
import { TOO_MANY, usageSlots } from '../../usage-slots.ts'
import { FAILURE_OWNERS, FailuresBy, failuresTitle } from '../requests/failures-by.tsx'
import { FirstSteps, useFirstSteps } from './first-steps.tsx'
import { FullBudgets, FullKeys } from './full-limits.tsx'
import { LatestErrors } from './latest-errors.tsx'
import { MonthOfBudget } from './month-of-budget.tsx'
import { ProviderHealthList } from './provider-health-list.tsx'
import { ProviderList } from './provider-list.tsx'
import type { Scope } from './scope.ts'
import { TopSpend } from './top-spend.tsx'
import { Trouble } from './trouble.tsx'
import { duration, percent } from '../../units.ts'

export const OverviewScreen = () => {
  const search = useSearch({ strict: false })
  const session = useQuery(currentSession)
  const scope: Scope = { range: rangeOf(search, useNow()), workspace: search['workspace'] }
  const { from, to, interval } = scope.range
  const navigate = useNavigate()
  const failedBy = FAILURE_OWNERS.find((owner) => owner === search['failed']) ?? 'key'
  const filter = { workspace_id: scope.workspace }
  const isAdmin = session.data?.role === 'admin'
  const health = useQuery({ ...providerHealth, enabled: isAdmin })
  const keys = useQuery(keysInUse(scope.workspace))
  const workspaces = useWholeList({ ...workspaceFigures, enabled: isAdmin, refetchInterval: 30_000 })
  const steps = useFirstSteps(scope.workspace, isAdmin)
  const isTroubleKnown =
    session.data !== undefined &&
    (!isAdmin || health.data !== undefined || health.error !== null) &&
    (!isAdmin || workspaces.isWhole || workspaces.isFailed) &&
    (keys.data !== undefined || keys.error !== null)
  return (
    <>
      <ScreenHead title="Overview">
        <RangeSelect />
        <CopyCurl path="/usage" query={{ from, to, interval, workspace_id: scope.workspace }} />
      </ScreenHead>
      {isAdmin ? <Trouble health={health.data ?? []} /> : null}
      <FullBudgets workspaces={workspaces.rows.filter(({ id, slug }) => [undefined, id, slug].includes(scope.workspace))} />
      <FullKeys keys={keys.data ?? []} />
      <OnceKnown isKnown={isTroubleKnown} rows={5}>
        <Figures {...scope} />
        <FirstSteps steps={steps ?? []} />
        <OnceKnown isKnown={steps !== undefined} rows={3}>
          <div className="overview-parts">
            <Panel title="Providers" actions={isAdmin ? <Link to="/models">All</Link> : undefined}>
              {isAdmin ? <ProviderHealthList {...scope} /> : <ProviderList {...scope} />}
            </Panel>
            <TopSpend {...scope} />
            <Panel
              title="Latest errors"
              actions={
                <Link to="/requests" search={(before) => ({ ...rangeIn(before), q: 'status:error' })}>
                  All
                </Link>
              }
            >
              <LatestErrors {...scope} />
            </Panel>
            <Panel title={failuresTitle('error_type')}>
              <FailuresBy by="error_type" range={scope.range} filter={filter} />
            </Panel>
            <Panel
              title={failuresTitle(failedBy)}
              actions={
                <select
                  aria-label="Failures by"
                  value={failedBy}
                  onChange={(event) =>
                    void navigate({
                      to: '.',
                      search: (before) => ({ ...before, failed: event.target.value }),
                      replace: true,
                      resetScroll: false,
                    })
                  }
                >
                  {FAILURE_OWNERS.map((owner) => (
                    <option key={owner} value={owner}>
                      {owner}
                    </option>
                  ))}
                </select>
              }
            >
              <FailuresBy by={failedBy} range={scope.range} filter={filter} />
            </Panel>
          </div>
        </OnceKnown>
      </OnceKnown>
    </>
  )
}

const Figures = ({ range, workspace }: Scope) => {
  const navigate = useNavigate()
  const { from, to, interval } = range
  const sums = useQuery({
    ...usage({ from, to, interval, workspace_id: workspace }),
    refetchInterval: 10_000,
    placeholderData: (before) => before,
  })
  return (
    <Panel title="Requests, errors and spend" quiet>
      <Loaded query={sums} rows={5}>
        {({ data, interval: shown, coarser, groups: [all], ...summed }) => (
          <>
            <dl className="figures">
              <Figure name="Requests" value={count(all?.requests ?? 0)} summed={summed} q="" />
              <Figure
                name="Errors"
                value={all === undefined || all.requests === 0 ? '–' : percent(all.errors / all.requests)}
                summed={summed}
                q="status:error"
                isBad={(all?.errors ?? 0) > 0}
              />
              <div>
                <dt>Spend</dt>
                <dd>
                  <Link to="/spend" search={{ from: summed.from, to: summed.to }}>
                    <Money of={all?.cost ?? 0} />
                  </Link>
                </dd>
              </div>
              <div>
                <dt>First token, p50</dt>
                <dd>{duration(all?.ttft_p50)}</dd>
              </div>
              <MonthOfBudget workspace={workspace} />
            </dl>
            <ColumnsChart
              label="Requests over time"
              series={[{ name: 'OK' }, { name: 'Errors', isStriped: true }]}
              slots={usageSlots({ data, interval: shown }, range)}
              format={count}
              formatTop={(value) => numbered(value, 'request')}
              height={112}
              onOpen={(first, last) => void navigate({ to: '/requests', search: { from: first, to: last } })}
            />
            {coarser === null ? null : <p className="faint small">{TOO_MANY}</p>}
          </>
        )}
      </Loaded>
    </Panel>
  )
}

interface FigureProps {
  readonly name: string
  readonly value: string
  /** The range of the sums: whole hours, so that the linked list has exactly the requests that were counted. */
  readonly summed: Pick<TimeRange, 'from' | 'to'>
  readonly q: string
  readonly isBad?: boolean
}

const Figure = ({ name, value, summed, q, isBad = false }: FigureProps) => (
  <div>
    <dt>{name}</dt>
    <dd className={isBad ? 'bad' : undefined}>
      <Link to="/requests" search={{ from: summed.from, to: summed.to, q: q || undefined }}>
        {isBad ? <span aria-hidden="true">▲ </span> : null}
        {value}
      </Link>
    </dd>
  </div>
)
