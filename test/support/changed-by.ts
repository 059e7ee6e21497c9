/** The author of a change, for tests that do not care who it is: each change gets its own request id. */
import type { Change, ChangedBy } from '../../src/storage/changes/audit-log.ts'

export const changedBy = (): ChangedBy => ({ requestId: `req-${crypto.randomUUID()}`, userId: 'user-1', keyHash: null })

export const changeAt = (now: string): Change => ({ by: changedBy(), now })
