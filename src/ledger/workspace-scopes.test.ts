import { expect, test } from 'bun:test'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { keyLimitSource, type Scope } from './scope.ts'
import { createWorkspaceScopes } from './workspace-scopes.ts'

const limited = (workspaceId: string, nanos = 1) => ({
  keyHash: 'k',
  workspaceId,
  userId: 'u',
  limit: { nanos, interval: null, includeByok: false },
})

test('while storage is away, a limit that was changed is not enforced as it was; those of other workspaces are', async () => {
  let isAway = false
  const scopes = createWorkspaceScopes(createFakeClock(), async (workspaceId): Promise<readonly Scope[]> => {
    if (isAway) throw new Error('away')
    return keyLimitSource.scopes(limited(workspaceId))
  })
  const [changed, other] = [limited('changed'), limited('other')]
  for (const spender of [changed, other]) await scopes.scopes(spender)
  isAway = true
  scopes.forget('changed')
  expect(await Promise.resolve(scopes.scopes(changed)).catch(String)).toBe('Error: away')
  expect(await scopes.scopes(other)).toHaveLength(1)
})
