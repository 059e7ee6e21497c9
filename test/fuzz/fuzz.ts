/** Runs inputs through a target, and tells the first one that breaks its rule or takes too long. */
import { createRandom } from './random.ts'
import type { FuzzTarget } from './targets.ts'

export interface Failure {
  readonly target: string
  readonly number: number
  readonly why: string
  readonly input: string
}

/** CPU of the thread that a step may take: whoever else is connected waits for so long. */
const STEP_MS = 20
/** The first time compiles, and a collection may fall into any of them. */
const REPEATS = 5

export const fuzzOne = async (name: string, target: FuzzTarget, seed: number, number: number): Promise<Failure | null> => {
  const { input, step } = target.prepare(createRandom(seed, name, number))
  const fail = (why: string): Failure => ({ target: name, number, why, input: shown(input) })
  try {
    const beganMs = performance.now()
    await step()
    if (!target.bounded || performance.now() - beganMs <= STEP_MS) return null
    // The clock also counts what others do on a busy machine.
    const leastMs = await leastCpuMs(target, name, seed, number)
    return leastMs <= STEP_MS ? null : fail(`a step takes ${leastMs.toFixed(1)} ms of CPU`)
  } catch (thrown) {
    return fail(thrown instanceof Error ? `${thrown.name}: ${thrown.message}\n${thrown.stack ?? ''}` : String(thrown))
  }
}

const leastCpuMs = async (target: FuzzTarget, name: string, seed: number, number: number): Promise<number> => {
  let least = Number.POSITIVE_INFINITY
  for (let repeat = 0; repeat < REPEATS && least > STEP_MS; repeat += 1) {
    const { step } = target.prepare(createRandom(seed, name, number))
    const before = process.threadCpuUsage()
    await step()
    const { user, system } = process.threadCpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

const SHOWN = 2000

const shown = (input: string | Uint8Array): string => {
  const text = typeof input === 'string' ? input : Buffer.from(input).toString('latin1')
  return `${JSON.stringify(text.slice(0, SHOWN))}${text.length > SHOWN ? ` and ${text.length - SHOWN} more` : ''}`
}
