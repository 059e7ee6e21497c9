/** Turns frames that are pushed into frames that a test pulls, and the other way round. */
import type { Frame, TakeFrames } from '../../src/canonical/event.ts'
import type { Attempt, ProviderAdapter, ProviderContext } from '../../src/providers/provider.ts'

export type FrameScript = AsyncGenerator<readonly Frame[], void, undefined>

/**
 * Yields the batches that `start` pushes, one for each pull. While none is pulled, `start` is told that its reader is behind. Leaving the
 * loop early makes the pending push reject.
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

/** An adapter that plays a script at the pace of its reader. */
export const playing =
  (script: (attempt: Attempt, context: ProviderContext) => FrameScript): ProviderAdapter =>
  async (attempt, context, take) => {
    for await (const frames of script(attempt, context)) await take(frames)
  }
