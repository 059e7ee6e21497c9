/**
 * Chooses which of a provider's keys an attempt uses. The first key is used for as long as it works, so that prompt caches stay warm. A
 * refused key is set aside, a rate-limited key rests, and the next one takes over.
 */
import { createHash } from 'node:crypto'

import { isoTimestamp, type Clock } from '../lib/clock.ts'
import type { Provider } from '../models/model.ts'
import { type CredentialNews, NEWS_MAX } from './node-news.ts'

export interface Credential {
  /** Null for a provider that needs no key. */
  readonly apiKey: string | null
  /** The index in the operator's list; -1 for a customer's key. */
  readonly index: number
  readonly isByok: boolean
  /** True if it is known to be refused or limited, and is tried only because no other key is left. */
  readonly rests: boolean
}

/** `refused`: 401, 402 or 403 for the key itself; `limited`: 429. */
export type CredentialFault = 'refused' | 'limited'

export interface Credentials {
  /** The first working key that is not in `skip`; if none works, the one whose rest ends first; null if all are skipped. */
  pick(provider: Provider, skip: ReadonlySet<number>): Credential | null
  /** The key rests from now on. */
  report(
    provider: Provider,
    credential: Pick<Credential, 'apiKey' | 'index'>,
    fault: CredentialFault,
    retryAfterSeconds: number | null,
  ): void
  /** The keys that rest according to this node, to report to other nodes. */
  found(): CredentialNews[]
  /** Takes the keys that rest on other nodes, replacing the earlier reports. */
  hear(news: readonly CredentialNews[]): void
  /** The state of each key, in order, with the key masked. */
  states(provider: Provider): readonly CredentialState[]
}

export interface CredentialState {
  /** Only the last characters of the key. */
  readonly label: string
  /** ISO timestamps; `refusedAt` is null if the key was not refused, `restsUntil` if it does not rest. */
  readonly refusedAt: string | null
  readonly restsUntil: string | null
}

/** A refused key is tried again after this many milliseconds, since its bill may have been paid. */
const REFUSED_MS = 10 * 60 * 1000
/** How long a rate-limited key rests if the provider names no time. */
const LIMITED_MS = 5000
/** The maximum rest of a rate-limited key, even if its provider names a longer time. */
const LIMITED_MS_MAX = 10 * 60 * 1000

/**
 * `onRefused` raises the alarm: it is called each time a key is newly set aside, with the provider's slug and the key's index in the list.
 */
export const createCredentials = (parts: { clock: Clock; onRefused: (provider: string, index: number) => void }): Credentials => {
  const { clock, onRefused } = parts
  /** The time until which a key rests. The operator's file bounds the number of entries; an expired one is removed when it is next read. */
  const resting = new Map<string, number>()
  /** The wall-clock time at which a resting key was refused, if it was. */
  const refused = new Map<string, number>()

  /** Reports of other nodes, by a name that does not reveal the key. */
  let heard = new Map<string, number>()

  const restsUntil = (name: string): number => Math.max(foundUntil(name), heardUntil(name))

  const heardUntil = (name: string): number => {
    const untilMs = heard.size === 0 ? 0 : (heard.get(hiddenName(name)) ?? 0)
    return untilMs > clock.monotonicMs() ? untilMs : 0
  }

  const foundUntil = (name: string): number => {
    const untilMs = resting.get(name)
    if (untilMs === undefined) return 0
    if (untilMs > clock.monotonicMs()) return untilMs
    resting.delete(name)
    refused.delete(name)
    return 0
  }

  return {
    pick(provider, skip) {
      const { slug, apiKeys } = provider
      if (apiKeys.length === 0) return skip.has(0) ? null : { apiKey: null, index: 0, isByok: false, rests: false }
      let best: { credential: Credential; dueMs: number } | null = null
      for (const [index, apiKey] of apiKeys.entries()) {
        if (skip.has(index)) continue
        const dueMs = resting.size === 0 && heard.size === 0 ? 0 : restsUntil(nameOf(slug, apiKey))
        if (best === null || dueMs < best.dueMs) best = { credential: { apiKey, index, isByok: false, rests: dueMs > 0 }, dueMs }
        if (dueMs === 0) break
      }
      return best?.credential ?? null
    },
    report({ slug }, { apiKey, index }, fault, retryAfterSeconds) {
      if (apiKey === null) return
      const name = nameOf(slug, apiKey)
      // If no other key is left, a resting key is tried anyway; its refusal is already known and raises no new alarm.
      const isNews = restsUntil(name) === 0
      const restMs = fault === 'refused' ? REFUSED_MS : Math.min(LIMITED_MS_MAX, (retryAfterSeconds ?? LIMITED_MS / 1000) * 1000)
      resting.set(name, clock.monotonicMs() + restMs)
      if (fault === 'refused') refused.set(name, clock.now())
      if (fault === 'refused' && isNews) onRefused(slug, index)
    },
    found() {
      const nowMs = clock.monotonicMs()
      const news = [...resting].flatMap(([name, untilMs]) => (untilMs > nowMs ? [{ name: hiddenName(name), restMs: untilMs - nowMs }] : []))
      return news.slice(0, NEWS_MAX)
    },
    hear(news) {
      const nowMs = clock.monotonicMs()
      heard = new Map()
      for (const { name, restMs } of news) heard.set(name, Math.max(heard.get(name) ?? 0, nowMs + restMs))
    },
    states: ({ slug, apiKeys }) =>
      apiKeys.map((apiKey) => {
        const name = nameOf(slug, apiKey)
        const untilMs = restsUntil(name)
        const refusedMs = refused.get(name)
        return {
          label: maskOf(apiKey),
          refusedAt: refusedMs === undefined ? null : isoTimestamp(refusedMs),
          restsUntil: untilMs === 0 ? null : isoTimestamp(clock.now() + untilMs - clock.monotonicMs()),
        }
      }),
  }
}

/** A short key is not shown at all: its end would reveal too much of it. */
const maskOf = (apiKey: string): string => (apiKey.length < 16 ? '…' : `…${apiKey.slice(-4)}`)

const nameOf = (slug: string, apiKey: string): string => `${slug} ${apiKey}`

/** So short that a guessed key cannot be confirmed as the right one. */
const hiddenName = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 12)
