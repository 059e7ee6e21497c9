/** Limits in Redis or Valkey. */
import { openRedis, type RedisClient, requireAllKeys } from '../redis-client.ts'
import { type Claim, type Correction, type LimitStore, PLACES_LEASE_MS, readVerdict, RUNNING_LEASE_MS } from './limit-store.ts'
import { CORRECT, ENTER, EXCHANGE_PLACES } from './redis-scripts.ts'

export interface RedisLimitsParts {
  readonly url: string
  /** Begins every name, so that unrelated services may share a server. */
  readonly prefix: string
  readonly node: string
}

interface Connection {
  readonly client: RedisClient
  readonly enterSha: string
  readonly correctSha: string
  readonly exchangePlacesSha: string
}

export const createRedisLimits = ({ url, prefix, node }: RedisLimitsParts): LimitStore => {
  let connection: Connection | null = null
  /** The client of that connection, or of one whose scripts are still being loaded. */
  let current: RedisClient | null = null
  let attempts = 0

  /** Fails every request that waits for an answer on this connection, and an attempt to connect that is still going on. */
  const drop = (): void => {
    attempts += 1
    current?.close()
    current = null
    connection = null
  }

  const connect = async (): Promise<void> => {
    drop()
    const attempt = attempts
    const opened = await openRedis(url)
    try {
      if (attempt !== attempts) throw new Error('This connection came too late.')
      current = opened
      const load = async (script: string): Promise<string> => {
        const sha: unknown = await opened.send('SCRIPT', ['LOAD', script])
        if (typeof sha !== 'string') throw nonsense()
        return sha
      }
      // Asked first, since it knows a better reason than a server that refuses the scripts.
      await requireAllKeys(opened)
      const [enterSha, correctSha, exchangePlacesSha] = await Promise.all([load(ENTER), load(CORRECT), load(EXCHANGE_PLACES)])
      connection = { client: opened, enterSha, correctSha, exchangePlacesSha }
    } catch (thrown) {
      opened.close()
      throw thrown
    }
  }

  const connected = (): Connection => {
    if (connection === null) throw new Error('There is no connection.')
    return connection
  }

  const keysOf = ({ hash, tokensPerMinute, requestsPerMinute }: Claim): string[] => {
    const name = `${prefix}{${hash}}`
    return [`${name} running`, `${name} tokens ${tokensPerMinute}`, `${name} requests ${requestsPerMinute}`]
  }
  const common = (claim: Claim): string[] => [
    '3',
    ...keysOf(claim),
    node,
    `${claim.running}`,
    `${claim.concurrency}`,
    `${RUNNING_LEASE_MS}`,
  ]

  const correct: LimitStore['correct'] = async (corrections) => {
    const { client, correctSha } = connected()
    // The client sends them together.
    await Promise.all(
      corrections.map((correction) => {
        const { tokensPerMinute, usedTokens, requestsPerMinute, usedRequests } = correction
        const used = [tokensPerMinute, usedTokens, requestsPerMinute, usedRequests].map(String)
        return client.send('EVALSHA', [correctSha, ...common(correction), ...used])
      }),
    )
  }

  return {
    name: 'Redis',
    asksAlone: true,
    connect,
    // By a script that writes, as requests do: a replica, or a server whose disk or memory is full, takes no writes, and a user may have no scripts.
    ping: () => correct([PROBE]),
    async enter(claim) {
      const { client, enterSha } = connected()
      const answer: unknown = await client.send('EVALSHA', [
        enterSha,
        ...common(claim),
        `${claim.tokensPerMinute}`,
        `${claim.requestsPerMinute}`,
      ])
      if (!Array.isArray(answer)) throw nonsense()
      return readVerdict(answer)
    },
    correct,
    async exchangePlaces(report) {
      const { client, exchangePlacesSha } = connected()
      const answer: unknown = await client.send('EVALSHA', [exchangePlacesSha, '1', `${prefix}places`, node, `${PLACES_LEASE_MS}`, report])
      if (!Array.isArray(answer) || !answer.every((words) => typeof words === 'string')) throw nonsense()
      return answer
    },
    async close() {
      drop()
    },
  }
}

/** One request of a key that nobody has, which is forgotten after a second. */
const PROBE: Correction = {
  hash: 'probe',
  running: 0,
  concurrency: 0,
  tokensPerMinute: 0,
  usedTokens: 0,
  requestsPerMinute: 60,
  usedRequests: 1,
}

const nonsense = (): TypeError => new TypeError('Redis does not answer as it should.')
