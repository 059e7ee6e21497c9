import { expect, test } from 'bun:test'

import { describeEachEngine } from '../../../test/support/databases.ts'
import type { HoldTable, Span } from '../tables/ledger-tables.ts'
import { createHoldStore } from './hold-store.ts'
import { createLedgerStore } from './ledger-store.ts'
import type { WindowKey } from './scope-windows.ts'

const SOON = '2026-01-01T00:01:00.000Z'
const LATE = '2026-01-01T00:02:00.000Z'
const LATER = '2026-01-01T00:03:00.000Z'

const windowOf = (span: Span, start: string): WindowKey => ({ subject: 'key:a', span, start, end: null })
const WINDOW = windowOf('lifetime', '')

describeEachEngine('holds', (engine) => {
  const open = async () => {
    const database = await engine.open()
    const hold = async (id: string, more: Partial<HoldTable> = {}, windows = [WINDOW], turned = false): Promise<void> => {
      const made = {
        request_id: id,
        key_hash: 'a',
        workspace_id: 'w',
        user_id: 'u',
        node_id: 'one',
        node_epoch: 2,
        provider: null,
        amount_n: 10,
        charge_n: 1,
        created_at: '2026-01-01T00:00:00.000Z',
        ends_at: LATE,
        lease_until: SOON,
        ...more,
      }
      const row = turned ? (Object.fromEntries(Object.entries(made).reverse()) as typeof made) : made
      await createLedgerStore(database).admit([{ hold: row, windows, decide: () => null }])
    }
    const rows = () => database.kysely.selectFrom('hold').selectAll().orderBy('request_id').execute()
    return { store: createHoldStore(database), hold, rows }
  }

  test('a process extends the leases of its own holds alone, not those of a dead process of its node', async () => {
    const { store, hold, rows } = await open()
    await hold('a')
    await hold('b', { node_epoch: 1 })
    await hold('c', { node_id: 'two' })
    await store.extendLeases({ id: 'one', epoch: 2 }, LATER)
    expect((await rows()).map(({ lease_until }) => lease_until)).toEqual([LATER, SOON, SOON])
  })

  test('a row keeps each value in its column, whatever the order of its members', async () => {
    const { hold, rows } = await open()
    await hold('a')
    await hold('b', { amount_n: 7, node_id: 'two' }, [WINDOW], true)
    expect(await rows()).toMatchObject([
      { request_id: 'a', node_id: 'one', node_epoch: 2, amount_n: 10, charge_n: 1, lease_until: SOON, ends_at: LATE },
      { request_id: 'b', node_id: 'two', node_epoch: 2, amount_n: 7, charge_n: 1, lease_until: SOON, ends_at: LATE },
    ])
  })

  test('a process takes the holds of others once their lease is over, those of dead processes of its node at once, and never its own', async () => {
    const { store, hold, rows } = await open()
    await hold('own')
    await hold('earlier', { node_epoch: 1, lease_until: LATER })
    await hold('later', { node_epoch: 3, lease_until: LATER })
    await hold('over', { node_id: 'two' })
    await hold('ending', { node_id: 'two', lease_until: LATE })
    expect(await store.reap({ id: 'one', epoch: 2 }, LATE, 10)).toBe(3)
    const states = new Map((await rows()).map(({ request_id, state }) => [request_id, state]))
    expect(Object.fromEntries(states)).toEqual({ own: 'held', earlier: 'reaped', later: 'reaped', over: 'reaped', ending: 'held' })
  })

  test('no more are taken at once than is allowed, and what was taken keeps the amount that it was charged', async () => {
    const { store, hold, rows } = await open()
    for (const id of ['a', 'b', 'c']) await hold(id, { node_id: 'two' })
    expect(await store.reap({ id: 'one', epoch: 2 }, LATE, 2)).toBe(2)
    await store.checkpoint(
      new Map([
        ['a', 5],
        ['c', 7],
      ]),
    )
    expect((await rows()).map(({ state, charge_n }) => [state, charge_n])).toEqual([
      ['reaped', 1],
      ['reaped', 1],
      ['held', 7],
    ])
  })

  test('those of a window are listed by their end, up to a number, without those of the subject’s other windows', async () => {
    const { store, hold } = await open()
    const day = windowOf('daily', '2026-01-01')
    await hold('a', { amount_n: 1, ends_at: LATER }, [day])
    await hold('b', { amount_n: 2, ends_at: SOON }, [day, WINDOW])
    await hold('c', { amount_n: 3, ends_at: LATE }, [day])
    await hold('d', { amount_n: 4, ends_at: LATE }, [windowOf('daily', '2026-01-02'), WINDOW])
    await hold('e', { amount_n: 5, ends_at: SOON }, [windowOf('monthly', '2026-01-01')])
    const amounts = async (window: WindowKey, limit = 10) => (await store.expected(window, limit)).map(({ amount_n }) => amount_n)
    expect([await amounts(day), await amounts(day, 2), await amounts(WINDOW)]).toEqual([
      [2, 3, 1],
      [2, 3],
      [2, 4],
    ])
  })
})
