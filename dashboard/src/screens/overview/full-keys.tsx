/**
 * Keys in use whose limit is nearly or wholly used up. Requests that a limit refuses reach no provider and leave no record, so without this
 * nothing here would show why they fail.
 */
import { Link } from '@tanstack/react-router'

import type { Key } from '../../api/keys.ts'
import { SeenText } from '../../diff/seen-text.tsx'
import { money, numbered } from '../../format.ts'
import { NEAR } from '../../parts/meter.tsx'

/** This many are named, the fullest first. */
const NAMED = 3

interface FullKey extends Pick<Key, 'hash' | 'name' | 'limit_reset'> {
  readonly limit: number
  readonly used: number
  readonly share: number
}

export const FullKeys = ({ keys }: { keys: readonly Key[] }) => {
  const full = keys.flatMap(asFull).toSorted((one, other) => other.share - one.share)
  const isUsedUp = full.some(({ share }) => share >= 1)
  if (full.length === 0) return null
  const title =
    full.length > 1
      ? `${numbered(full.length, 'key')} have used up their limits, or nearly`
      : `A key has ${isUsedUp ? '' : 'nearly '}used up its limit`
  return (
    <div className={isUsedUp ? 'trouble full-keys' : 'trouble full-keys near'}>
      <span aria-hidden="true">▲</span>
      <strong>{title}</strong>
      <span>
        {full.slice(0, NAMED).map(({ hash, name, used, limit, limit_reset: reset }) => (
          <span key={hash}>
            <Link to="/keys" search={{ key: hash }}>
              {name === '' ? 'unnamed' : <SeenText text={name} />}
            </Link>{' '}
            {money(used)} of {money(limit)}
            {reset === null ? '' : ` ${reset}`} ·{' '}
          </span>
        ))}
        {full.length > NAMED ? <Link to="/keys">{numbered(full.length - NAMED, 'more key')}</Link> : null}
        {full.length > NAMED ? ' · ' : null}
        requests that may cost more than what is left get 403
      </span>
    </div>
  )
}

const asFull = ({ hash, name, limit, limit_remaining: left, limit_reset: reset }: Key): readonly FullKey[] => {
  if (limit === null || left === null) return []
  const used = limit - left
  const share = limit === 0 ? 1 : used / limit
  return share < NEAR ? [] : [{ hash, name, limit_reset: reset, limit, used, share }]
}
