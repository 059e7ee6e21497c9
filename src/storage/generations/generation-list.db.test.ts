import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import type { Position } from '../../contract/cursor.ts'
import { describeEachEngine } from '../../../test/support/databases.ts'
import type { GenerationFilter } from './generation-filter.ts'
import { createGenerationList } from './generation-list.ts'
import type { GenerationRecord } from './generation-store.ts'
import { createLedgerStore } from '../ledger/ledger-store.ts'
import { settlementOf } from '../testing/settlement.ts'
import { generationRecord } from '../testing/generation-record.ts'

const ALL: GenerationFilter = { from: '2026-11-20T00:00:00.000Z', to: null, workspaceId: null, ownedBy: null }
const SCANNED = 3
const HOURS_SCANNED = 2

const made = fc.record({
  hour: fc.integer({ min: 8, max: 10 }),
  second: fc.integer({ min: 0, max: 9 }),
  key: fc.constantFrom('a', 'b'),
  model: fc.constantFrom('m/1', 'm/2'),
  provider: fc.constantFrom('p', 'q'),
  workspace: fc.constantFrom('w-1', 'w-2'),
  cancelled: fc.boolean(),
  error: fc.constantFrom(null, 'timeout'),
  nanos: fc.nat({ max: 3 }),
  preset: fc.constantFrom(null, 'preset-1'),
  guardrail: fc.constantFrom(null, 'g_1', 'gx1'),
})
type Made = typeof made extends fc.Arbitrary<infer Value> ? Value : never

const recordOf = (
  { hour, second, key, model, provider, workspace, cancelled, error, nanos, preset, guardrail }: Made,
  index: number,
): GenerationRecord =>
  generationRecord({
    id: `gen-${String(index).padStart(3, '0')}`,
    createdAt: `2026-11-20T${String(hour).padStart(2, '0')}:00:0${second}.000Z`,
    workspaceId: workspace,
    keyHash: key.repeat(64),
    presetId: preset,
    presetVersion: preset === null ? null : 1,
    model,
    provider,
    cancelled,
    tokensPrompt: 3,
    tokensCompletion: 2,
    costNanos: nanos,
    record: {
      interface: 'chat',
      error_type: error,
      // A user-supplied text that looks like a guardrail's id.
      user_agent: '"guardrail_id":"g_1"',
      pipeline: guardrail === null ? [] : [{ type: 'guardrail', guardrail_id: guardrail, data: { rules: ['[EMAIL]'] } }],
    },
  })

const FILTERS: readonly (readonly [Partial<GenerationFilter>, (one: Made) => boolean])[] = [
  [{}, () => true],
  [{ workspaceId: 'w-1' }, ({ workspace }) => workspace === 'w-1'],
  [{ provider: 'q' }, ({ provider }) => provider === 'q'],
  [{ provider: 'nobody' }, () => false],
  [{ provider: 'nobody', workspaceId: 'w-1', to: '2026-11-20T09:00:05.000Z' }, () => false],
  [
    { provider: 'q', workspaceId: 'w-2', from: '2026-11-20T08:00:02.000Z', to: '2026-11-20T10:00:05.000Z' },
    ({ provider, workspace, hour, second }) =>
      provider === 'q' && workspace === 'w-2' && !(hour === 8 && second < 2) && !(hour === 10 && second >= 5),
  ],
  [{ interface: 'messages' }, () => false],
  [{ interface: 'chat', userId: 'nobody' }, () => false],
  [{ errorType: 'timeout', workspaceId: 'w-1' }, ({ error, workspace }) => error !== null && workspace === 'w-1'],
  [{ presetIds: ['preset-1', 'preset-2'], presetVersion: 1, provider: 'p' }, ({ preset, provider }) => preset !== null && provider === 'p'],
  [{ minCostNanos: 3, workspaceId: 'w-2' }, ({ nanos, workspace }) => nanos === 3 && workspace === 'w-2'],
  [{ status: 'cancelled', workspaceId: 'w-1' }, ({ cancelled, workspace }) => cancelled && workspace === 'w-1'],
  [{ status: 'ok' }, ({ cancelled, error }) => !cancelled && error === null],
  [{ status: 'error', keyHash: 'a'.repeat(64) }, ({ error, key }) => error !== null && key === 'a'],
  [{ model: 'm/1', provider: 'p' }, ({ model, provider }) => model === 'm/1' && provider === 'p'],
  [{ guardrailId: 'G_1' }, () => false],
  [{ guardrailId: 'g_1' }, ({ guardrail }) => guardrail === 'g_1'],
  [{ guardrailId: 'gx1', workspaceId: 'w-1' }, ({ guardrail, workspace }) => guardrail === 'gx1' && workspace === 'w-1'],
  [{ hasContent: true }, () => false],
  [{ hasPreset: false }, ({ preset }) => preset === null],
  [{ hasPreset: true, workspaceId: 'w-2' }, ({ preset, workspace }) => preset !== null && workspace === 'w-2'],
  [{ hasPreset: false, status: 'error' }, ({ preset, error }) => preset === null && error !== null],
]

describeEachEngine('the list of requests', (engine) => {
  test('its pages together are what the filter lets through, newest first, however few records a page looks through', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(made, { minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 4 }), async (requests, limit) => {
        const database = await engine.open()
        const records = requests.map(recordOf)
        await createLedgerStore(database).settle(records.map((record) => settlementOf(record)))
        const list = createGenerationList(database, SCANNED, HOURS_SCANNED)
        for (const [filter, fits] of FILTERS) {
          const found: string[] = []
          let pages = 0
          let after: Position | null = null
          do {
            const page = await list.page({ ...ALL, ...filter }, after, limit)
            expect(page.rows.length).toBeLessThanOrEqual(limit)
            found.push(...page.rows.map(({ id }) => id))
            after = page.next
            pages += 1
          } while (after !== null)
          const wanted = records
            .filter((_, index) => fits(requests[index]!))
            .toSorted((one, other) => (one.createdAt + one.id < other.createdAt + other.id ? 1 : -1))
          expect(found).toEqual(wanted.map(({ id }) => id))
          // Each page ends with its rows, or after the records that it may look through; with a guardrail filter
          // these are only records with finds, and fewer of them.
          const finds = requests.filter(({ guardrail }) => guardrail !== null).length
          const full = filter.guardrailId === undefined ? Math.floor(records.length / SCANNED) : finds
          expect(pages).toBeLessThanOrEqual(Math.floor(found.length / limit) + full + 1)
        }
        await database.close()
      }),
      { numRuns: engine.name === 'sqlite' ? 6 : 2 },
    )
  })

  test('a page looks through a bounded number of records: what comes after them is on the next one', async () => {
    const database = await engine.open()
    const one: Made = {
      hour: 10,
      second: 1,
      key: 'a',
      model: 'm/1',
      provider: 'p',
      workspace: 'w-1',
      cancelled: false,
      error: null,
      nanos: 0,
      preset: null,
      guardrail: null,
    }
    const requests = [{ ...one, provider: 'q', second: 0 }, ...Array.from({ length: 2 * SCANNED - 1 }, () => one)]
    await createLedgerStore(database).settle(requests.map((request, index) => settlementOf(recordOf(request as Made, index))))
    const list = createGenerationList(database, SCANNED)
    const first = await list.page({ ...ALL, provider: 'q' }, null, 5)
    expect(first.rows).toEqual([])
    const second = await list.page({ ...ALL, provider: 'q' }, first.next, 5)
    expect(second.rows.map(({ id }) => id)).toEqual(['gen-000'])
    // If no hour has matching requests, no record is looked at.
    expect(await list.page({ ...ALL, provider: 'nobody' }, null, 5)).toEqual({ rows: [], next: null })
    // If the index covers the whole filter, there is no limit on what is looked through.
    expect((await list.page({ ...ALL, workspaceId: 'w-1' }, null, 2 * SCANNED)).rows).toHaveLength(2 * SCANNED)
    await database.close()
  })
})
