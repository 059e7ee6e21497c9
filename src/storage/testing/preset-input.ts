/** The requests with which the tests of this folder create presets. */
import { changedBy } from '../../../test/support/changed-by.ts'
import { testSeal } from '../../../test/support/test-seal.ts'
import { uninterrupted } from '../../../test/support/uninterrupted.ts'
import type { CreateVersionInput, IdempotencyClaim } from '../presets/create-preset-version.ts'
import type { Database } from '../database.ts'
import { createPresetStore, type PresetStore } from '../presets/preset-store.ts'
import { createWorkspaceStore } from '../workspaces/workspace-store.ts'

export const T0 = '2026-11-20T10:00:00.000Z'
export const T1 = '2026-11-20T10:00:01.000Z'
export const T2 = '2026-11-20T10:00:02.000Z'

export interface PresetBench {
  readonly workspaceId: string
  readonly store: PresetStore
  readonly create: (slug: string, more?: Partial<CreateVersionInput>) => ReturnType<PresetStore['createVersion']>
}

export const preparePresets = async (database: Database): Promise<PresetBench> => {
  const { workspaceId } = await createWorkspaceStore(database).ensureDefaults({
    workspaceId: crypto.randomUUID(),
    userId: crypto.randomUUID(),
    now: T0,
  })
  const store = createPresetStore({ database, seal: testSeal, startTurn: uninterrupted })
  return { workspaceId, store, create: (slug, more) => store.createVersion({ ...versionInput(workspaceId, slug), ...more }) }
}

export const versionInput = (workspaceId: string, slug: string): CreateVersionInput => ({
  workspaceId,
  slug,
  presetId: crypto.randomUUID(),
  versionId: crypto.randomUUID(),
  creatorUserId: 'user-1',
  now: T0,
  content: { shape: 'chat', config: { model: 'openai/gpt-5.4', temperature: 0 }, systemPrompt: 'Be kind.' },
  note: null,
  designate: true,
  expectedLatest: null,
  idempotency: null,
  by: changedBy(),
})

export const claimOf = (more: Partial<IdempotencyClaim> = {}): IdempotencyClaim => ({
  route: 'presets-create-chat',
  key: 'key-1',
  bodySha256: 'a'.repeat(64),
  expiredBefore: '2026-11-19T10:00:00.000Z',
  answer: async (preset) => ({ status: 200, body: JSON.stringify({ data: preset }), warnings: [] }),
  ...more,
})
