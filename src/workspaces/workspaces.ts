/**
 * Workspaces, to which keys, presets, generations and guardrails belong. A management key acts in its own workspace; one of the default
 * workspace, which came with the database, acts in any workspace, and creates and deletes them.
 */
import { defaultGuardrailId } from '../canonical/default-guardrail-id.ts'
import type { z } from 'zod'

import type { Slice } from '../contract/paging.ts'
import { type createWorkspaceBody, type updateMemberBody, type updateWorkspaceBody } from '../contract/workspace.ts'
import { DEFAULT_SETTINGS, type WorkspaceSettings } from '../contract/workspace-settings.ts'
import type { WorkspaceMemberResource, WorkspaceResource } from '../contract/workspace.ts'
import { unknownWorkspace } from '../storage/workspaces/lock-workspace.ts'
import type { MemberStore } from '../storage/workspaces/member-store.ts'
import type { Page } from '../storage/statements/page.ts'
import { GatewayError } from '../errors.ts'
import { isAdministrator, type Caller } from '../keys/caller.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import { definedOnly } from '../lib/defined-only.ts'
import type { IdSource } from '../lib/id.ts'
import { createLoadCache } from '../lib/load-cache.ts'
import type { ChangedBy } from '../storage/changes/audit-log.ts'
import { mapOnce, type Once } from '../storage/changes/idempotency.ts'
import type { WorkspaceFound, WorkspaceRecord, WorkspaceStore } from '../storage/workspaces/workspace-store.ts'
import { checkPlugins } from './check-plugins.ts'

export interface Workspaces {
  /** The workspace in which the caller asks to act; its own if it names none. Throws `not_found` for one that it may not reach. */
  reach(caller: Caller, asked: string | null | undefined): Promise<WorkspaceFound>
  /** The same workspace with its settings. */
  get(caller: Caller, asked: string): Promise<WorkspaceRecord>
  /** True if the caller is the operator: a caller who manages the default workspace, and with it every workspace. */
  reachesAll(caller: Caller): boolean
  list(caller: Caller, slice: Slice): Promise<Page<WorkspaceRecord>>
  /**
   * Throws `permission_denied` for callers from other workspaces than the default one, as `delete` does,
   * and 409 for a slug that is taken.
   */
  create(caller: Caller, body: z.output<typeof createWorkspaceBody>, by: ChangedBy, once?: Once<WorkspaceRecord>): Promise<WorkspaceRecord>
  update(id: string, body: z.output<typeof updateWorkspaceBody>, by: ChangedBy): Promise<WorkspaceRecord>
  delete(caller: Caller, id: string, by: ChangedBy): Promise<void>
  members(id: string, slice: Slice): Promise<Page<WorkspaceMemberResource>>
  addMembers(id: string, userIds: readonly string[], by: ChangedBy): Promise<readonly WorkspaceMemberResource[]>
  /** Throws `not_found`. */
  updateMember(id: string, userId: string, body: z.output<typeof updateMemberBody>, by: ChangedBy): Promise<WorkspaceMemberResource>
  /** Returns the number removed. Throws `invalid_request` if one of them still has keys. */
  removeMembers(id: string, userIds: readonly string[], by: ChangedBy): Promise<number>
  /** The workspace's defaults for requests; null if it has none. Returns synchronously if they are cached. Throws StorageUnavailable. */
  defaults(id: string): WorkspaceDefaults | null | Promise<WorkspaceDefaults | null>
  /** Call it if something may have changed in another process and storage answers. */
  refreshCache(): void
  /** Throws `invalid_request` if this user may not own a key of the workspace. */
  requireMember(workspaceId: string, userId: string): Promise<void>
}

export type WorkspaceDefaults = Pick<
  WorkspaceSettings,
  'default_text_model' | 'default_image_model' | 'default_provider_sort' | 'plugins' | 'disabled_server_tools'
> & {
  /** The settings for storing requests and answers; null means that nothing is stored. */
  readonly contents: KeptContents | null
}

export interface KeptContents {
  /** The share of requests, chosen at random. */
  readonly share: number
  /** Hashes; null means all keys. */
  readonly keys: ReadonlySet<string> | null
  readonly retentionDays: number
}

/** The number of workspaces whose defaults are cached. */
const CACHE_MAX = 10_000

export interface WorkspacesParts {
  readonly store: WorkspaceStore
  readonly memberStore: MemberStore
  readonly defaultId: string
  readonly clock: Clock
  readonly ids: IdSource
}

export const createWorkspaces = ({ store, memberStore, defaultId, clock, ids }: WorkspacesParts): Workspaces => {
  const now = (): string => isoTimestamp(clock.now())
  const cache = createLoadCache<string, { readonly defaults: WorkspaceDefaults | null }>(CACHE_MAX, clock)
  const loadDefaults = async (id: string) => ({ defaults: defaultsIn((await store.get(id))?.settings ?? DEFAULT_SETTINGS) })
  const reachesAll = (caller: Caller): boolean => isAdministrator(caller) && caller.workspaceId === defaultId
  const requireAll = (caller: Caller): void => {
    if (!reachesAll(caller)) {
      throw new GatewayError('permission_denied', 'Only management keys of the default workspace make and delete workspaces.')
    }
  }
  const reached = <Found extends WorkspaceFound>(caller: Caller, found: Found | null): Found => {
    if (found === null || (found.id !== caller.workspaceId && !reachesAll(caller))) throw unknownWorkspace()
    return found
  }
  return {
    reachesAll,
    reach: async (caller, asked) => reached(caller, await store.find(asked ?? caller.workspaceId)),
    get: async (caller, asked) => reached(caller, await store.get(asked)),
    list: (caller, slice) => store.list({ onlyId: reachesAll(caller) ? null : caller.workspaceId, ...slice }),
    async create(caller, { name, slug, description = null, ...settings }, by, once) {
      requireAll(caller)
      checkPlugins(settings.plugins)
      const workspace: WorkspaceRecord = {
        id: ids.uuid(),
        slug,
        name,
        description,
        createdAt: now(),
        createdBy: caller.userId,
        updatedAt: now(),
        settings: { ...DEFAULT_SETTINGS, ...definedOnly(settings) },
      }
      const isMade = await store.create(
        workspace,
        ids.uuid(),
        by,
        mapOnce(once, () => workspace),
      )
      if (!isMade) throw slugTaken(slug)
      return workspace
    },
    async update(id, body, by) {
      const { name, slug, description, ...settings } = body
      checkPlugins(settings.plugins)
      // The rest of the program finds the default workspace by its slug.
      if (id === defaultId && slug !== undefined && slug !== 'default') {
        throw new GatewayError('invalid_request', 'slug: the default workspace keeps its own.')
      }
      const outcome = await store.update(
        id,
        {
          ...(name === undefined ? {} : { name }),
          ...(slug === undefined ? {} : { slug }),
          ...(description === undefined ? {} : { description }),
          settings: definedOnly(settings),
        },
        { by, now: now() },
      )
      cache.forget((_, known) => known === id)
      if (outcome === 'unknown') throw unknownWorkspace()
      if (outcome === 'slug-taken') throw slugTaken(slug ?? '')
      return outcome
    },
    async delete(caller, id, by) {
      requireAll(caller)
      if (id === defaultId) throw new GatewayError('invalid_request', 'The default workspace cannot be deleted.')
      const outcome = await store.delete(id, { by, now: now() })
      if (outcome === 'unknown') throw unknownWorkspace()
      if (outcome === 'has-keys') throw new GatewayError('invalid_request', 'The workspace still has API keys: revoke them first.')
    },
    defaults(id) {
      const known = cache.get(id, loadDefaults)
      return known instanceof Promise ? known.then((loaded) => loaded?.defaults ?? null) : (known?.defaults ?? null)
    },
    refreshCache: cache.refresh,
    members: memberStore.list,
    addMembers(id, userIds, by) {
      const createdAt = now()
      const members = [...new Set(userIds)].map((user_id): WorkspaceMemberResource => ({
        id: ids.uuid(),
        workspace_id: id,
        user_id,
        role: 'member',
        created_at: createdAt,
        name: null,
        email: null,
      }))
      return memberStore.add(members, { by, now: createdAt })
    },
    async updateMember(id, userId, body, by) {
      const { role, name, email } = body
      const changes = { ...(role !== undefined && { role }), ...(name !== undefined && { name }), ...(email !== undefined && { email }) }
      const member = await memberStore.update({ workspaceId: id, userId }, changes, { by, now: now() })
      if (member === null) throw new GatewayError('not_found', 'The workspace has no such member.')
      return member
    },
    async removeMembers(id, userIds, by) {
      const outcome = await memberStore.remove(id, userIds, { by, now: now() })
      if (typeof outcome === 'number') return outcome
      throw new GatewayError(
        'invalid_request',
        `user_ids: these still have API keys in the workspace, revoke them first: ${outcome.join(', ')}.`,
      )
    },
    async requireMember(workspaceId, userId) {
      if (userId === (await store.get(workspaceId))?.createdBy || (await memberStore.has(workspaceId, userId))) return
      throw new GatewayError('invalid_request', 'creator_user_id: this user is no member of the workspace. Add the member first.')
    },
  }
}

const defaultsIn = (settings: WorkspaceSettings): WorkspaceDefaults | null => {
  const { default_text_model, default_image_model, default_provider_sort, plugins, disabled_server_tools } = settings
  const contents = keptContents(settings)
  const all = { default_text_model, default_image_model, default_provider_sort, plugins, disabled_server_tools, contents }
  return Object.values(all).every((value) => value === null) ? null : all
}

const keptContents = (settings: WorkspaceSettings): KeptContents | null =>
  settings.is_observability_io_logging_enabled
    ? {
        share: settings.io_logging_sampling_rate,
        keys: settings.io_logging_api_key_ids === null ? null : new Set(settings.io_logging_api_key_ids.map(String)),
        retentionDays: settings.io_logging_retention_days,
      }
    : null

/** The workspace as the API shows it. `includeByokInBudgets` is a setting of its budgets. */
export const workspaceResource = (workspace: WorkspaceRecord, includeByokInBudgets: boolean): WorkspaceResource => ({
  id: workspace.id,
  slug: workspace.slug,
  name: workspace.name,
  description: workspace.description,
  created_at: workspace.createdAt,
  created_by: workspace.createdBy,
  updated_at: workspace.updatedAt,
  ...workspace.settings,
  default_guardrail_id: defaultGuardrailId(workspace.id),
  include_byok_in_budgets: includeByokInBudgets,
})

const slugTaken = (slug: string): GatewayError =>
  new GatewayError('precondition_failed', `slug: there is a workspace "${slug}" already.`, { status: 409 })
