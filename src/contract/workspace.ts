/** Workspaces and their members on the wire (docs/contract/keys-and-workspaces.md#workspaces). */
import { z } from 'zod'

import { serverToolTypes } from '../canonical/server-tool-name.ts'
import { SERVER_TOOLS } from '../canonical/server-tools.ts'
import { credits, workspaceBudget } from './budget.ts'
import { keyHash } from './key-hash.ts'
import { jsonValue } from './json-value.ts'
import { shownName, storedText, trimmedName } from './stored-text.ts'
import { settingsFields, storedSettings, workspacePlugins } from './workspace-settings.ts'

const timestamp = z.iso.datetime()

const workspaceSlug = z
  .string()
  // Stops here so that the following checks do not run on a text of megabytes.
  .max(50, { abort: true })
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'Use 1 to 50 lower-case letters and digits, with single hyphens between them.')
  .refine((slug) => !z.uuid().safeParse(slug).success, 'This is the form of an id: a path could mean either.')
  .meta({ description: 'Unique in this installation.', examples: ['team-search'] })

/** A path segment with the id or the slug of the workspace. */
export const workspaceRef = z.string().min(1).max(64).meta({ description: 'Id or slug of a workspace.' })

const workspaceName = shownName(100)
const workspaceDescription = storedText.max(500).nullable()

const toolName = z.enum(SERVER_TOOLS.flatMap((name) => [name, ...serverToolTypes(name)])).meta({ id: 'ServerToolName' })

/** The plugins are read with each request of the workspace and written to the audit log with each change, so their size is limited. */
const PLUGINS_MAX = 128 * 1024

/** Stricter than the stored form: a denied tool that does not exist would have no effect. */
const givenSettings = {
  plugins: workspacePlugins
    .refine(
      (plugins) => JSON.stringify(plugins).length <= PLUGINS_MAX,
      `The plugins of a workspace have at most ${PLUGINS_MAX} characters of JSON.`,
    )
    .nullish(),
  disabled_server_tools: z
    .array(toolName)
    .max(100)
    .nullish()
    .meta({ description: 'Server tools that no request of the workspace may use.', examples: [['service:web_search']] }),
}

export const workspace = z
  .object({
    id: z.string(),
    slug: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    created_at: timestamp,
    created_by: z.string().nullable(),
    updated_at: timestamp.nullable(),
    ...settingsFields,
    default_guardrail_id: z.uuid().meta({ description: 'Follows from the id of the workspace; the guardrail exists once it was written.' }),
    include_byok_in_budgets: z.boolean(),
  })
  .meta({ id: 'Workspace' })

export const workspacesQuery = {
  include: z
    .literal('figures')
    .optional()
    .meta({ description: '`figures`: members, keys, spend, budgets and credit of each, read for the whole page at once.' }),
}

const figures = z
  .object({
    members: z.int(),
    keys: z.int().meta({ description: 'API keys that are not revoked.' }),
    spend_this_month: z.number().meta({ description: 'US dollars since the beginning of the month (UTC), as the cost of `GET /usage`.' }),
    budgets: z
      .array(
        workspaceBudget.pick({ limit_usd: true, reset_interval: true }).extend({
          spend_usd: z.number().meta({ description: 'What the budget counts in its running window, without what is held.' }),
        }),
      )
      .meta({ id: 'WorkspaceLimits', description: 'The longest interval first.' }),
    credit: credits
      .extend({ is_enforced: z.boolean().meta({ description: 'False where `budgets.credits` is off: then it refuses nothing.' }) })
      .nullable()
      .meta({ id: 'WorkspaceCredit', description: 'Null where no credit was ever added.' }),
  })
  .meta({ id: 'WorkspaceFigures' })

export const listedWorkspace = workspace
  .extend({ figures: figures.optional().meta({ description: 'With `include=figures`.' }) })
  .meta({ id: 'ListedWorkspace' })

export type WorkspaceFiguresResource = z.output<typeof figures>
export type ListedWorkspaceResource = z.output<typeof listedWorkspace>

export const createWorkspaceBody = z
  .strictObject({
    name: workspaceName,
    slug: workspaceSlug,
    description: workspaceDescription.optional(),
    ...storedSettings.shape,
    ...givenSettings,
  })
  .meta({ id: 'CreateWorkspaceBody', examples: [{ name: 'Search team', slug: 'search' }] })

export const updateWorkspaceBody = z
  .strictObject({
    name: workspaceName.optional(),
    slug: workspaceSlug.optional(),
    description: workspaceDescription.optional(),
    ...storedSettings.shape,
    ...givenSettings,
  })
  .meta({
    id: 'UpdateWorkspaceBody',
    examples: [{ description: 'Everything behind the search box.' }],
    description: 'Absent fields stay as they are; null clears.',
  })

export const memberRole = z.enum(['admin', 'member'])

export const workspaceMember = z
  .object({
    id: z.string(),
    workspace_id: z.string(),
    user_id: z.string(),
    role: memberRole,
    created_at: timestamp,
    name: z.string().nullable().meta({ description: 'What the person is called in this workspace.' }),
    email: z.string().nullable(),
  })
  .meta({ id: 'WorkspaceMember' })

export const memberId = z.string().min(1).max(256)

export const updateMemberBody = z
  .strictObject({
    role: memberRole.optional(),
    name: trimmedName(200).nullable().optional(),
    email: z.string().max(320, { abort: true }).check(z.email()).nullable().optional(),
  })
  .meta({
    id: 'UpdateWorkspaceMemberBody',
    examples: [{ role: 'admin', name: 'Ada' }],
    description: 'Absent fields stay as they are; null clears. Another role ends the sessions of the person.',
  })

export const memberIds = z.strictObject({ user_ids: z.array(z.string().min(1).max(256)).min(1).max(100) }).meta({
  id: 'WorkspaceMembersBody',
  examples: [{ user_ids: ['user_ada', 'user_grace'] }],
  description: 'Users are whoever you say they are: the name that your own systems know them by.',
})

export const auditEntry = z
  .object({
    id: z.string().meta({ description: 'The X-Request-Id of the request that made the change.' }),
    created_at: timestamp,
    workspace_id: z.string(),
    user_id: z.string().nullable(),
    key_hash: keyHash
      .nullable()
      .meta({ description: 'The management key; null where a person who is signed in, or the shell, made the change.' }),
    session_id: z.string().nullable().meta({ description: 'The session of a person who is signed in.' }),
    action: z.string(),
    object_type: z.string(),
    object_id: z.string(),
    before: z.record(z.string(), jsonValue).nullable(),
    after: z.record(z.string(), jsonValue).nullable(),
  })
  .meta({ id: 'AuditEntry', description: 'One change, and the object before and after it, without secrets.' })

export type WorkspaceResource = z.output<typeof workspace>
export type WorkspaceMemberResource = z.output<typeof workspaceMember>
