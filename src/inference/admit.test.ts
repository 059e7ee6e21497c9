import { expect, test } from 'bun:test'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createFakeIds } from '../../test/support/fake-ids.ts'
import { preparedFrom, receivedFrom } from '../../test/support/pipelines.ts'
import { planOf, priced } from '../../test/support/plans.ts'
import { GatewayError } from '../errors.ts'
import type { Demand } from '../ledger/admissions.ts'
import type { Scope } from '../ledger/scope.ts'
import { createAdmit } from './admit.ts'

const scope = (id: string, includeByok: boolean): Scope => ({
  id,
  kind: 'key_limit',
  limitNanos: 1,
  interval: null,
  includeByok,
  guardrailId: null,
  budgetId: null,
  allowLastRequest: false,
})

/** A run whose attempts have the given keys, under one scope that counts customers' keys and one that does not. */
const admitted = async (keys: readonly ('own' | 'shared')[], outcomes: readonly (GatewayError | null)[]) => {
  const clock = createFakeClock()
  const demands: Demand[] = []
  const { attempts, ...rest } = planOf([priced('p', 10)])
  const plan = {
    ...rest,
    attempts: attempts.flatMap((planned) =>
      keys.map((kind) => (kind === 'own' ? { ...planned, customerKey: { id: 'c', apiKey: 'sk', isFallback: false } } : planned)),
    ),
  }
  const received = receivedFrom({ model: 'm/one', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 10 })
  const planned = { ...(await preparedFrom(clock, received)), plan, tools: null, search: null }
  const admit = createAdmit({
    clock,
    ids: createFakeIds(),
    turn: () => undefined,
    ledger: {
      scopesOf: () => [scope('with', true), scope('without', false)],
      async admit(demand) {
        demands.push(demand)
        const refused = outcomes[demands.length - 1] ?? null
        if (refused !== null) throw refused
      },
      grow: () => Promise.reject(new Error('Nothing is sent here.')),
    },
    durations: { expectedMs: () => 1000 },
    settings: () => ({
      unknownPrice: 'refuse',
      assumedPrices: { prompt: 1, completion: 1 },
      emptyAnswers: 'told',
      maxOutputTokens: 100,
    }),
  })
  try {
    const { request } = await admit(planned)
    return { demands, refusal: null, attempts: request.plan.attempts }
  } catch (refusal) {
    return { demands, refusal, attempts: plan.attempts }
  }
}

const scopesOf = (demands: readonly Demand[]): string[] => demands.map(({ scopes }) => scopes.map(({ id }) => id).join(' '))

test('the customer’s own key goes alone where the budgets do not bear the service’s', async () => {
  const { demands, refusal, attempts } = await admitted(['own', 'shared'], [new GatewayError('payment_required'), null])
  expect([refusal, scopesOf(demands), attempts.length]).toEqual([null, ['with without', 'with'], 1])
})

test('storage that is away is no refusal: the hold may have been written, so its id is not used for another', async () => {
  const away = new GatewayError('provider_overloaded', 'away', { status: 503 })
  const { demands, refusal, attempts } = await admitted(['own', 'shared'], [away, null])
  expect([refusal, demands.length, attempts.length]).toEqual([away, 1, 2])
})

test('a process that dies charges the prompt to the service’s own key, and nothing where the customer’s is asked first', async () => {
  const charged = async (keys: readonly ('own' | 'shared')[]) =>
    (await admitted(keys, [])).demands.map(({ promptNanos }) => promptNanos > 0)
  expect(await charged(['shared', 'own'])).toEqual([true])
  expect(await charged(['own', 'shared'])).toEqual([false])
  expect(await charged(['own'])).toEqual([false])
})
