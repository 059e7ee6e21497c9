/** Providers that fail now, as seen over all processes; shows nothing if there are none. */
import { Link } from '@tanstack/react-router'

import type { ProviderHealth } from '../../api/providers.ts'
import { clockTime } from '../../format.ts'
import { wordsOfProvider } from '../../parts/provider-words.ts'
import { useNow } from '../../parts/when.tsx'
import { SANDBOX, SANDBOX_SPARE, stateOf } from '../models/provider-state.ts'
import { percent } from '../../units.ts'

export const Trouble = ({ health }: { health: readonly ProviderHealth[] }) => {
  const failing = health.filter(({ slug, status }) => slug !== SANDBOX_SPARE && (status === 'down' || status === 'degraded'))
  return (
    <>
      {/* The lines change with each failure, which nobody wants to hear again each time. */}
      <span className="hidden-text" role="status">
        {failing.length === 0 ? '' : `Failing: ${failing.map(({ name }) => name).join(', ')}.`}
      </span>
      {failing
        .toSorted((one, other) => Number(one.slug === SANDBOX) - Number(other.slug === SANDBOX))
        .map((provider) => (
          <TroubleLine key={provider.slug} provider={provider} />
        ))}
    </>
  )
}

const said = (message: string | null, name: string): string => (message === null ? '' : `: ${wordsOfProvider(message, name) ?? message}`)

const TroubleLine = ({ provider }: { provider: ProviderHealth }) => {
  const now = useNow()
  const { slug, name, strip, last_error: error } = provider
  const { words, shut } = stateOf(provider)
  const slot = strip.at(-1)
  const asked = (slot?.ok ?? 0) + (slot?.failed ?? 0)
  const isPlayed = slug === SANDBOX
  const facts = [
    isPlayed ? 'Fails where it is asked to' : words + shut,
    ...(slot === undefined || slot.failed === 0 ? [] : [`${percent(slot.failed / asked)} of attempts failed in this half hour`]),
    ...(error === null ? [] : [`${error.status ?? ''} ${error.type} at ${clockTime(error.at, now)}${said(error.message, name)}`.trim()]),
  ]
  return (
    <Link to="/models" className={isPlayed ? 'trouble played' : 'trouble'}>
      <span aria-hidden="true">{isPlayed ? '◌' : '▲'}</span>
      <strong>{name}</strong>
      <span>{facts.join(' · ')}</span>
    </Link>
  )
}
