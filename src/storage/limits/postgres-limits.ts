/**
 * Limits in PostgreSQL, used if there is no Redis. They have one connection of their own, so that they wait for no other query; claims
 * that arrive while it is busy are sent together. The functions are in migrations/0015-nodes.ts.
 */
import type { Pool } from 'pg'

import { type BoundReached, type Claim, type LimitStore, PLACES_LEASE_MS, readVerdict, RUNNING_LEASE_MS } from './limit-store.ts'

const BATCH_MAX = 200
const LEASE_S = RUNNING_LEASE_MS / 1000
/** Rates that are fully available again are deleted once in this many corrections. */
const PRUNE_EVERY = 100

interface Waiting {
  readonly claim: Claim
  readonly answered: PromiseWithResolvers<BoundReached | null>
}

/** `pool` has one connection, and its queries time out soon. */
export const createPostgresLimits = ({ pool, node }: { readonly pool: Pool; readonly node: string }): LimitStore => {
  let waiting: Waiting[] = []
  let working = false
  let corrected = 0

  const work = async (): Promise<void> => {
    working = true
    while (waiting.length > 0) {
      // Sorted by key, because two nodes must not lock the same keys in different orders.
      const batch = waiting.splice(0, BATCH_MAX).sort((one, other) => byKey(one.claim, other.claim))
      try {
        const verdicts = await enterAll(batch.map(({ claim }) => claim))
        batch.forEach(({ answered }, index) => answered.resolve(verdicts[index] ?? null))
      } catch (thrown) {
        for (const { answered } of batch) answered.reject(thrown)
      }
    }
    working = false
  }

  const enterAll = async (claims: readonly Claim[]): Promise<readonly (BoundReached | null)[]> => {
    const { rows } = await pool.query<[number, number, number, number]>({
      rowMode: 'array',
      text: `select v.* from unnest($1::text[], $2::int[], $3::int[], $4::int[], $5::int[])
               with ordinality as c (key, running, concurrency, tokens, requests, place),
               lateral patchbay_enter(c.key, $6, c.running, c.concurrency, $7, c.tokens, c.requests) v order by c.place`,
      values: [
        claims.map(({ hash }) => hash),
        claims.map(({ running }) => running),
        claims.map(({ concurrency }) => concurrency),
        claims.map(({ tokensPerMinute }) => tokensPerMinute),
        claims.map(({ requestsPerMinute }) => requestsPerMinute),
        node,
        LEASE_S,
      ],
    })
    if (rows.length !== claims.length) throw new TypeError('PostgreSQL does not answer as it should.')
    return rows.map(readVerdict)
  }

  return {
    name: 'PostgreSQL',
    asksAlone: false,
    // The pool reconnects by itself.
    connect: async () => undefined,
    async ping() {
      // A standby, or a server that was made read-only, answers reads.
      await pool.query(`delete from limit_places where node = ''`)
    },
    enter(claim) {
      const answered = Promise.withResolvers<BoundReached | null>()
      waiting.push({ claim, answered })
      if (!working) void work()
      return answered.promise
    },
    async correct(corrections) {
      const sorted = corrections.toSorted(byKey)
      await pool.query({
        text: `select patchbay_correct(c.key, $8, c.running, c.concurrency, $9, c.tokens, c.used_tokens, c.requests, c.used_requests)
               from unnest($1::text[], $2::int[], $3::int[], $4::int[], $5::float8[], $6::int[], $7::float8[])
               as c (key, running, concurrency, tokens, used_tokens, requests, used_requests)`,
        values: [
          sorted.map(({ hash }) => hash),
          sorted.map(({ running }) => running),
          sorted.map(({ concurrency }) => concurrency),
          sorted.map(({ tokensPerMinute }) => tokensPerMinute),
          sorted.map(({ usedTokens }) => usedTokens),
          sorted.map(({ requestsPerMinute }) => requestsPerMinute),
          sorted.map(({ usedRequests }) => usedRequests),
          node,
          LEASE_S,
        ],
      })
      corrected += 1
      if (corrected % PRUNE_EVERY === 0)
        await pool.query('delete from limit_rates where full_at < extract(epoch from clock_timestamp()) - 60')
    },
    async exchangePlaces(report) {
      // Rows that another node is deleting are skipped, so that two nodes do not wait for one another.
      const { rows } = await pool.query<{ said: string }>({
        text: `with mine as (
                 insert into limit_places values ($1, clock_timestamp() + make_interval(secs => $2), $3)
                   on conflict (node) do update set lease_until = excluded.lease_until, said = excluded.said),
               silent as (
                 delete from limit_places where node in
                   (select node from limit_places where node <> $1 and lease_until < clock_timestamp() for update skip locked))
               select said from limit_places where node <> $1 and lease_until >= clock_timestamp()`,
        values: [node, PLACES_LEASE_MS / 1000, report],
      })
      return rows.map((row) => row.said)
    },
    // The pool is closed with the database.
    close: async () => undefined,
  }
}

const byKey = (one: Claim, other: Claim): number => (one.hash < other.hash ? -1 : one.hash > other.hash ? 1 : 0)
