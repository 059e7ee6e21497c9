/** Answers that are given again to the same request of the same key, sealed wherever they lie (docs/contract/response-cache.md). */
import type { AnswerStore } from '../../storage/answers/answer-store.ts'
import type { TextSeal } from '../../storage/sealed-config.ts'
import type { Clock } from '../../lib/clock.ts'
import { throughout, type Turn } from '../../lib/steps.ts'
import type { Admitted } from '../admitted.ts'
import type { Planned } from '../stages.ts'
import type { AnswerCapture } from './answer-capture.ts'
import type { CacheMiss, CacheUse } from './cache-use.ts'
import { readCachedAnswer, writeCachedAnswer, type CachedAnswer } from './cached-answer.ts'
import type { Caching } from './caching.ts'
import { entryName } from './entry-name.ts'

export interface ResponseCache {
  /** Never rejects: what cannot be read is a miss. */
  find(planned: Planned, caching: Caching, turn: Turn): Promise<CacheUse>
  /** Keeps an answer that has ended, if it is whole and nothing is wrong with it. */
  keep(admitted: Admitted, miss: CacheMiss, capture: AnswerCapture): void
}

export interface ResponseCacheParts {
  readonly store: AnswerStore
  readonly seal: TextSeal
  /** Names of entries are hashed with it. */
  readonly secret: Uint8Array
  readonly clock: Pick<Clock, 'now'>
  readonly onError: (thrown: unknown, doing: string) => void
}

export const createResponseCache = ({ store, seal, secret, clock, onError }: ResponseCacheParts): ResponseCache => {
  /** An entry that was changed where it lies, or sealed under another key, counts as missing. */
  const opened = (name: string, sealed: string): CachedAnswer | null => {
    try {
      return readCachedAnswer(seal.open(sealed, contextOf(name)))
    } catch (thrown) {
      onError(thrown, 'a kept answer does not open')
      store.drop(name)
      return null
    }
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
      const answer = sealed === null ? null : opened(name, sealed)
      if (answer === null) return miss
      const ageSeconds = Math.max(0, Math.floor((clock.now() - answer.keptMs) / 1000))
      const leftSeconds = answer.ttlSeconds - ageSeconds
      return leftSeconds <= 0 ? miss : { outcome: 'hit', answer, ageSeconds, ttlSeconds: leftSeconds }
    },
    keep(admitted, { name, ttlSeconds }, capture) {
      const { frames } = capture
      const { log, judge, generationId } = admitted
      if (frames === null || !isWhole(admitted)) return
      const { current, said } = log
      const text = writeCachedAnswer(
        {
          sourceId: generationId,
          keptMs: clock.now(),
          ttlSeconds,
          model: current?.planned.model.id ?? '',
          provider: current?.planned.endpoint.provider.name ?? null,
          losses: said.losses,
          ...(judge === null ? {} : { alignment: judge.report }),
        },
        frames,
      )
      store.keep(name, seal.seal(text, contextOf(name)), ttlSeconds * 1000)
    },
  }
}

const contextOf = (name: string): string => `response-cache ${name}`

/** Says whether the answer ended by itself, with a reason. Vectors have none; an answer without one may have been cut. */
const isWhole = ({ request, log, httpStatus }: Admitted): boolean => {
  const { error, cancelled, current, said } = log
  if (error !== null || cancelled || current === undefined || httpStatus !== 200 || request.echo) return false
  return request.apiType === 'embeddings' || (said.finishReason !== null && said.finishReason !== 'content_filter')
}
