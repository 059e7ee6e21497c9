/** The last 24 hours of a provider, one column for each half hour; its height is the share of failed attempts, its colour the provider's. */
import type { ProviderHealth } from '../../api/providers.ts'
import { clockTime, count } from '../../format.ts'
import { useNow } from '../../parts/when.tsx'
import { failedShare } from './provider-state.ts'

const LOW = 20

export const HealthStrip = ({ name, strip }: { name: string; strip: ProviderHealth['strip'] }) => {
  const now = useNow()
  const failing = strip.filter(({ failed }) => failed > 0)
  const last = failing.at(-1)
  const wasAsked = strip.some(({ ok, failed }) => ok + failed > 0)
  return (
    <svg
      className="health-strip"
      role="img"
      aria-label={
        last === undefined
          ? `${name}: ${wasAsked ? 'no failure' : 'no requests'} in 24 hours`
          : `${name}: failures in ${failing.length} of ${strip.length} half hours, the last one at ${clockTime(last.at, now)}`
      }
      viewBox={`0 0 ${strip.length} 100`}
      preserveAspectRatio="none"
    >
      {strip.map(({ at, ok, failed }, index) => {
        const asked = ok + failed
        const height = asked === 0 ? LOW / 4 : LOW + (100 - LOW) * (failed / asked)
        return (
          <rect
            key={at}
            className={asked === 0 ? 'unasked' : failedShare(ok, failed) === null ? 'ok' : ok === 0 ? 'bad' : 'part'}
            x={index + 0.1}
            y={100 - height}
            width={0.8}
            height={height}
          >
            <title>{`${clockTime(at, now)}: ${asked === 0 ? 'no requests' : `${count(ok)} answered, ${count(failed)} failed`}`}</title>
          </rect>
        )
      })}
    </svg>
  )
}
