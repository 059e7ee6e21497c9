import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { GatewayError } from '../../errors.ts'
import type { Demand } from '../../ledger/admissions.ts'
import { Purse } from './purse.ts'

const demand = (estimateNanos: number): Demand => ({
  id: 'gen-1',
  spender: { keyHash: '', workspaceId: '', userId: null, limit: null } as never,
  atMs: 0,
  scopes: [],
  estimateNanos,
  promptNanos: 0,
  provider: null,
  expectedMs: 0,
})

test('whoever asks in whatever order, what is spent is held, and what is held is within the budget', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(100),
      fc.array(fc.record({ wanted: fc.nat(60), spentShare: fc.double({ min: 0, max: 1, noNaN: true }), waits: fc.nat(3) }), {
        maxLength: 12,
      }),
      fc.nat(400),
      fc.scheduler(),
      async (estimate, asking, room, scheduler) => {
        const budget = estimate + room
        let held = estimate
        const purse = new Purse(demand(estimate), {
          grow: ({ estimateNanos }) =>
            scheduler.schedule(Promise.resolve()).then(() => {
              if (estimateNanos > budget) throw new GatewayError('payment_required')
              held = estimateNanos
            }),
        })
        let reserved = estimate
        let spent = 0
        const within = (): void => {
          expect(reserved + spent).toBeLessThanOrEqual(held)
          expect(held).toBeLessThanOrEqual(budget)
        }
        const ask = async ({ wanted, spentShare, waits }: (typeof asking)[number]): Promise<void> => {
          try {
            await purse.add(wanted)
          } catch (refused) {
            if (refused instanceof GatewayError && refused.type === 'payment_required') return
            throw refused
          }
          reserved += wanted
          within()
          for (let turn = 0; turn < waits; turn += 1) await scheduler.schedule(Promise.resolve())
          const cost = Math.floor(wanted * spentShare)
          reserved -= wanted
          spent += cost
          purse.release(wanted - cost)
          within()
        }
        const all = Promise.all(asking.map(ask))
        await scheduler.waitFor(all)
        expect(purse.heldNanos).toBe(held)
      },
    ),
  )
})

test('what one inference did not spend is there for the next without asking the ledger again', async () => {
  let grown = 0
  const purse = new Purse(demand(10), {
    grow: async () => {
      grown += 1
    },
  })
  await purse.add(5)
  purse.release(5)
  await purse.add(5)
  expect(grown).toBe(1)
})

test('an inference that the budget refuses keeps no other from its money, whether it asks meanwhile or later', async () => {
  const purse = new Purse(demand(10), {
    async grow({ estimateNanos }) {
      if (estimateNanos > 20) throw new GatewayError('payment_required')
    },
  })
  const [tooMuch, meanwhile] = await Promise.allSettled([purse.add(100), purse.add(5)])
  expect([tooMuch.status, meanwhile.status]).toEqual(['rejected', 'fulfilled'])
  await purse.add(5)
  expect(purse.heldNanos).toBe(20)
})
