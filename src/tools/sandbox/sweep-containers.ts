/**
 * Removes containers that can no longer be used: those that were created but never started, because the gateway died in between,
 * and those that ended but were not removed, because the engine was restarted. A running container ends by itself
 * (docker-sandbox.ts).
 */
import { z } from 'zod'

import type { Clock } from '../../lib/clock.ts'
import { askEngine, readAll } from './engine-api.ts'
import { SandboxFailure } from './sandbox.ts'

/** The label of our containers, whichever gateway created them. */
export const SANDBOX_LABEL = 'patchbay.sandbox'

/** Docs: https://docs.docker.com/reference/api/engine/ (ContainerList). `Created` is in seconds. */
const listed = z.array(z.looseObject({ Id: z.string().regex(/^[0-9a-f]{12,128}$/), Created: z.int() }))

/**
 * Returns a function that sweeps at the first command and periodically afterwards. It never rejects: what remains is found the
 * next time.
 */
export const createSweep = (socket: string, clock: Clock): (() => Promise<void>) => {
  let nextMs = Number.NEGATIVE_INFINITY
  return async () => {
    if (clock.monotonicMs() < nextMs) return
    nextMs = clock.monotonicMs() + EVERY_MS
    try {
      const { stream } = await askEngine(socket, { method: 'GET', path: `/containers/json?all=true&filters=${FILTERS}`, body: null })
      const found = listed.safeParse(JSON.parse(await readAll(stream)))
      for (const { Id, Created } of found.success ? found.data : []) {
        // A younger container may be about to start.
        if (Created * 1000 > clock.now() - AGE_MS) continue
        const { stream: removed } = await askEngine(socket, { method: 'DELETE', path: `/containers/${Id}?force=true&v=true`, body: null })
        await readAll(removed)
      }
    } catch (thrown) {
      if (!(thrown instanceof SandboxFailure || thrown instanceof SyntaxError)) throw thrown // the command itself says so
    }
  }
}

const EVERY_MS = 600_000
const AGE_MS = 600_000
const FILTERS = encodeURIComponent(JSON.stringify({ label: [`${SANDBOX_LABEL}=true`], status: ['created', 'exited', 'dead'] }))
