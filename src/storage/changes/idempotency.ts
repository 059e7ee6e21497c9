/**
 * A change that is made once for its `Idempotency-Key`, whatever happens to the connection: the claim of the key, the change and its
 * answer are one transaction, so none exists without the others (docs/contract/management.md#repetition).
 */
import type { Kysely, Transaction } from 'kysely'

import { GatewayError } from '../../errors.ts'
import { readStored } from '../rows/damaged-row.ts'
import type { Schema } from '../tables/schema.ts'
import type { TextSeal } from '../rows/seal.ts'

export interface StoredAnswer {
  readonly status: number
  readonly body: string
  /** The sentences that its headers repeat. */
  readonly warnings: readonly string[]
}

export interface Claim {
  readonly workspaceId: string
  readonly route: string
  /** The object or the person for whom the key counts within the operation. */
  readonly slug: string
  readonly key: string
  readonly bodySha256: string
  /** ISO timestamp. */
  readonly now: string
  /** A claim made before this ISO timestamp has expired and is replaced. */
  readonly expiredBefore: string
}

/** `Result` is the result of the change. */
export interface Once<Result> {
  readonly claim: Claim
  /** The answer that a repetition gets, written in steps. It is stored sealed, since it may contain secrets that are shown only once. */
  readonly answer: (result: Result) => Promise<StoredAnswer>
  readonly seal: TextSeal
}

/** The same claim for a change with another result. */
export const mapOnce = <From, To>(once: Once<To> | undefined, map: (result: From) => To): Once<From> | undefined =>
  once === undefined ? undefined : { ...once, answer: (result) => once.answer(map(result)) }

/** The change was made before, with this answer. It is thrown inside the transaction, which then does nothing. */
export class AnsweredBefore extends Error {
  override readonly name = 'AnsweredBefore'
  readonly answer: StoredAnswer

  constructor(answer: StoredAnswer) {
    super('The request with this Idempotency-Key was answered before.')
    this.answer = answer
  }
}

/**
 * Returns null if the key is now claimed by this request. The row is claimed before anything else is done, so of two requests with one
 * key the second waits for the first to commit and then gets its answer. Throws `invalid_request` if the same key came with another body.
 */
export const claimKey = async (transaction: Transaction<Schema>, claim: Claim, seal: TextSeal): Promise<StoredAnswer | null> => {
  const { bodySha256, now, expiredBefore } = claim
  const claimed = await transaction
    .insertInto('idempotency_keys')
    .values({ ...columnsOf(claim), body_sha256: bodySha256, status: 0, body: '', created_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'route', 'slug', 'key'])
        .doUpdateSet((eb) => ({ body_sha256: eb.ref('excluded.body_sha256'), created_at: eb.ref('excluded.created_at') }))
        .where('idempotency_keys.created_at', '<', expiredBefore),
    )
    .returning('key')
    .executeTakeFirst()
  if (claimed !== undefined) return null

  const earlier = await findAnswer(transaction, claim, seal)
  if (earlier === null) throw new Error('An Idempotency-Key is claimed by a request without an answer.')
  return earlier
}

/** The answer that `claimKey` would return now; null if the key is free. Throws as that does. */
export const findAnswer = async (kysely: Kysely<Schema>, claim: Omit<Claim, 'now'>, seal: TextSeal): Promise<StoredAnswer | null> => {
  const earlier = await kysely
    .selectFrom('idempotency_keys')
    .select(['body_sha256', 'status', 'body', 'warnings', 'created_at'])
    .where((eb) => eb.and(columnsOf(claim)))
    .where('created_at', '>=', claim.expiredBefore)
    .executeTakeFirst()
  if (earlier === undefined) return null
  if (earlier.body_sha256 !== claim.bodySha256)
    throw new GatewayError('invalid_request', 'This Idempotency-Key was used with another request. Use a new key for a new request.')
  // The log names the row by its time: the key is a text of the client's.
  const row = [claim.workspaceId, claim.route, claim.slug, earlier.created_at].join(' ')
  return readStored('idempotency_keys', row, () => ({
    status: earlier.status,
    body: openText(earlier.body, claim, seal),
    warnings: earlier.warnings === null ? [] : (JSON.parse(openText(earlier.warnings, claim, seal)) as readonly string[]),
  }))
}

/** `seal` is null if the answer holds no secret. */
export const storeAnswer = async (
  transaction: Transaction<Schema>,
  claim: Claim,
  { status, body, warnings }: StoredAnswer,
  seal: TextSeal | null,
): Promise<void> => {
  const closed = (text: string): string => (seal === null ? text : SEALED + seal.seal(text, sealedAs(claim)))
  await transaction
    .updateTable('idempotency_keys')
    .set({ status, body: closed(body), warnings: warnings.length === 0 ? null : closed(JSON.stringify(warnings)) })
    .where((eb) => eb.and(columnsOf(claim)))
    .execute()
}

/** For a change that was not made after all: the next request with the key may make it. */
export const releaseKey = async (transaction: Transaction<Schema>, claim: Claim): Promise<void> => {
  await transaction
    .deleteFrom('idempotency_keys')
    .where((eb) => eb.and(columnsOf(claim)))
    .execute()
}

const columnsOf = ({ workspaceId, route, slug, key }: Omit<Claim, 'now'>) => ({ workspace_id: workspaceId, route, slug, key })

const SEALED = 'sealed:'

/** Reads both forms. Throws as `open` does. */
const openText = (stored: string, claim: Omit<Claim, 'now'>, { open }: TextSeal): string =>
  stored.startsWith(SEALED) ? open(stored.slice(SEALED.length), sealedAs(claim)) : stored

/** The context under which an answer is sealed; it opens under no other. */
const sealedAs = ({ workspaceId, route, slug, key }: Omit<Claim, 'now'>): string => JSON.stringify([workspaceId, route, slug, key])
