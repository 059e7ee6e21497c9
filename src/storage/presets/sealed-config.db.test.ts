import { expect, test } from 'bun:test'
import { sql } from 'kysely'

import { describeEachEngine } from '../../../test/support/databases.ts'
import { testSeal } from '../../../test/support/test-seal.ts'
import { claimOf, preparePresets, T0 } from '../testing/preset-input.ts'
import { rejectionText } from '../testing/rejection.ts'

const config = {
  model: 'openai/gpt-5.4',
  tools: [
    { type: 'mcp', server_label: 'crm', authorization: 'S3CRET-auth', headers: { 'X-Key': 'S3CRET-header' } },
    { type: 'service:advisor', parameters: { instructions: 'S3CRET advice' } },
  ],
}

describeEachEngine('secrets of presets', (engine) => {
  test('come back as they were written, and stand in no row, not even in an answer that is kept for a repetition', async () => {
    const database = await engine.open()
    const { create, store, workspaceId } = await preparePresets(database)
    const content = { shape: 'responses', config, systemPrompt: null } as const
    const made = await create('crm', { content, idempotency: claimOf() })
    if (made.kind !== 'created') throw new Error(made.kind)
    expect(made.preset.designated_version.config).toEqual(config)
    expect((await store.get(workspaceId, 'crm'))?.designated_version.config).toEqual(config)
    expect((await store.version(workspaceId, 'crm', 1))?.config).toEqual(config)
    const listed = await store.versions({ workspaceId, slug: 'crm', ascending: true, offset: 0, limit: 9 })
    expect((await Array.fromAsync(listed?.items ?? []))[0]?.config).toEqual(config)
    expect(await create('crm', { content, idempotency: claimOf() })).toEqual({
      kind: 'replay',
      stored: { status: 200, body: JSON.stringify({ data: made.preset }), warnings: [] },
    })
    for (const table of ['preset_versions', 'presets', 'idempotency_keys', 'audit_log']) {
      const { rows } = await sql`select * from ${sql.table(table)}`.execute(database.kysely)
      expect(rows.length).toBeGreaterThan(0)
      expect(JSON.stringify(rows)).not.toContain('S3CRET')
    }
  })

  test('do not open in the row of another version', async () => {
    const database = await engine.open()
    const { create, store, workspaceId } = await preparePresets(database)
    await create('from', { versionId: 'v-1', content: { shape: 'responses', config, systemPrompt: null } })
    await create('to', { presetId: 'p-2', versionId: 'v-2' })
    const { config: sealed } = await database.kysely
      .selectFrom('preset_versions')
      .select('config')
      .where('id', '=', 'v-1')
      .executeTakeFirstOrThrow()
    const moved = { id: 'v-3', preset_id: 'p-2', version: 2, shape: 'responses', system_prompt: null, creator_id: 'u' } as const
    await database.kysely
      .insertInto('preset_versions')
      .values({ ...moved, config: sealed, created_at: T0, updated_at: T0 })
      .execute()
    expect(store.version(workspaceId, 'to', 2)).rejects.toThrow()
  })

  test.each(['null', '[]', '[{}]', '[{},5]', '5', '{"locked":"model"}', '{"locked":[5]}'])(
    'a configuration of another form is damaged, and frees no lock: %s',
    async (wrong) => {
      const database = await engine.open()
      const { create, store, workspaceId } = await preparePresets(database)
      await create('bot', { presetId: 'p-1' })
      const row = { id: 'v-2', preset_id: 'p-1', version: 2, shape: 'responses', system_prompt: null, creator_id: 'u' } as const
      await database.kysely
        .insertInto('preset_versions')
        .values({ ...row, config: wrong, created_at: T0, updated_at: T0 })
        .execute()
      expect(await rejectionText(store.version(workspaceId, 'bot', 2))).toStartWith(
        'The row "v-2" of the table preset_versions cannot be read.',
      )
    },
  )

  test('of a version that was stored in plain text are read as they stand', async () => {
    const database = await engine.open()
    const { create, store, workspaceId } = await preparePresets(database)
    await create('old', { presetId: 'p-1' })
    const row = { id: 'v-old', preset_id: 'p-1', version: 2, shape: 'responses', system_prompt: null, creator_id: 'u' } as const
    await database.kysely
      .insertInto('preset_versions')
      .values({ ...row, config: JSON.stringify(config), created_at: T0, updated_at: T0 })
      .execute()
    expect((await store.version(workspaceId, 'old', 2))?.config).toEqual(config)
  })
})

test('a seal opens as nothing else than what was sealed', () => {
  expect(() => testSeal.open(testSeal.seal('x', 'one'), 'two')).toThrow()
})
