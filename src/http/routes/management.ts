/** The objects that management keys manage in addition to presets and guardrails. */
import type { ProviderKeys } from '../../byok/provider-keys.ts'
import type { Keys } from '../../keys/keys.ts'
import type { Budgets } from '../../ledger/budgets.ts'
import type { Credits } from '../../ledger/credits.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ActivityStore } from '../../storage/usage/activity-store.ts'
import type { AuditLog } from '../../storage/changes/audit-log.ts'
import type { ReadWorkspaceFigures } from '../../storage/usage/workspace-figures.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import type { Onceness } from '../answer-once.ts'
import type { Route } from '../route.ts'
import { sealedCursors } from '../sealed-cursors.ts'
import { activityRoute } from './activity.ts'
import { auditLogRoute } from './audit-log.ts'
import { budgetRoutes } from './budgets.ts'
import { byokRoutes } from './byok.ts'
import { creditRoutes } from './credits.ts'
import { keysCreate, keysDelete, keysGet, keysList, keysRotate, keysUpdate } from './keys.ts'
import { createFiguresOf } from './workspace-figures.ts'
import { workspaceRoutes } from './workspaces.ts'

export interface ManagementParts {
  readonly workspaces: Workspaces
  readonly auditLog: AuditLog
  readonly budgets: Budgets
  readonly credits: Credits
  readonly providerKeys: ProviderKeys
  readonly activity: ActivityStore
  readonly clock: Clock
  /** Called with a failure that can no longer be reported to the client. */
  readonly onError: (thrown: unknown) => void
  readonly figures: Ledger['figures']
  /** Resolves when everything that was answered before is counted. */
  readonly flush: () => Promise<void>
  readonly providerName: (slug: string) => string
  /** Nano-dollars that the keys of a workspace have spent up to now. */
  readonly spent: (workspaceId: string) => Promise<number>
  readonly readWorkspaceFigures: ReadWorkspaceFigures
  readonly areCreditsEnforced: () => boolean
  /** For operations that create something once. */
  readonly onceness: Onceness
}

export const managementRoutes = (keys: Keys, parts: ManagementParts): readonly Route[] => {
  return [
    keysList({ keys, cursors: sealedCursors(parts.onceness.seal, 'keys') }),
    keysCreate({ keys, workspaces: parts.workspaces, onceness: parts.onceness }),
    keysGet(keys, parts),
    keysRotate({ keys, onceness: parts.onceness }),
    keysUpdate(keys),
    keysDelete(keys),
    ...workspaceRoutes({ ...parts, countingByok: parts.budgets.countingByok, figuresOf: createFiguresOf(parts) }),
    ...budgetRoutes(parts),
    ...creditRoutes(parts),
    ...byokRoutes(parts),
    activityRoute(parts),
    auditLogRoute({ ...parts, cursors: sealedCursors(parts.onceness.seal, 'the audit log') }),
  ]
}
