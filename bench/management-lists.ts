/**
 * Measures how long the lists of keys, presets and the audit log take with many of them:
 * `bin/bun bench/management-lists.ts --records 1000000`. With `--database-url` it fills an empty PostgreSQL database instead.
 */
import { parseArgs } from 'node:util'

import { EVERY_KEY } from '../src/contract/key-filter.ts'
import { isoTimestamp, systemClock } from '../src/lib/clock.ts'
import { type AuditFilter, createAuditLog } from '../src/storage/changes/audit-log.ts'
import type { KeyListInput } from '../src/storage/keys/key-list.ts'
import { createKeyStore } from '../src/storage/keys/key-store.ts'
import { createPresetStore, type PresetStore } from '../src/storage/presets/preset-store.ts'
import { createSearchStore } from '../src/storage/generations/search-store.ts'
import { NUMBERED_MAX } from '../src/storage/statements/table-by.ts'
import { usageWindowsAt } from '../src/storage/usage/usage-windows.ts'
import { createReadWorkspaceFigures } from '../src/storage/usage/workspace-figures.ts'
import { fillManagement, MANY } from '../test/support/management-records.ts'
import { uninterrupted } from '../test/support/uninterrupted.ts'
import { measureFilled } from './filled-database.ts'
import { measureReads } from './measure-reads.ts'

const { values } = parseArgs({ options: { records: { type: 'string', default: '1000000' }, 'database-url': { type: 'string' } } })
const records = Number(values.records)
const LIMIT = 100

type PresetPageQuery = Parameters<PresetStore['page']>[0]

/** None of these records is sealed. */
const NO_SEAL = { seal: (text: string) => text, open: (text: string) => text }

/** The farthest page that can be reached by its number. */
const FARTHEST = Math.min(NUMBERED_MAX, records * 0.9 - LIMIT)

const fromMs = systemClock.now() - records * 1000

await measureFilled(
  {
    databaseUrl: values['database-url'] ?? null,
    records: `${records} of each`,
    fill: (database, databaseUrl) => fillManagement(database, databaseUrl, { records, fromMs }),
  },
  async (database) => {
    const now = isoTimestamp(systemClock.now())
    const middle = isoTimestamp(fromMs + records * 500)

    const keys = createKeyStore(database)
    const measureKeys = measureReads(/(?<="hash":")\w+/g)
    const keysOf = (name: string, more: Partial<KeyListInput> = {}) =>
      measureKeys(
        `keys: ${name}`,
        async () => (await keys.list({ ...EVERY_KEY, workspaceId: MANY, now, offset: 0, limit: LIMIT, status: 'active', ...more })).items,
      )
    await keysOf('the newest')
    await keysOf('the newest of every workspace', { workspaceId: null })
    await keysOf('a page in the middle', { after: { value: middle, hash: '' } })
    await keysOf('by name', { sort: 'name' })
    await keysOf('by name, in the middle', { sort: 'name', after: { value: 'kl', hash: '' } })
    await keysOf('last used first', { sort: 'last_used_at' })
    await keysOf('last used first, of every workspace', { sort: 'last_used_at', workspaceId: null })
    await keysOf('last used first, in the middle', { sort: 'last_used_at', after: { value: middle, hash: '' } })
    await keysOf('last used first, a part of no name', { sort: 'last_used_at', q: 'nothing like it' })
    await keysOf('of a person', { userId: 'user-77' })
    await keysOf('of a person who has none', { userId: 'nobody' })
    await keysOf('a member’s own', { onlyUserId: 'user-77' })
    await keysOf('disabled', { status: 'disabled' })
    await keysOf('expired', { status: 'expired' })
    await keysOf('that manage, where there are none', { kind: 'management' })
    await keysOf('a part of many names', { q: 'abcd' })
    await keysOf('a part of one name', { q: 'abcd 2600' })
    await keysOf('a part of no name', { q: 'nothing like it' })

    const presets = createPresetStore({ database, seal: NO_SEAL, startTurn: uninterrupted })
    const measurePresets = measureReads(/(?<="slug":")[\w-]+/g)
    const presetsOf = (name: string, more: Partial<PresetPageQuery> = {}) =>
      measurePresets(`presets: ${name}`, () => presets.page({ workspaceId: MANY, status: 'active', after: null, limit: LIMIT, ...more }))
    await presetsOf('the newest')
    await presetsOf('of every state', { status: undefined })
    await presetsOf('a page in the middle', { after: { createdAt: middle, id: '' } })
    await presetsOf('archived', { status: 'archived' })
    await presetsOf('a part of many names', { q: 'abcd' })
    await presetsOf('a part of one name', { q: 'abcd-2600' })
    await presetsOf('a part of no name', { q: 'nothing-like-it' })

    const shown = await presets.page({ workspaceId: MANY, status: 'active', after: null, limit: LIMIT })
    await measurePresets('presets: what a page of them serves', () => presets.summaries(shown.items.map(({ id }) => id)))
    await measureReads(/many/g)('workspaces: their figures', () => createReadWorkspaceFigures(database)([MANY], usageWindowsAt(middle)))

    const log = createAuditLog(database, () => () => undefined)
    const measureAudit = measureReads(/(?<="requestId":")[\w-]+/g)
    const auditOf = (name: string, more: Partial<AuditFilter> = {}) =>
      measureAudit(`audit: ${name}`, () => log.page({ workspaceId: MANY, ...more }, LIMIT))
    await auditOf('the newest')
    await auditOf('of every workspace', { workspaceId: null })
    await auditOf('a page in the middle', { after: { createdAt: middle, id: '' } })
    await auditOf('of a day', { from: isoTimestamp(systemClock.now() - 86_400_000) })
    await auditOf('of a person', { userId: 'user-77' })
    await auditOf('of a person who changed nothing', { userId: 'nobody' })
    await auditOf('of a kind of object', { objectType: 'preset' })
    await auditOf('of a rare kind of object', { objectType: 'guardrail' })
    await auditOf('of an object', { objectType: 'api_key', objectId: 'object-2600' })
    await auditOf('of a rare action', { action: 'deleted' })
    await auditOf('of an action that nobody took', { action: 'nothing' })

    await measurePresets('presets: the newest, counted', () =>
      presets.list({ workspaceId: MANY, status: 'active', offset: 0, limit: LIMIT }),
    )
    await measureAudit('audit: the newest, counted', () => log.list({ workspaceId: MANY, offset: 0, limit: LIMIT }))
    const countedOf = (name: string, more: Partial<AuditFilter> = {}, offset = 0) =>
      measureAudit(`audit: ${name}, counted`, async () => {
        const filter = { workspaceId: MANY, ...more }
        return (await log.isLong(filter, offset)) ? log.page(filter, LIMIT) : log.list({ ...filter, offset, limit: LIMIT })
      })
    await countedOf('since the beginning', { from: isoTimestamp(fromMs) })
    await countedOf('since the beginning, of every workspace', { workspaceId: null, from: isoTimestamp(fromMs) })
    await countedOf('of a person', { userId: 'user-77' })
    await countedOf('of a person, of every workspace', { workspaceId: null, userId: 'user-77' })
    await countedOf('of a kind of object', { objectType: 'preset' })
    await countedOf('of an action that nobody took', { action: 'nothing' })
    await countedOf('of a day', { from: isoTimestamp(systemClock.now() - 86_400_000) })
    await countedOf('the farthest page by number', {}, FARTHEST)
    const countedPresets = (name: string, more: Partial<PresetPageQuery> = {}, offset = 0) =>
      measurePresets(`presets: ${name}, counted`, async () => {
        const query = { workspaceId: MANY, status: 'active', ...more } as const
        return (await presets.isLong(query, offset))
          ? presets.page({ ...query, after: null, limit: LIMIT })
          : presets.list({ ...query, offset, limit: LIMIT })
      })
    await countedPresets('a part of many names', { q: 'abcd' })
    await countedPresets('a part of no name', { q: 'nothing-like-it' })
    await countedPresets('the farthest page by number', {}, FARTHEST)

    const search = createSearchStore(database)
    const measureSearch = measureReads(/(?<="id":")[\w-]+/g)
    for (const [name, text] of [
      ['a word of many', 'abcd'],
      ['a word of none', 'nothing-like-it'],
      ['a letter', 'a'],
      ['the last four of a key', '26a0'],
    ] as const) {
      await measureSearch(`search: ${name}`, () => search.find(text, { workspaceId: null, ownedBy: null }, 8))
      await measureSearch(`search: ${name}, in a workspace`, () => search.find(text, { workspaceId: MANY, ownedBy: null }, 8))
    }
    await measureSearch('search: a word, for a member', () => search.find('abcd', { workspaceId: MANY, ownedBy: 'user-77' }, 8))
  },
)
