/**
 * Limits that are nearly or wholly used up: of keys in use, of budgets of workspaces, of credit. Requests that a limit refuses reach no
 * provider and leave no record, so without this nothing here would show why they fail.
 */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { Key } from '../../api/keys.ts'
import type { ListedWorkspace } from '../../api/workspaces.ts'
import { SeenText } from '../../diff/seen-text.tsx'
import { numbered } from '../../format.ts'
import { Money } from '../../parts/amount.tsx'
import { KeyName } from '../../parts/key-name.tsx'
import { NEAR } from '../../parts/meter.tsx'
import { INTERVALS } from '../workspaces/intervals.ts'

/** This many are named, the fullest first. */
const NAMED = 3

interface Limit {
  readonly id: string
  readonly name: ReactNode
  readonly used: number
  readonly limit: number
  /** Follows the amounts. */
  readonly interval: string
}

export const FullKeys = ({ keys }: { keys: readonly Key[] }) => (
  <FullLimits
    limits={keys.flatMap(limitOf)}
    titleOf={(full, isUsedUp) =>
      full > 1 ? `${numbered(full, 'key')} have used up their limits, or nearly` : `A key has ${isUsedUp ? '' : 'nearly '}used up its limit`
    }
    restOf={(more) => <Link to="/keys">{numbered(more, 'more key')}</Link>}
    consequence="requests that may cost more than what is left get 403"
  />
)

const limitOf = ({ hash, name, limit, limit_remaining: left, limit_reset: reset }: Key): readonly Limit[] =>
  limit === null || left === null
    ? []
    : [
        {
          id: hash,
          name: (
            <Link to="/keys" search={{ key: hash }}>
              {name === '' ? 'unnamed' : <KeyName name={name} />}
            </Link>
          ),
          used: limit - left,
          limit,
          interval: reset ?? '',
        },
      ]

export const FullBudgets = ({ workspaces }: { workspaces: readonly ListedWorkspace[] }) => (
  <FullLimits
    limits={workspaces.flatMap(limitsIn)}
    titleOf={(full, isUsedUp) =>
      full > 1
        ? `${numbered(full, 'budget')} of workspaces are used up, or nearly`
        : `The budget of a workspace is ${isUsedUp ? '' : 'nearly '}used up`
    }
    restOf={(more) => <Link to="/workspaces">{`${more} more`}</Link>}
    consequence="requests that may cost more than what is left are refused"
  />
)

const limitsIn = ({ id, slug, name, figures }: ListedWorkspace): readonly Limit[] => {
  const link = (
    <Link to="/workspaces" search={{ workspace: slug }}>
      <SeenText text={name} />
    </Link>
  )
  const budgets = (figures?.budgets ?? []).map(({ limit_usd, spend_usd, reset_interval: interval }) => ({
    id: `${id} ${interval}`,
    name: link,
    used: spend_usd,
    limit: limit_usd,
    interval: INTERVALS[interval ?? 'lifetime'],
  }))
  const credit = figures?.credit ?? null
  return credit === null || !credit.is_enforced
    ? budgets
    : [...budgets, { id: `${id} credit`, name: link, used: credit.total_usage, limit: credit.total_credits, interval: 'of credit' }]
}

interface FullLimitsProps {
  readonly limits: readonly Limit[]
  readonly titleOf: (full: number, isUsedUp: boolean) => string
  /** Leads to those that are not named. */
  readonly restOf: (more: number) => ReactNode
  readonly consequence: string
}

const FullLimits = ({ limits, titleOf, restOf, consequence }: FullLimitsProps) => {
  const full = limits
    .map((limit) => ({ ...limit, share: limit.limit <= 0 ? 1 : limit.used / limit.limit }))
    .filter(({ share }) => share >= NEAR)
    .toSorted((one, other) => other.share - one.share)
  const isUsedUp = full.some(({ share }) => share >= 1)
  const title = full.length === 0 ? '' : titleOf(full.length, isUsedUp)
  return (
    <>
      {/* The amounts beside it change with each request, which nobody wants to hear. */}
      <span className="hidden-text" role="status">
        {title}
      </span>
      {full.length === 0 ? null : (
        <div className={isUsedUp ? 'trouble full-limits' : 'trouble full-limits near'}>
          <span aria-hidden="true">▲</span>
          <strong aria-hidden="true">{title}</strong>
          <span>
            {full.slice(0, NAMED).map(({ id, name, used, limit, interval }) => (
              <span key={id}>
                {name} <Money of={used} /> of <Money of={limit} />
                {interval === '' ? '' : ` ${interval}`} ·{' '}
              </span>
            ))}
            {full.length > NAMED ? restOf(full.length - NAMED) : null}
            {full.length > NAMED ? ' · ' : null}
            {consequence}
          </span>
        </div>
      )}
    </>
  )
}
