/** The operator's engines behind one interface: the first configured engine, and one fallback if it fails. */
import type { Clock } from '../../lib/clock.ts'
import { nanosOf } from '../../lib/money.ts'
import { createSafeFetch } from '../../providers/transport/safe-fetch.ts'
import { askEngine, EngineFailure, type Engine } from './ask-engine.ts'
import { ENGINE_KINDS } from './engine-kinds.ts'
import type { Found, Search } from './search.ts'
import { engineOrder, type WebSearchSettings } from './settings.ts'

export interface SearchAnswer {
  readonly found: readonly Found[]
  /** The engine that answered. */
  readonly engine: string
  /** The cost of that engine; failed engines cost nothing. */
  readonly feeNanos: number
}

/** The engines that one request may use. */
export interface AskedEngines {
  /** Throws an EngineFailure, or the signal's reason. */
  search(search: Search, signal: AbortSignal): Promise<SearchAnswer>
  /** The maximum cost of a search at the most expensive of them: some return more results than requested. */
  readonly dearestNanos: number
}

export interface SearchEngines {
  /** Names in the order in which they are tried. */
  readonly names: readonly string[]
  /** The maximum cost of one search, whichever engine answers. */
  readonly mostFeeNanos: number
  /** Returns all engines, or one by its name, or by its kind if no name matches; null if there is none. */
  using(name: string | null): AskedEngines | null
}

export const createSearchEngines = (settings: WebSearchSettings, clock: Clock): SearchEngines => {
  const engines: readonly Engine[] = engineOrder(settings).flatMap((name) => {
    const engine = settings.engines[name]
    return engine === undefined || !settings.enabled ? [] : [{ ...engine, name }]
  })
  const safeFetch = createSafeFetch({
    clock,
    trustedHosts: engines.flatMap(({ url }) => (url === undefined ? [] : [new URL(url).host])),
    trustedBy: 'tools.web_search.engines',
  })
  const using = (all: readonly Engine[]): AskedEngines => {
    const asked = all.slice(0, ASKED_MAX)
    return {
      async search(search, signal) {
        const failures: EngineFailure[] = []
        for (const engine of asked) {
          try {
            const { found, given } = await askEngine(engine, search, { clock, safeFetch }, signal)
            return { found, engine: engine.name, feeNanos: feeOf(engine, Math.min(given, ENGINE_KINDS[engine.kind].most)) }
          } catch (thrown) {
            if (!(thrown instanceof EngineFailure)) throw thrown
            failures.push(thrown)
          }
        }
        const { code, engine } = failures.at(-1) ?? NOBODY
        throw new EngineFailure(code, engine, failures.map(({ message }) => message).join(' '))
      },
      dearestNanos: dearestOf(asked),
    }
  }
  return {
    names: engines.map(({ name }) => name),
    mostFeeNanos: dearestOf(engines),
    using(name) {
      if (name === null) return engines.length === 0 ? null : using(engines)
      const engine = engines.find((one) => one.name === name) ?? engines.find(({ kind }) => kind === name)
      return engine === undefined ? null : using([engine])
    },
  }
}

const NOBODY = { code: 'unavailable', engine: '' } as const

/** The first engine and one fallback. */
const ASKED_MAX = 2

const dearestOf = (engines: readonly Engine[]): number =>
  Math.max(0, ...engines.map((engine) => feeOf(engine, ENGINE_KINDS[engine.kind].most)))

const feeOf = ({ price_per_request: each, price_per_extra_result: extra }: Engine, results: number): number =>
  nanosOf(each) + Math.max(0, results - RESULTS_INCLUDED) * nanosOf(extra)

const RESULTS_INCLUDED = 10
