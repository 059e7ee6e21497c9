/** The entry of a change and of who made it: written in the transaction of the change itself, so there is no change without its entry. */
import type { Transaction } from 'kysely'

import type { AuditObject } from '../contract/audit-object.ts'
import type { Position } from '../contract/cursor.ts'
import type { Slice } from '../contract/paging.ts'
import type { JsonObject } from '../lib/json.ts'
import { bumpChangeCounter } from './change-counter.ts'
import type { Database } from './database.ts'
import { AnsweredBefore, claimKey, type Once, releaseKey, storeAnswer } from './idempotency.ts'
import type { Schema } from './schema.ts'
import type { Page } from './page.ts'

export interface ChangedBy {
  /** The id of the request, the command or the start that makes the change. Each makes one change, so it is also the id of the entry. */
  readonly requestId: string
  readonly userId: string | null
  /** Null where no key was used: by a person who is signed in, from the shell, or at the first start. */
  readonly keyHash: string | null
  /** Set where a person who is signed in makes the change. */
  readonly sessionId?: string
}

export interface AuditedChange {
  /** Whose object it is: the workspace that reads the entry. */
  readonly workspaceId: string
  /** `created`, `updated`, `deleted` … */
  readonly action: string
  readonly objectType: AuditObject
  readonly objectId: string
  /** As the API shows the object, so without secrets. Null before it was made and after it went. */
  readonly before: JsonObject | null
  readonly after: JsonObject | null
}

export interface AuditEntry extends Omit<AuditedChange, 'objectType'>, ChangedBy {
  /** An entry of another version may be about an object that this one does not know. */
  readonly objectType: string
  readonly createdAt: string
}

/** `audit`: null where nothing was changed after all. */
interface Outcome<Result> {
  readonly result: Result
  readonly audit: AuditedChange | null
  /** Where only the work tells who made the change. */
  readonly by?: ChangedBy
}

/**
 * The one way to change what a management key manages: the work, its entry and the change counter, all or nothing. With
 * `once`, the claim of an Idempotency-Key and the answer too; throws AnsweredBefore where the change was made before.
 */
export const recordChange = <Result>(
  database: Database,
  by: ChangedBy,
  now: string,
  work: (transaction: Transaction<Schema>) => Promise<Outcome<Result>>,
  once?: Once<Result>,
): Promise<Result> =>
  database.transaction(async (transaction) => {
    const earlier = once === undefined ? null : await claimKey(transaction, once.claim, once.seal)
    if (earlier !== null) throw new AnsweredBefore(earlier)
    const { result, audit, by: reported = by } = await work(transaction)
    if (once !== undefined) {
      if (audit === null) await releaseKey(transaction, once.claim)
      else await storeAnswer(transaction, once.claim, once.answer(result), once.seal)
    }
    if (audit !== null) {
      await writeEntry(transaction, { ...audit, ...reported, createdAt: now })
      await bumpChangeCounter(transaction)
    }
    return result
  })

const writeEntry = (transaction: Transaction<Schema>, entry: AuditEntry): Promise<unknown> =>
  transaction
    .insertInto('audit_log')
    .values({
      id: entry.requestId,
      created_at: entry.createdAt,
      workspace_id: entry.workspaceId,
      user_id: entry.userId,
      key_hash: entry.keyHash,
      session_id: entry.sessionId ?? null,
      action: entry.action,
      object_type: entry.objectType,
      object_id: entry.objectId,
      before: textOf(entry.before),
      after: textOf(entry.after),
    })
    .execute()

export interface AuditLog {
  /** Writes an entry of what was read: nothing was changed, so no cache is told. */
  note(entry: AuditedChange, by: ChangedBy, now: string): Promise<void>
  /** Newest first. `workspaceId` null: of every workspace. */
  list(filter: AuditFilter & Slice): Promise<Page<AuditEntry>>
}

export interface AuditFilter {
  readonly workspaceId: string | null
  readonly objectType?: string | undefined
  readonly objectId?: string | undefined
  readonly userId?: string | undefined
  readonly action?: string | undefined
  /** ISO timestamps; the end is not part of it. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** The entry behind which the page begins. */
  readonly after?: Position | undefined
}

export const createAuditLog = (database: Database): AuditLog => ({
  note: (entry, by, now) =>
    database.transaction(async (transaction) => {
      await writeEntry(transaction, { ...entry, ...by, createdAt: now })
    }),

  async list({ workspaceId, objectType, objectId, userId, action, from, to, after, offset, limit }) {
    const wanted = database.kysely
      .selectFrom('audit_log')
      .$if(workspaceId !== null, (query) => query.where('workspace_id', '=', workspaceId ?? ''))
      .$if(objectType !== undefined, (query) => query.where('object_type', '=', objectType ?? ''))
      .$if(objectId !== undefined, (query) => query.where('object_id', '=', objectId ?? ''))
      .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? ''))
      .$if(action !== undefined, (query) => query.where('action', '=', action ?? ''))
      .$if(from !== undefined, (query) => query.where('created_at', '>=', from ?? ''))
      .$if(to !== undefined, (query) => query.where('created_at', '<', to ?? ''))
    const page = wanted.$if(after !== undefined, (query) =>
      query.where((eb) => eb(eb.refTuple('created_at', 'id'), '<', eb.tuple(after?.createdAt ?? '', after?.id ?? ''))),
    )
    const rows = await page.selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc').offset(offset).limit(limit).execute()
    const { count } = await wanted.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
    return {
      totalCount: count,
      items: rows.map((row) => ({
        requestId: row.id,
        createdAt: row.created_at,
        workspaceId: row.workspace_id,
        userId: row.user_id,
        keyHash: row.key_hash,
        ...(row.session_id === null ? {} : { sessionId: row.session_id }),
        action: row.action,
        objectType: row.object_type,
        objectId: row.object_id,
        before: objectOf(row.before),
        after: objectOf(row.after),
      })),
    }
  },
})

const textOf = (value: JsonObject | null): string | null => (value === null ? null : JSON.stringify(value))

/** Written by `textOf` and by nothing else. */
const objectOf = (text: string | null): JsonObject | null => (text === null ? null : (JSON.parse(text) as JsonObject))
