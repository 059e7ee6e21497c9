/** Frames that are pushed, for tests that would rather pull them, and the other way round. */
import type { Frame, TakeFrames } from '../../src/canonical/event.ts'
import type { Attempt, ProviderAdapter, ProviderContext } from '../../src/providers/provider.ts'

export type FrameScript = AsyncGenerator<readonly Frame[], void, undefined>

/**
 * The batches that `start` hands over, one for each that is asked for: as long as none is, it is told that its reader is
 * behind. Leaving early makes what it waits for reject.
 */
export async function* pulled(start: (take: TakeFrames) => Promise<unknown>): FrameScript {
  const batches: (readonly Frame[])[] = []
  let release: PromiseWithResolvers<void> | null = null
  let arrived = Promise.withResolvers<void>()
  let over = false
  const ended = start((frames) => {
    batches.push(frames)
    arrived.resolve()
    release ??= Promise.withResolvers<void>()
    return release.promise
  }).finally(() => {
    over = true
    arrived.resolve()
  })
  ended.catch(() => {})
  try {
    while (!over || batches.length > 0) {
      await arrived.promise
      for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) yield batch
      if (over) break
      arrived = Promise.withResolvers()
      const reader = release
      release = null
      ;(reader as PromiseWithResolvers<void> | null)?.resolve()
    }
    await ended
  } finally {
    ;(release as PromiseWithResolvers<void> | null)?.reject(new Error('The reader has left.'))
    if (!over) await ended.catch(() => {})
  }
}

/** An adapter that plays a script, at its reader's pace. */
export const playing =
  (script: (attempt: Attempt, context: ProviderContext) => FrameScript): ProviderAdapter =>
  async (attempt, context, take) => {
    for await (const frames of script(attempt, context)) await take(frames)
  }
