import { systemIds } from '../lib/id.ts'
import type { ChangedBy } from '../storage/changes/audit-log.ts'

/** A change by the person at the shell, in the form that the audit log uses. */
export const fromShell = (userId: string): ChangedBy => ({ requestId: systemIds.prefixed('cli'), userId, keyHash: null })
