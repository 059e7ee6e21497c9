import { expect, test } from 'bun:test'

import { changeAt, changedBy } from '../../../test/support/changed-by.ts'
import { describeEachEngine } from '../../../test/support/databases.ts'
import { guardrailWith } from '../../../test/support/guardrail.ts'
import { testSeal } from '../../../test/support/test-seal.ts'
import { uninterrupted } from '../../../test/support/uninterrupted.ts'
import { createAuditLog } from '../changes/audit-log.ts'
import { DEFAULT_HALT } from '../../contract/halt-rule.ts'
import { layOut } from '../../presets/split.ts'
import { DamagedRow, type ReadRows } from './damaged-row.ts'
import { createContentStore } from '../generations/content-store.ts'
import { createGuardrailStore } from '../guardrails/guardrail-store.ts'
import { createKeyStore } from '../keys/key-store.ts'
import { keyRecord } from '../testing/key-record.ts'
import { createRolloutStore } from '../presets/rollout-store.ts'
import { claimOf, preparePresets, T0, T1, T2 } from '../testing/preset-input.ts'
import { rejection, rejectionText } from '../testing/rejection.ts'
import { createWaitingTraceStore, type WaitingTrace } from '../broadcast/waiting-trace-store.ts'
import { createWorkspaceStore } from '../workspaces/workspace-store.ts'

const CUT = '{"a":'
const HASH = 'a'.repeat(64)

const sentence = (table: string, id: string): string =>
  `The row "${id}" of the table ${table} cannot be read. If another version of Patchbay or another root secret wrote it, run the service with those; otherwise it is damaged: restore a backup.`

describeEachEngine('a stored row that cannot be read', (engine) => {
  test('is named by its table and its id, with what to do', async () => {
    const database = await engine.open()
    const { store, create, workspaceId } = await preparePresets(database)
    const keys = createKeyStore(database)
    const guardrails = createGuardrailStore(database)
    const contents = createContentStore(database, testSeal, uninterrupted)
    const auditLog = createAuditLog(database, uninterrupted)

    const { guardrail } = guardrailWith({}, 'api-key', 'g-1')
    await guardrails.insert({ ...guardrail, workspace_id: workspaceId }, changedBy())
    await database.kysely.updateTable('guardrails').set({ settings: CUT }).execute()
    expect(await rejectionText(guardrails.get(workspaceId, 'g-1'))).toBe(sentence('guardrails', 'g-1'))

    await keys.insert(keyRecord({ hash: HASH, workspaceId }), changedBy())
    await database.kysely.updateTable('api_keys').set({ allowed_models: '{}' }).execute()
    expect(await rejectionText(keys.get(HASH))).toBe(sentence('api_keys', HASH))

    await contents.insert([{ id: 'gen-1', workspaceId, createdAt: T0, expiresAt: T1, content: {} }])
    await database.kysely
      .updateTable('generation_contents')
      .set({ sealed: testSeal.seal('{}', 'something else') })
      .execute()
    expect(await rejectionText(contents.get('gen-1', null))).toBe(sentence('generation_contents', 'gen-1'))

    await create('bot')
    const { id } = (await store.get(workspaceId, 'bot')) ?? { id: '' }
    await database.kysely.updateTable('presets').set({ labels: CUT }).execute()
    expect(await rejectionText(store.resolve(workspaceId, 'bot', { by: 'label', label: 'next' }))).toBe(sentence('presets', id))

    const entries = await auditLog.list({ workspaceId: null, objectId: 'bot', offset: 0, limit: 1 })
    await database.kysely.updateTable('audit_log').set({ after: CUT }).execute()
    const list = auditLog.list({ workspaceId: null, objectId: 'bot', offset: 0, limit: 1 })
    expect(await rejectionText(list)).toBe(sentence('audit_log', entries.items[0]?.requestId ?? ''))

    await database.kysely.updateTable('workspaces').set({ settings: CUT }).execute()
    expect(await rejectionText(createWorkspaceStore(database).get(workspaceId))).toBe(sentence('workspaces', workspaceId))
  })

  test.each(['null', '[]', '5', '{}', '{"filters":5}'])(
    'is one too if its JSON is of another form than its rules have: %s',
    async (wrong) => {
      const database = await engine.open()
      const { store, create, workspaceId } = await preparePresets(database)
      const guardrails = createGuardrailStore(database)
      const { guardrail } = guardrailWith({ denied_tools: ['web_search'] }, 'api-key', 'g-1')
      await guardrails.upsertDefault({ ...guardrail, workspace_id: workspaceId }, () => guardrail, changeAt(T1))
      await database.kysely.updateTable('guardrails').set({ settings: wrong }).execute()
      const applying = guardrails.applyingTo({ workspaceId, keyHash: HASH, userId: 'u' })
      expect(await rejectionText(applying)).toBe(sentence('guardrails', 'g-1'))

      await create('bot')
      const ref = { workspaceId, slug: 'bot' }
      const { id } = (await store.get(workspaceId, 'bot')) ?? { id: '' }
      const rollouts = createRolloutStore(database)
      const splits = [{ version: 1, weight: 1 }]
      await rollouts.put(ref, { id: 'one', splits, sticky: 'session', halt: DEFAULT_HALT }, () => layOut(splits), changeAt(T1))
      await database.kysely
        .updateTable('preset_rollouts')
        .set({ halt: wrong === '{}' ? '{"errors":1}' : wrong })
        .execute()
      expect(await rejectionText(rollouts.get(ref))).toBe(sentence('preset_rollouts', id))
      await rollouts.end(ref, changeAt(T2))

      if (wrong !== '{}') {
        await database.kysely
          .updateTable('presets')
          .set({ labels: wrong.replace('5}', '"5"}') })
          .execute()
        expect(await rejectionText(store.resolve(workspaceId, 'bot', { by: 'label', label: 'next' }))).toBe(sentence('presets', id))
      }
    },
  )

  test('is named without the key that a client gave it', async () => {
    const database = await engine.open()
    const { create, workspaceId } = await preparePresets(database)
    const idempotency = claimOf({ key: 'ada@corp.example' })
    await create('bot', { idempotency })
    await database.kysely.updateTable('idempotency_keys').set({ body: 'sealed:xx' }).execute()
    const { route } = idempotency
    expect(await rejectionText(create('bot', { idempotency }))).toBe(sentence('idempotency_keys', `${workspaceId} ${route} bot ${T0}`))
  })

  test('is never taken for a fault in the JSON of a request, however large the row is', async () => {
    const database = await engine.open()
    const contents = createContentStore(database, testSeal, uninterrupted)
    await contents.insert([{ id: 'gen-1', workspaceId: 'w-1', createdAt: T0, expiresAt: T1, content: {} }])
    const sealed = testSeal.seal(`${JSON.stringify({ long: 'x'.repeat(200_000) })}}`, 'generation content gen-1')
    await database.kysely.updateTable('generation_contents').set({ sealed }).execute()
    expect(await rejection(contents.get('gen-1', null))).toBeInstanceOf(DamagedRow)
  })

  test('keeps none of the traces back that wait beside it, nor the process that is gone', async () => {
    const database = await engine.open()
    const store = createWaitingTraceStore(database, testSeal)
    const trace = { destinationId: 'd-1', createdAt: T0, text: '{}', path: '' }
    await store.write(
      ['a', 'b'].map((id) => ({ ...trace, id })),
      [],
      { holder: 'gone', until: T0 },
    )
    await database.kysely.updateTable('traces_waiting').set({ sealed: 'sealed:xx' }).where('id', '=', 'a').execute()
    const shown = ({ read, damaged }: ReadRows<WaitingTrace>) => [read.map(({ id }) => id), damaged.map(({ message }) => message)]
    const expected = [['b'], [sentence('traces_waiting', 'a')]]
    expect(shown(await store.take(['d-1'], T1, 10, { holder: 'own', until: T2 }))).toEqual(expected)
    expect(shown(await store.read(['a', 'b']))).toEqual(expected)
    expect(await database.kysely.selectFrom('trace_senders').select('id').execute()).toEqual([{ id: 'own' }])
  })

  test('keeps none of the rollouts back that run beside it', async () => {
    const database = await engine.open()
    const { create, workspaceId } = await preparePresets(database)
    const rollouts = createRolloutStore(database)
    const splits = [{ version: 1, weight: 1 }]
    for (const slug of ['one', 'two']) {
      await create(slug)
      await rollouts.put({ workspaceId, slug }, { id: slug, splits, sticky: 'session', halt: null }, () => layOut(splits), changeAt(T1))
    }
    await database.kysely.updateTable('preset_rollouts').set({ looks: CUT }).where('id', '=', 'one').execute()
    const { read, damaged } = await rollouts.running()
    expect([read.map(({ slug }) => slug), damaged.length]).toEqual([['two'], 1])
  })
})
