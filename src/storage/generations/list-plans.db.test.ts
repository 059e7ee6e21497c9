/** Every list and every search reads along an index, so that its cost does not grow with the amount of data. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { describeEachEngine } from '../../../test/support/databases.ts'
import { fillManagement, MANY } from '../../../test/support/management-records.ts'
import { fillRequestLog } from '../../../test/support/request-log-records.ts'
import { uninterrupted } from '../../../test/support/uninterrupted.ts'
import { EVERY_KEY } from '../../contract/key-filter.ts'
import { createAuditLog } from '../changes/audit-log.ts'
import type { Database } from '../database.ts'
import type { GenerationFilter } from './generation-filter.ts'
import { createGenerationList } from './generation-list.ts'
import { type KeyListInput, listKeys } from '../keys/key-list.ts'
import { createPresetStore } from '../presets/preset-store.ts'
import { createSearchStore } from './search-store.ts'
import { plansOf } from '../testing/query-plans.ts'

const RECORDS = 4000
const FROM_MS = Date.parse('2026-11-20T00:00:00.000Z')
const NOW = '2026-11-22T00:00:00.000Z'
const NO_SEAL = { seal: (text: string) => text, open: (text: string) => text }
/** Few compared with the data, as 20,000 are compared with a million. */
const SCANNED = 20

const KEY_LISTS: readonly (readonly [index: string, input: Partial<KeyListInput>])[] = [
  ['api_keys_of_workspace', {}],
  ['api_keys_newest', { workspaceId: null }],
  ['api_keys_of_person', { userId: 'user-7' }],
  ['api_keys_named_of_workspace', { sort: 'name' }],
  ['api_keys_named', { sort: 'name', workspaceId: null }],
  ['api_keys_used_of_workspace', { sort: 'last_used_at' }],
  ['api_keys_used', { sort: 'last_used_at', workspaceId: null }],
]
const KEY_FILTERS: readonly Partial<KeyListInput>[] = [
  {},
  { q: 'nothing like it' },
  { status: 'active' },
  { kind: 'management' },
  { after: { value: 'k', hash: '' } },
]

/** No index covers any of these filters. */
const LEFT_TO_ROWS: readonly Partial<GenerationFilter>[] = [
  { provider: 'p-1' },
  { interface: 'chat' },
  { hasPreset: true },
  { hasPreset: false },
  { status: 'cancelled' },
  { minTotalMs: 1_000_000 },
  { minCostNanos: 1_000_000 },
]

describeEachEngine('with many rows', (engine) => {
  let database: Database
  beforeAll(async () => {
    database = await engine.open()
    await fillManagement(database, null, { records: RECORDS, fromMs: FROM_MS })
    await fillRequestLog(database, null, { records: RECORDS, days: 1, fromMs: FROM_MS })
  })

  /** The rows of a list come in the order of the index already. */
  const expectWalk = (plans: readonly string[], index: RegExp) => {
    expect(plans).not.toBeEmpty()
    for (const plan of plans) {
      expect(plan).toMatch(index)
      expect(plan).not.toMatch(/Seq Scan|Sort|TEMP B-TREE|SCAN \w+$/)
    }
  }
  /** PostgreSQL chooses among the indexes that fit. */
  const walks = (index: string) => (engine.name === 'sqlite' ? new RegExp(`USING (?:COVERING )?INDEX ${index}\\b`) : /Index (?:Only )?Scan/)

  describe.each(KEY_LISTS)('a page of keys walks along %s', (index, input) => {
    test.each(KEY_FILTERS)('%j', async (filter) => {
      const all = { ...EVERY_KEY, workspaceId: MANY, now: NOW, offset: 0, limit: 3 }
      expectWalk(await plansOf(database, (watched) => listKeys(watched, { ...all, ...input, ...filter }, SCANNED)), walks(index))
    })
  })

  test('a search for keys looks up the holder of each key that it reads, and does not search all members first', async () => {
    const input = { ...EVERY_KEY, workspaceId: MANY, now: NOW, offset: 0, limit: 3, q: 'nobody' }
    const plans = await plansOf(database, (watched) => listKeys(watched, input), [])
    expect(plans.at(-1)).toMatch(/SubPlan|CORRELATED SCALAR SUBQUERY/)
    expect(plans.at(-1)).not.toMatch(/hashed/)
  })

  test('pages of presets and of the audit log walk along an index', async () => {
    const presets = { workspaceId: MANY, after: null, limit: 3 }
    const presetsOf = (more: object) =>
      plansOf(database, (watched) =>
        createPresetStore({ database: watched, seal: NO_SEAL, startTurn: uninterrupted }, SCANNED).page({ ...presets, ...more }),
      )
    expectWalk(await presetsOf({}), walks('presets_listing'))
    expectWalk(await presetsOf({ q: 'nothing' }), walks('presets_listing'))
    expectWalk(await presetsOf({ status: 'active' }), walks('presets_of_status'))
    const expectEntries = async (more: object, index: string) => {
      const page = (watched: Database) => createAuditLog(watched, () => () => undefined, SCANNED).page({ workspaceId: MANY, ...more }, 3)
      const plans = await plansOf(database, page)
      expectWalk(plans.slice(0, -1), walks(index))
      // The entries that are shown are read by id.
      expectWalk(plans.slice(-1), walks('sqlite_autoindex_audit_log_1'))
    }
    await expectEntries({}, 'audit_log_workspace_id')
    await expectEntries({ workspaceId: null }, 'audit_log_created_at')
    await expectEntries({ objectType: 'preset', objectId: 'object-7' }, 'audit_log_object')
  })

  const requestsOf = (filter: Partial<GenerationFilter>, more: Partial<{ scanned: number; hours: number }> = {}) =>
    plansOf(database, (watched) =>
      createGenerationList(watched, more.scanned ?? SCANNED, more.hours ?? SCANNED).page(
        { from: new Date(FROM_MS).toISOString(), to: null, workspaceId: null, ownedBy: null, ...filter },
        null,
        3,
      ),
    )
  const walksHours = engine.name === 'sqlite' ? /usage_hours USING PRIMARY KEY/ : /Index (?:Only )?Scan Backward using usage_hours_pkey/

  test.each(LEFT_TO_ROWS)('a page of requests looks at so many hours and so many records along an index: %j', async (filter) => {
    for (const workspaceId of [null, 'w-1']) {
      const plans = await requestsOf({ ...filter, workspaceId })
      expect(plans.length).toBeGreaterThan(3)
      const [hours, bounded, ...records] = plans
      expectWalk([hours ?? '', bounded ?? ''], walksHours)
      // The second query ends where the first one did.
      expect(bounded).toMatch(/\(?hour, ?workspace_id, ?key_hash\)/)
      expectWalk(records, engine.name === 'sqlite' ? /USING (?:COVERING )?INDEX/ : /Index (?:Only )?Scan/)
    }
  })

  test.each([{}, { status: 'error' as const }, { keyHash: 'key-7' }, { ownedBy: 'user-7' }])(
    'a page of the requests in which a guardrail found something looks at those with finds alone: %j',
    async (filter) => {
      for (const workspaceId of [null, 'w-1']) {
        const [hours, bounded, ...records] = await requestsOf({ guardrailId: 'g-1', ...filter, workspaceId })
        expectWalk([hours ?? '', bounded ?? ''], walksHours)
        expectWalk(records, /generations_finds\b/)
      }
    },
  )

  test('a page of the requests in which a guardrail found something looks at a tenth of the records of other pages', async () => {
    const filter = { from: new Date(FROM_MS).toISOString(), to: null, workspaceId: null, ownedBy: null, guardrailId: 'unknown' }
    const page = await createGenerationList(database, 2 * 10).page(filter, null, 3)
    // Every 200th of the 4,000 records has finds.
    expect(page).toMatchObject({ rows: [], next: { id: 'gen-3613' } })
  })

  test.each([{ provider: 'nobody' }, { interface: 'messages' }, { presetIds: ['unknown', 'none'], provider: 'p-1' }])(
    'requests that no hour has are answered from the hours alone: %j',
    async (filter) => {
      for (const workspaceId of [null, 'w-1']) {
        const plans = await requestsOf({ ...filter, workspaceId }, { hours: 20_000 })
        expect(plans).toHaveLength(2)
        expectWalk(plans, walksHours)
      }
    },
  )

  test.each([
    { text: 'abcd', scope: { workspaceId: null, ownedBy: null } },
    { text: 'abcd', scope: { workspaceId: MANY, ownedBy: null } },
    { text: 'abcd', scope: { workspaceId: MANY, ownedBy: 'user-7' } },
    { text: 'a'.repeat(64), scope: { workspaceId: null, ownedBy: null } },
    { text: 'gen-1', scope: { workspaceId: MANY, ownedBy: null } },
    { text: 'req-1', scope: { workspaceId: null, ownedBy: 'user-7' } },
  ])('a search looks through so many rows of an index at most: %j', async ({ text, scope }) => {
    const plans = await plansOf(database, (watched) => createSearchStore(watched, SCANNED).find(text, scope, 8))
    expect(plans.length).toBeGreaterThan(4)
    for (const plan of plans) {
      // Only the rows that were looked through are sorted.
      expect(plan).toMatch(engine.name === 'sqlite' ? /SEARCH|SCAN \w+ USING/ : /Limit[^]*Limit[^]*Index/)
      expect(plan).not.toMatch(engine.name === 'sqlite' ? /SCAN (?:api_keys|presets|workspace_members|generations)$/m : /Seq Scan/)
    }
  })
})
