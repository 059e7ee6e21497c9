/** The audit log: who changed what. */
import type { z } from 'zod'

import type { auditEntry } from '../../../src/contract/workspace.ts'
import { cursorList } from './paged-list.ts'
import type { Query } from './path.ts'

export type AuditEntry = z.output<typeof auditEntry>

export const auditLog = (filter: Query) => cursorList<AuditEntry>(['audit', filter], '/audit-log', { count: false, ...filter })
