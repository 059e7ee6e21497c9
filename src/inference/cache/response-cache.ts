/**
 * Caches answers and gives them again for the same request of the same key. They are sealed wherever they are stored
 * (docs/contract/response-cache.md).
 */
import type { AnswerStore } from '../../storage/answers/answer-store.ts'
import type { TextSeal } from '../../storage/rows/seal.ts'
import { openJson } from '../../storage/rows/sealed-json.ts'
import type { Clock } from '../../lib/clock.ts'
import { LARGE_BYTES, type Steps, throughout, type Turn } from '../../lib/steps.ts'
import type { Admitted } from '../admitted.ts'
import type { Planned } from '../request.ts'
import type { AnswerCapture } from './answer-capture.ts'
import type { CacheMiss, CacheUse } from './cache-use.ts'
import { writeCachedAnswer, type CachedAnswer } from './cached-answer.ts'
import type { Caching } from './caching.ts'
import { entryName } from './entry-name.ts'

export interface ResponseCache {
  /** Never rejects: an entry that cannot be read counts as a miss. */
  find(planned: Planned, caching: Caching, turn: Turn): Promise<CacheUse>
  /** Caches a finished answer if it is complete and without faults; works in steps if it is large. */
  keep(admitted: Admitted, miss: CacheMiss, capture: AnswerCapture, turn: Turn): void | Promise<void>
}

export interface ResponseCacheParts {
  readonly store: AnswerStore
  readonly seal: TextSeal
  /** The secret with which names of entries are hashed. */
  readonly secret: Uint8Array
  readonly clock: Pick<Clock, 'now'>
  readonly onError: (thrown: unknown, doing: string) => void
}

export const createResponseCache = ({ store, seal, secret, clock, onError }: ResponseCacheParts): ResponseCache => {
  /**
   * The form need not be checked, since the service wrote it. An entry that was changed in storage, or sealed with another key, counts as missing.
   */
  function* opened(name: string, sealed: string): Steps<CachedAnswer | null> {
    try {
      return (yield* openJson(sealed, contextOf(name), seal)) as unknown as CachedAnswer
    } catch (thrown) {
      onError(thrown, 'a kept answer does not open')
      store.drop(name)
      return null
    }
  }

  function* kept(admitted: Admitted, { name, ttlSeconds }: CacheMiss, capture: AnswerCapture): Steps<void> {
    const { log, judge, generationId } = admitted
    if (!isWhole(admitted)) return
    const frames = yield* capture.writing()
    if (frames === null) return
    const { current, said } = log
    const facts = {
      sourceId: generationId,
      keptMs: clock.now(),
      ttlSeconds,
      model: current?.planned.model.id ?? '',
      provider: current?.planned.endpoint.provider.name ?? null,
      losses: said.losses,
      ...(judge === null ? {} : { alignment: judge.report }),
    }
    const text = writeCachedAnswer(facts, frames)
    if (text.length > LARGE_BYTES) yield
    store.keep(name, seal.seal(text, contextOf(name)), ttlSeconds * 1000)
  }

  return {
    async find(planned, { ttlSeconds, clears }, turn) {
      const name = await throughout(entryName(planned, secret), turn)
      const miss = { outcome: 'miss', name, ttlSeconds } as const
      if (clears) {
        store.drop(name)
        return miss
      }
      const sealed = await store.find(name)
      const answer = sealed === null ? null : await throughout(opened(name, sealed), turn)
      if (answer === null) return miss
      const ageSeconds = Math.max(0, Math.floor((clock.now() - answer.keptMs) / 1000))
      const leftSeconds = answer.ttlSeconds - ageSeconds
      return leftSeconds <= 0 ? miss : { outcome: 'hit', answer, ageSeconds, ttlSeconds: leftSeconds }
    },
    keep: (admitted, miss, capture, turn) => throughout(kept(admitted, miss, capture), turn),
  }
}

const contextOf = (name: string): string => `response-cache ${name}`

/**
 * True if the answer ended normally, with a finish reason; one without may have been cut off. Embeddings have no finish reason. An answer that
 * says nothing may be that of a request which fills the cache of its provider, and has to be sent each time.
 */
const isWhole = ({ request, log, httpStatus }: Admitted): boolean => {
  const { error, cancelled, current, said } = log
  if (error !== null || cancelled || current === undefined || httpStatus !== 200 || request.echo) return false
  return request.apiType === 'embeddings' || (said.finishReason !== null && said.finishReason !== 'content_filter' && said.characters > 0)
}
