/**
 * Creates, lists, changes and assigns guardrails, and combines them for a caller from a cache that needs no query as long as
 * nothing has changed.
 */
import { defaultGuardrailId } from '../canonical/default-guardrail-id.ts'
import type { Reach } from '../canonical/reach.ts'
import type {
  createGuardrailBody,
  GuardrailPatch,
  GuardrailResource,
  GuardrailSettings,
  KeyAssignmentResource,
  MemberAssignmentResource,
} from '../contract/guardrail.ts'
import type { Slice } from '../contract/paging.ts'
import { invalidField } from '../contract/validate.ts'
import { GatewayError } from '../errors.ts'
import type { Principal } from '../keys/principal.ts'
import { cutText } from '../lib/text/cut-text.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import { createLoadCache } from '../lib/load-cache.ts'
import { compilePatterns } from '../lib/regex/known-regex.ts'
import { inTurns, type Turn } from '../lib/steps.ts'
import type { ChangedBy } from '../storage/changes/audit-log.ts'
import type { GuardrailAssignmentStore, SubjectKind } from '../storage/guardrails/guardrail-assignment-store.ts'
import { mapOnce, type Once } from '../storage/changes/idempotency.ts'
import type { AppliedBy, GuardrailStore } from '../storage/guardrails/guardrail-store.ts'
import type { z } from 'zod'
import { type Applied, type Effective, effectiveOf } from './effective.ts'
import { changedSettings, newSettings } from './guardrail-settings.ts'
import type { Page } from '../storage/statements/page.ts'

export interface Subjects {
  readonly kind: SubjectKind
  readonly subjects: readonly string[]
}

export interface Guardrails {
  /** Throws `invalid_request`, as `update` does. */
  create(
    workspaceId: string,
    body: z.output<typeof createGuardrailBody>,
    by: ChangedBy,
    once?: Once<GuardrailResource>,
  ): Promise<GuardrailResource>
  list(workspaceId: string, slice: Slice): Promise<Page<GuardrailResource>>
  /** Returns the workspace in which to look for a guardrail: the operator can find one in any workspace. */
  workspaceOf(reach: Reach, id: string): Promise<string>
  /**
   * All methods with an id throw `not_found`, also for a guardrail of another workspace. `default` refers to the workspace's own
   * guardrail.
   */
  get(workspaceId: string, id: string): Promise<GuardrailResource>
  update(workspaceId: string, id: string, patch: GuardrailPatch, by: ChangedBy): Promise<GuardrailResource>
  delete(workspaceId: string, id: string, by: ChangedBy): Promise<void>
  /** Returns the number of new assignments. Throws `not_found` naming a subject that the workspace does not have. */
  assign(workspaceId: string, id: string, to: Subjects, by: ChangedBy): Promise<number>
  unassign(workspaceId: string, id: string, from: Subjects, by: ChangedBy): Promise<number>
  /** `id` null: assignments of all guardrails. */
  keyAssignments(workspaceId: string, id: string | null, slice: Slice): Promise<Page<KeyAssignmentResource>>
  memberAssignments(workspaceId: string, id: string | null, slice: Slice): Promise<Page<MemberAssignmentResource>>
  /**
   * Returns the combined guardrails for the caller's requests; null if there are none. It returns synchronously if the result is
   * cached. Throws StorageUnavailable.
   */
  effective(caller: Pick<Principal, 'hash' | 'userId' | 'workspaceId'>): Effective | null | Promise<Effective | null>
  /**
   * Returns the guardrails that would apply to a request, as described by `Tried`. Throws `not_found` for a saved guardrail that the
   * workspace does not have, and `invalid_request`.
   */
  tried(workspaceId: string, what: Tried): Promise<Effective | null>
  refreshCache(): void
}

/** A saved or drafted guardrail, a key to which it would apply, or both. */
export interface Tried {
  /** Null: only the draft, or the key's guardrails. */
  readonly guardrailId: string | null
  /** Settings that override those of the saved guardrail, or of a new one. */
  readonly draft: GuardrailPatch | null
  /** Combines it with all guardrails of this key; null: only the one guardrail. */
  readonly asKey: { readonly hash: string; readonly userId: string } | null
}

const CACHE_MAX = 10_000
/** The guardrails of a key, and the facts that they depend on. */
interface Known {
  readonly workspaceId: string
  readonly userId: string
  readonly guardrailIds: readonly string[]
  readonly effective: Effective | null
}

const SCOPES: Readonly<Record<AppliedBy, Applied['scope']>> = { key: 'api-key', member: 'member', workspace: 'workspace' }

export const createGuardrails = (parts: {
  store: GuardrailStore
  assignments: GuardrailAssignmentStore
  clock: Clock
  ids: IdSource
  /** Starts work in steps. */
  startTurn: () => Turn
}): Guardrails => {
  const { store, assignments, clock, ids, startTurn } = parts
  /** Compiles new patterns in steps. */
  const effectiveInTurns = async (applied: readonly Applied[], models?: readonly string[] | null): Promise<Effective | null> => {
    const patterns = applied.flatMap(({ guardrail }) => (guardrail.content_filters ?? []).map(({ pattern }) => pattern))
    await inTurns(compilePatterns(patterns), startTurn())
    return effectiveOf(applied, models)
  }
  const cache = createLoadCache<string, Known>(CACHE_MAX, clock)
  /** Drops affected cache entries, so that no request passes under the old rules, even while the new ones cannot be read. */
  const ruleChanged = (workspaceId: string, id: string): void =>
    cache.forget((known) => (id === defaultGuardrailId(workspaceId) ? known.workspaceId === workspaceId : known.guardrailIds.includes(id)))
  const assignmentChanged = (workspaceId: string, { kind, subjects }: Subjects): void => {
    const named = new Set(subjects)
    cache.forget((known, hash) => known.workspaceId === workspaceId && named.has(kind === 'key' ? hash : known.userId))
  }
  const now = (): string => isoTimestamp(clock.now())
  const resolved = (workspaceId: string, id: string): string => (id === 'default' ? defaultGuardrailId(workspaceId) : id)

  const made = (workspaceId: string, id: string, settings: GuardrailSettings): GuardrailResource => ({
    id,
    workspace_id: workspaceId,
    ...settings,
    created_at: now(),
    updated_at: null,
  })
  const withDraft = (workspaceId: string, saved: GuardrailResource | null, draft: GuardrailPatch): GuardrailResource =>
    saved === null
      ? made(workspaceId, DRAFT_ID, newSettings({ ...draft, name: draft.name ?? 'Draft' }))
      : { ...saved, ...changedSettings(saved, draft) }
  /** The workspace's own guardrail exists from the start and restricts nothing until it is changed. */
  const emptyDefault = (workspaceId: string): GuardrailResource =>
    made(workspaceId, defaultGuardrailId(workspaceId), newSettings({ name: 'Workspace default' }))

  const get = async (workspaceId: string, given: string): Promise<GuardrailResource> => {
    const id = resolved(workspaceId, given)
    const found = await store.get(workspaceId, id)
    if (found !== null) return found
    if (id === defaultGuardrailId(workspaceId)) return emptyDefault(workspaceId)
    throw unknownGuardrail()
  }

  return {
    async create(workspaceId, body, by, once) {
      const guardrail = made(workspaceId, ids.uuid(), newSettings(body))
      await store.insert(
        guardrail,
        by,
        mapOnce(once, () => guardrail),
      )
      return guardrail
    },
    list: (workspaceId, slice) => store.list(workspaceId, slice),
    async workspaceOf({ workspaceId, everywhere }, id) {
      if (!everywhere || id === 'default') return workspaceId
      // The id of a workspace's own guardrail is known before it is written.
      const written = await store.workspaceOf(id)
      return written ?? (await store.workspaceIds()).find((each) => defaultGuardrailId(each) === id) ?? workspaceId
    },
    get,
    async update(workspaceId, given, patch, by) {
      const id = resolved(workspaceId, given)
      const change = (was: GuardrailResource): GuardrailSettings => changedSettings(was, patch)
      const changed =
        id === defaultGuardrailId(workspaceId)
          ? await store.upsertDefault(emptyDefault(workspaceId), change, { by, now: now() })
          : await store.update(workspaceId, id, change, { by, now: now() })
      ruleChanged(workspaceId, id)
      if (changed === null) throw unknownGuardrail()
      return changed
    },
    async delete(workspaceId, given, by) {
      const id = resolved(workspaceId, given)
      const deleted = await store.delete(workspaceId, id, { by, now: now() })
      ruleChanged(workspaceId, id)
      if (!deleted) throw unknownGuardrail()
    },
    async assign(workspaceId, given, { kind, subjects }, by) {
      const { id } = await get(workspaceId, given)
      if (id === defaultGuardrailId(workspaceId)) {
        throw invalidField('id', "The workspace's own guardrail holds for all: it cannot be assigned.")
      }
      const fresh = [...new Set(subjects)].map((subject) => ({ id: ids.uuid(), subject }))
      const outcome = await assignments.assign({ workspaceId, guardrailId: id, kind, assignments: fresh }, { by, now: now() })
      assignmentChanged(workspaceId, { kind, subjects })
      // It was deleted in the meantime.
      if (outcome === null) throw unknownGuardrail()
      if ('unknown' in outcome) {
        const [first = ''] = outcome.unknown
        throw new GatewayError(
          'not_found',
          `There is no ${kind === 'key' ? 'key with the hash' : 'member with the id'} ${cutText(first, 70)}.`,
        )
      }
      return outcome.assigned
    },
    async unassign(workspaceId, given, from, by) {
      const { id } = await get(workspaceId, given)
      const removed = await assignments.unassign({ workspaceId, guardrailId: id, ...from }, { by, now: now() })
      assignmentChanged(workspaceId, from)
      return removed
    },
    keyAssignments: async (workspaceId, id, slice) =>
      assignments.keys({ workspaceId, guardrailId: id === null ? null : (await get(workspaceId, id)).id, ...slice }),
    memberAssignments: async (workspaceId, id, slice) =>
      assignments.members({ workspaceId, guardrailId: id === null ? null : (await get(workspaceId, id)).id, ...slice }),
    effective({ hash, userId, workspaceId }) {
      const found = cache.get(hash, async () => {
        const applying = await store.applyingTo({ workspaceId, keyHash: hash, userId })
        const guardrailIds = applying.map(({ guardrail }) => guardrail.id)
        return {
          workspaceId,
          userId,
          guardrailIds,
          effective: await effectiveInTurns(
            applying.map(({ guardrail, by }) => ({ guardrail, scope: SCOPES[by] })),
            await store.modelsOf(hash),
          ),
        }
      })
      return found instanceof Promise ? found.then((loaded) => loaded?.effective ?? null) : (found?.effective ?? null)
    },
    async tried(workspaceId, { guardrailId, draft, asKey }) {
      const saved = guardrailId === null ? null : await get(workspaceId, guardrailId)
      const guardrail = draft === null ? saved : withDraft(workspaceId, saved, draft)
      const own = asKey === null ? [] : await store.applyingTo({ workspaceId, keyHash: asKey.hash, userId: asKey.userId })
      const applied = own.map((one): Applied => ({ guardrail: one.guardrail, scope: SCOPES[one.by] }))
      return effectiveInTurns(guardrail === null ? applied : inPlace(applied, guardrail, workspaceId))
    },
    refreshCache: cache.refresh,
  }
}

const DRAFT_ID = 'draft'

/** Puts the guardrail in the place of its saved version, else of the key's own guardrail, of which a key has at most one. */
const inPlace = (applied: readonly Applied[], guardrail: GuardrailResource, workspaceId: string): readonly Applied[] => {
  if (applied.some((one) => one.guardrail.id === guardrail.id)) {
    return applied.map((one) => (one.guardrail.id === guardrail.id ? { ...one, guardrail } : one))
  }
  return guardrail.id === defaultGuardrailId(workspaceId)
    ? [...applied, { guardrail, scope: 'workspace' }]
    : [{ guardrail, scope: 'api-key' }, ...applied.filter(({ scope }) => scope !== 'api-key')]
}

const unknownGuardrail = (): GatewayError => new GatewayError('not_found', 'There is no guardrail with this id.')
