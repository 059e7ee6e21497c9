/** Who makes a change, where a test does not care: each change has an id of its own. */
import type { ChangedBy } from '../../src/storage/audit-log.ts'

export const changedBy = (): ChangedBy => ({ requestId: `req-${crypto.randomUUID()}`, userId: 'user-1', keyHash: null })
