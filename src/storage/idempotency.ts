/**
 * A change that is made once for its `Idempotency-Key`, whatever becomes of the connection: the claim of the key, the change
 * and its answer are one transaction, so none is ever without the others (docs/contract/management.md#repetition).
 */
import type { Transaction } from 'kysely'

import { GatewayError } from '../errors.ts'
import type { Schema } from './schema.ts'
import { readAnswerBody, storeAnswerBody, type TextSeal } from './sealed-config.ts'

export interface StoredAnswer {
  readonly status: number
  readonly body: string
}

export interface Claim {
  readonly workspaceId: string
  /** The operation. */
  readonly route: string
  /** Within the operation, for whom or for what the key counts. */
  readonly slug: string
  readonly key: string
  readonly bodySha256: string
  /** ISO timestamp. */
  readonly now: string
  /** A claim made before this ISO timestamp has expired and is replaced. */
  readonly expiredBefore: string
}

/** `Result`: what the change comes to. */
export interface Once<Result> {
  readonly claim: Claim
  /** The answer that a repetition gets, written in steps; kept sealed, since it may hold what is shown once. */
  readonly answer: (result: Result) => Promise<StoredAnswer>
  readonly seal: TextSeal
}

/** The same claim for a change that comes to something else. */
export const mapOnce = <From, To>(once: Once<To> | undefined, map: (result: From) => To): Once<From> | undefined =>
  once === undefined ? undefined : { ...once, answer: (result) => once.answer(map(result)) }

/** The change was made before, and was answered so. Thrown in its transaction, which then does nothing. */
export class AnsweredBefore extends Error {
  override readonly name = 'AnsweredBefore'
  readonly answer: StoredAnswer

  constructor(answer: StoredAnswer) {
    super('The request with this Idempotency-Key was answered before.')
    this.answer = answer
  }
}

/**
 * Null when the key is ours now. The row is claimed before anything else is done, so of two requests with one key the second
 * waits for the first to commit and then sees its answer. Throws `invalid_request` where the same key came with another body.
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

  const earlier = await transaction
    .selectFrom('idempotency_keys')
    .select(['body_sha256', 'status', 'body'])
    .where((eb) => eb.and(columnsOf(claim)))
    .executeTakeFirstOrThrow()
  if (earlier.body_sha256 !== bodySha256) throw new GatewayError('invalid_request', 'This Idempotency-Key was used with another body.')
  return { status: earlier.status, body: readAnswerBody(earlier.body, sealedAs(claim), seal) }
}

/** `seal` null: the answer holds no secret. */
export const storeAnswer = async (
  transaction: Transaction<Schema>,
  claim: Claim,
  { status, body }: StoredAnswer,
  seal: TextSeal | null,
): Promise<void> => {
  await transaction
    .updateTable('idempotency_keys')
    .set({ status, body: seal === null ? body : storeAnswerBody(body, sealedAs(claim), seal) })
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

const columnsOf = ({ workspaceId, route, slug, key }: Claim) => ({ workspace_id: workspaceId, route, slug, key })

const sealedAs = ({ workspaceId, route, slug, key }: Claim): readonly string[] => [workspaceId, route, slug, key]
