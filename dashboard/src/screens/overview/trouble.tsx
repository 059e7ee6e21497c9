/** Providers that fail now, as seen over all processes; shows nothing if there are none. */
import { Link } from '@tanstack/react-router'

import type { ProviderHealth } from '../../api/providers.ts'
import { clockTime, percent } from '../../format.ts'
import { wordsOfProvider } from '../../parts/provider-words.ts'
import { useNow } from '../../parts/when.tsx'
import { stateOf } from '../models/provider-state.ts'

export const Trouble = ({ health }: { health: readonly ProviderHealth[] }) => {
  const failing = health.filter(({ status }) => status === 'down' || status === 'degraded')
  return (
    <div role="status">
      {failing.map((provider) => (
        <TroubleLine key={provider.slug} provider={provider} />
      ))}
    </div>
  )
}

const said = (message: string | null, name: string): string => (message === null ? '' : `: ${wordsOfProvider(message, name) ?? message}`)

const TroubleLine = ({ provider }: { provider: ProviderHealth }) => {
  const now = useNow()
  const { name, strip, last_error: error } = provider
  const slot = strip.at(-1)
  const asked = (slot?.ok ?? 0) + (slot?.failed ?? 0)
  const facts = [
    stateOf(provider).words,
    ...(slot === undefined || slot.failed === 0 ? [] : [`${percent(slot.failed / asked)} of attempts failed in this half hour`]),
    ...(error === null ? [] : [`${error.status ?? ''} ${error.type} at ${clockTime(error.at, now)}${said(error.message, name)}`.trim()]),
  ]
  return (
    <Link to="/models" className="trouble">
      <span aria-hidden="true">▲</span>
      <strong>{name}</strong>
      <span>{facts.join(' · ')}</span>
    </Link>
  )
}
