/** Checks the Redis or Valkey in which nodes count limits, by what the service itself does with it when it starts. */
import type { Clock } from '../lib/clock.ts'
import { inTime } from '../lib/in-time.ts'
import { cutText } from '../lib/text/cut-text.ts'
import { createRedisLimits } from '../storage/limits/redis-limits.ts'
import type { Check } from './setup-checks.ts'

const ANSWER_MS = 5000
const SHOWN_MAX = 300

/** Connects, asks whether it has all keys, loads the scripts, and runs one that writes a name that is forgotten after a second. */
export const checkRedis = async (url: string, clock: Clock): Promise<Check> => {
  const limits = createRedisLimits({ url, prefix: 'patchbay:doctor:', node: 'doctor' })
  const { host } = new URL(url)
  try {
    await inTime(
      limits.connect().then(() => limits.ping()),
      ANSWER_MS,
      clock,
    )
    return { name: 'redis', state: 'fine', says: `${host} answers, and takes writes and scripts.` }
  } catch (thrown) {
    const reason = cutText(thrown instanceof Error ? thrown.message : String(thrown), SHOWN_MAX)
    return { name: 'redis', state: 'wrong', says: `${host} cannot be used: ${reason}` }
  } finally {
    await limits.close()
  }
}
