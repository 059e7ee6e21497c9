import { expect, test } from 'bun:test'

import { changedBy } from '../../test/support/changed-by.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createFakeIds } from '../../test/support/fake-ids.ts'
import { emailGuardrail } from '../../test/support/guardrail.ts'
import type { GuardrailAssignmentStore } from '../storage/guardrails/guardrail-assignment-store.ts'
import type { GuardrailStore } from '../storage/guardrails/guardrail-store.ts'
import { defaultGuardrailId } from '../canonical/default-guardrail-id.ts'
import { createGuardrails } from './guardrails.ts'

const setUp = () => {
  let queries = 0
  let applying: Awaited<ReturnType<GuardrailStore['applyingTo']>> = []
  const store = {
    applyingTo: async () => {
      queries += 1
      return applying
    },
    modelsOf: async () => null,
    delete: async () => true,
  } as unknown as GuardrailStore
  const guardrails = createGuardrails({
    store,
    assignments: {} as GuardrailAssignmentStore,
    clock: createFakeClock(),
    ids: createFakeIds(),
    startTurn: () => () => undefined,
  })
  return { guardrails, queries: () => queries, apply: (by: 'key') => (applying = [{ guardrail: emailGuardrail('block').guardrail, by }]) }
}
const caller = { hash: 'key-1', userId: 'user-1', workspaceId: 'workspace-1' }

test('what applies to a caller is asked for once, and known at once from then on, also where nothing applies', async () => {
  const { guardrails, queries } = setUp()
  expect(await guardrails.effective(caller)).toBeNull()
  expect(guardrails.effective(caller)).toBeNull()
  expect(queries()).toBe(1)
})

test('a change, here or in another process, is seen by the next request', async () => {
  const { guardrails, apply, queries } = setUp()
  await guardrails.effective(caller)
  apply('key')
  guardrails.refreshCache()
  expect(await guardrails.effective(caller)).toMatchObject({ applied: [{ scope: 'api-key' }] })
  await guardrails.delete('workspace-1', 'guardrail-1', changedBy())
  await guardrails.effective(caller)
  expect(queries()).toBe(3)
})

test("a workspace's own guardrail has an id that follows from the workspace's", () => {
  expect(defaultGuardrailId('workspace-1')).toBe(defaultGuardrailId('workspace-1'))
  expect(defaultGuardrailId('workspace-1')).not.toBe(defaultGuardrailId('workspace-2'))
  expect(defaultGuardrailId('workspace-1')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
})
