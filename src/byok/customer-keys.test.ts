import { expect, test } from 'bun:test'

import { systemIds } from '../lib/id.ts'
import type { ByokRecord } from '../storage/keys/byok-store.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createCustomerKeys } from './customer-keys.ts'
import { seal } from './envelope.ts'
import { sealContext } from './provider-keys.ts'

const sealingKey = { id: 'first', bytes: systemIds.bytes(32) }
const originOf = (): string => 'https://api.example'
const user = { hash: 'ab'.repeat(32), userId: 'user_1' }

const record = (id: string, use: Partial<ByokRecord['use']> = {}): ByokRecord => {
  const base = { id, workspaceId: 'w', provider: 'fake', version: 1 }
  return {
    ...base,
    label: '…',
    use: {
      name: null,
      disabled: false,
      is_fallback: false,
      is_required: false,
      is_byok_only: false,
      declared_zdr: null,
      sort_order: 0,
      allowed_models: null,
      allowed_user_ids: null,
      allowed_api_key_hashes: null,
      ...use,
    },
    ...seal(`secret of ${id}`, sealContext(base, originOf), sealingKey, systemIds),
    createdAt: '',
    updatedAt: '',
  }
}

const open = (records: readonly ByokRecord[], addressOf: () => string = originOf) => {
  let loads = 0
  let state: 'near' | 'away' = 'near'
  const faults: unknown[] = []
  const keys = createCustomerKeys({
    clock: createFakeClock(),
    store: {
      async inForce() {
        loads += 1
        if (state === 'away') throw new Error('away')
        return records
      },
    },
    sealingKeys: () => [sealingKey],
    originOf: addressOf,
    onError: (thrown) => faults.push(thrown),
  })
  return { keys, faults, loads: () => loads, be: (next: typeof state) => void (state = next) }
}

test('a workspace is read once, and again when something changed; a request makes no query', async () => {
  const { keys, loads } = open([record('a')])
  await keys.forCaller('w', user)
  for (let request = 0; request < 5; request += 1) expect(keys.forCaller('w', user)).not.toBeInstanceOf(Promise)
  expect(loads()).toBe(1)
  keys.refreshCache()
  await keys.forCaller('w', user)
  expect(loads()).toBe(2)
})

test.each([
  ['its own', 'w', null],
  ['one for every workspace', null, null],
  ['one of another workspace', 'other', 'secret of a'],
])('while storage is away, no workspace uses its keys as they were before a change: %s', async (_, changed, expected) => {
  const { keys, be } = open([record('a')])
  await keys.forCaller('w', user)
  be('away')
  keys.changed(changed)
  const lookup = await Promise.resolve(keys.forCaller('w', user)).catch(() => null)
  expect(lookup?.('fake', () => true).keys[0]?.apiKey ?? null).toBe(expected)
})

test('a workspace without any has no look-up at all', async () => {
  const { keys } = open([])
  expect(await keys.forCaller('w', user)).toBeNull()
  expect(keys.forCaller('w', user)).toBeNull()
})

test('one that does not open is reported once, and the others are used', async () => {
  const { keys, faults } = open([{ ...record('a'), sealedSecret: record('b').sealedSecret }, record('c')])
  const lookup = await keys.forCaller('w', user)
  expect(lookup?.('fake', () => true).keys.map(({ id, apiKey }) => [id, apiKey])).toEqual([['c', 'secret of c']])
  for (let request = 0; request < 5; request += 1) await keys.forCaller('w', user)
  expect(faults).toHaveLength(1)
  expect(String(faults[0])).not.toContain('secret of')
})

test.each<[string, Partial<ByokRecord['use']>, boolean]>([
  ['is_byok_only', { is_byok_only: true }, false],
  ['is_required', { is_required: true, allowed_models: ['m/one'] }, false],
  ['is_required for other models', { is_required: true, allowed_models: ['m/two'] }, true],
  ['nothing of the kind', {}, true],
])(
  "a key that does not open and says %s: it is not used, and what it says of the service's own keys holds",
  async (_, use, sharedAllowed) => {
    const { keys } = open([{ ...record('a', use), sealedSecret: record('b').sealedSecret }])
    const lookup = await keys.forCaller('w', user)
    expect(lookup?.('fake', (name) => name === 'm/one')).toEqual({ keys: [], sharedAllowed })
  },
)

test('a key is not sent to a new address of its provider, and comes back with the old one, without a query', async () => {
  let address = originOf()
  const { keys, faults, loads } = open([record('a')], () => address)
  const ids = async () => (await keys.forCaller('w', user))?.('fake', () => true).keys.map(({ id }) => id)
  expect(await ids()).toEqual(['a'])
  address = 'https://other.example'
  keys.addressesChanged()
  expect(await ids()).toEqual([])
  expect(faults).toHaveLength(1)
  address = originOf()
  keys.addressesChanged()
  expect(await ids()).toEqual(['a'])
  expect(loads()).toBe(1)
})

test('each caller has its own, by provider and model', async () => {
  const { keys } = open([
    record('all'),
    record('mine', { allowed_api_key_hashes: [user.hash], allowed_user_ids: ['user_1'] }),
    record('theirs', { allowed_api_key_hashes: ['cd'.repeat(32)], is_byok_only: true }),
    record('my other user', { allowed_api_key_hashes: [user.hash], allowed_user_ids: ['user_2'], is_required: true }),
    record('one model', { allowed_models: ['m/other', 'm/one'], is_required: true }),
  ])
  const lookup = await keys.forCaller('w', user)
  const of = (provider: string, model: string) => {
    const choice = lookup?.(provider, (name) => name === model)
    return [choice?.keys.map(({ id }) => id), choice?.sharedAllowed]
  }
  expect(of('fake', 'm/two')).toEqual([['all', 'mine'], true])
  expect(of('fake', 'm/one')).toEqual([['all', 'mine', 'one model'], false])
  expect(of('other', 'm/one')).toEqual([[], true])
})

test("where a caller's key of a provider says so, the service's own keys of it are not used, even for models that the key is not for", async () => {
  const { keys } = open([record('one model', { allowed_models: ['m/one'], is_byok_only: true })])
  const lookup = await keys.forCaller('w', user)
  expect(lookup?.('fake', (name) => name === 'm/two')).toEqual({ keys: [], sharedAllowed: false })
  expect(lookup?.('other', () => true)).toEqual({ keys: [], sharedAllowed: true })
})
