import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { changedBy } from '../../../test/support/changed-by.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { createFakeIds } from '../../../test/support/fake-ids.ts'
import { openSqliteDatabase } from '../../../test/support/sqlite-database.ts'
import { GatewayError } from '../../errors.ts'
import { createKeys, UNBOUNDED } from '../../keys/keys.ts'
import { createKeyStore } from '../../storage/keys/key-store.ts'
import { rejection } from '../../storage/testing/rejection.ts'
import { authenticate, type Doors } from './authenticate.ts'
import type { Policy } from './policies.ts'

const { database, owner } = await openSqliteDatabase()
const keys = createKeys({
  store: createKeyStore(database),
  clock: createFakeClock(),
  ids: createFakeIds(),
  peppers: () => [{ id: 'first', bytes: new Uint8Array(32) }],
  onError: () => undefined,
})
const make = async (kind: 'management' | 'inference'): Promise<string> => {
  const { key } = await keys.create(
    {
      kind,
      name: kind,
      workspaceId: owner.workspaceId,
      creatorUserId: owner.userId,
      ...UNBOUNDED,
    },
    changedBy(),
  )
  return key
}
const key = { management: await make('management'), inference: await make('inference') }

type HeaderList = Record<string, string> | [string, string][]

const verdict = async (headers: HeaderList, policy: Policy, door: Doors['door'] = null): Promise<string> => {
  const admitted = await Promise.resolve()
    .then(() => authenticate(new Headers(headers), policy, { keys, door }))
    .then(
      (principal) => principal?.kind ?? 'nobody',
      (thrown: unknown) => thrown,
    )
  if (typeof admitted === 'string') return admitted
  if (admitted instanceof GatewayError) return `${admitted.status} ${admitted.type}: ${admitted.message}`
  throw admitted
}

const MISSING = '401 authentication: Missing Authentication header'
const INVALID = '401 authentication: Invalid API key: it is unknown, disabled, revoked or expired.'
const MALFORMED = '401 authentication: The Authorization header must be: Bearer <API key>.'
const bearer = (token: string): HeaderList => ({ authorization: `Bearer ${token}` })

describe('the policy decides', () => {
  test.each<[Policy, string, string]>([
    ['public', 'management', 'nobody'],
    ['public', 'inference', 'nobody'],
    ['any-key', 'management', 'management'],
    ['any-key', 'inference', 'inference'],
    ['management', 'management', 'management'],
    ['management', 'inference', '403 permission_denied: Only management keys can perform this operation'],
    ['inference', 'inference', 'inference'],
    ['inference', 'management', '403 permission_denied: Management keys cannot call models. Use an inference key.'],
  ])('%s, with the %s key: %s', async (policy, kind, expected) => {
    for (const headers of [bearer(key[kind as 'management']), { 'x-api-key': key[kind as 'management'] }])
      expect(await verdict(headers, policy)).toBe(expected)
  })
})

/** A door through which such a person comes, whatever is sent. */
const doorOf = (kind: 'admin' | 'member'): Doors['door'] => ({
  personOf: async () => ({ kind, workspaceId: owner.workspaceId, userId: owner.userId, sessionId: 's' }),
})

test.each<[Policy, string, string]>([
  ['any-key', 'admin', 'member'],
  [
    'key',
    '403 permission_denied: Only API keys can perform this operation: it is about the key that asks',
    '403 permission_denied: Only API keys can perform this operation: it is about the key that asks',
  ],
  ['management', 'admin', '403 permission_denied: Only admins of the workspace can perform this operation'],
  ['own', 'admin', 'member'],
  ['inference', 'admin', 'member'],
  ['session', 'admin', 'member'],
  ['public', 'nobody', 'nobody'],
])('%s, with a session of an admin: %s; of a member: %s; a key goes before the session', async (policy, admin, member) => {
  expect([await verdict({}, policy, doorOf('admin')), await verdict({}, policy, doorOf('member'))]).toEqual([admin, member])
  for (const kind of ['management', 'inference'] as const)
    expect(await verdict(bearer(key[kind]), policy, doorOf('admin'))).toBe(await verdict(bearer(key[kind]), policy))
})

test('an operation of people who are signed in, or of what they manage of their own, is not one of an inference key', async () => {
  const refused = '403 permission_denied: Only people who are signed in can perform this operation'
  expect([await verdict(bearer(key.management), 'session'), await verdict(bearer(key.inference), 'session')]).toEqual([refused, refused])
  expect(await verdict(bearer(key.management), 'own')).toBe('management')
  expect(await verdict(bearer(key.inference), 'own')).toStartWith('403')
  expect([await verdict(bearer(key.management), 'key'), await verdict(bearer(key.inference), 'key')]).toEqual(['management', 'inference'])
})

describe('401, on every policy that wants a key', () => {
  const cases: [string, HeaderList, string][] = [
    ['no header', {}, MISSING],
    ['an empty header', { authorization: '' }, MALFORMED],
    ['no token', { authorization: 'Bearer' }, MALFORMED],
    ['an empty token', { authorization: 'Bearer ' }, MALFORMED],
    ['a token without its scheme', { authorization: key.management }, MALFORMED],
    ['another scheme', { authorization: `Basic ${btoa(key.management)}` }, MALFORMED],
    ['two tokens', { authorization: `Bearer ${key.management} ${key.inference}` }, MALFORMED],
    [
      'two headers',
      [
        ['authorization', `Bearer ${key.management}`],
        ['authorization', `Bearer ${key.inference}`],
      ],
      MALFORMED,
    ],
    [
      'two x-api-key headers',
      [
        ['x-api-key', key.management],
        ['x-api-key', key.inference],
      ],
      INVALID,
    ],
    ['an empty x-api-key', { 'x-api-key': '' }, INVALID],
    ['an unknown key', bearer('pb_mgmt_unknown'), INVALID],
    ['a wrong checksum', bearer(`${key.management.slice(0, -1)}${key.management.endsWith('0') ? '1' : '0'}`), INVALID],
    ['SQL', bearer("'or'1'='1'--"), INVALID],
    ['10 KB', bearer('x'.repeat(10_000)), INVALID],
    ['10 KB behind a good key', bearer(key.management + 'x'.repeat(10_000)), INVALID],
    ['a quoted key', bearer(`"${key.management}"`), INVALID],
    // Only one header counts: a good key beside an invalid Authorization does not help.
    ['a bad Authorization beside a good x-api-key', { authorization: 'Bearer nonsense', 'x-api-key': key.management }, INVALID],
  ]
  test.each(cases)('%s', async (_, headers, expected) => {
    for (const policy of ['any-key', 'management', 'inference'] as const) expect(await verdict(headers, policy)).toBe(expected)
    expect(await verdict(headers, 'public')).toBe('nobody')
  })
})

test('401, and no query, for a token that cannot be a key (CVE-2026-42208)', () => {
  const looked: string[] = []
  const asked = createKeys({
    store: { ...createKeyStore(database), find: async (digests) => (looked.push(...digests), null) },
    clock: createFakeClock(),
    ids: createFakeIds(),
    peppers: () => [{ id: 'first', bytes: new Uint8Array(32) }],
    onError: () => undefined,
  })
  const hostile = fc.oneof(
    fc.string({ minLength: 1, maxLength: 600 }),
    fc.constantFrom(
      "' OR 1=1 --",
      "pb_mgmt_'; DROP TABLE api_keys; --",
      'pb_inf_%',
      'pb_inf_\\',
      '"',
      '; select pg_sleep(9)',
      '${7*7}',
      '../../..',
    ),
    fc.string({ minLength: 49, maxLength: 49 }).map((tail) => `pb_mgmt_${tail}`),
  )
  fc.assert(
    fc.property(hostile, fc.constantFrom('Bearer ', 'bearer  ', 'Basic ', ''), (token, scheme) => {
      const headers = new Headers()
      try {
        headers.set('authorization', scheme + token)
      } catch {
        return // No header can carry this value.
      }
      for (const policy of ['management', 'inference', 'any-key'] as const) {
        let thrown: unknown
        try {
          thrown = authenticate(headers, policy, { keys: asked, door: null })
        } catch (error) {
          thrown = error
        }
        expect(thrown).toMatchObject({ type: 'authentication', status: 401 })
      }
    }),
    { numRuns: 2000 },
  )
  expect(looked).toEqual([])
})

test('the scheme is accepted in any case, and with spaces after the key', async () => {
  for (const header of [`bearer ${key.management}`, `BEARER  ${key.management}`, `Bearer ${key.management}  `]) {
    expect(await verdict({ authorization: header }, 'management')).toBe('management')
  }
})

test('a revoked key is 401 on its next use', async () => {
  const token = await make('inference')
  expect(await verdict(bearer(token), 'inference')).toBe('inference')
  const known = await keys.authenticate(token)
  await keys.revoke(owner.workspaceId, known?.hash ?? '', changedBy())
  expect(await verdict(bearer(token), 'inference')).toBe(INVALID)
})

test('storage that is away is no refusal of the key', async () => {
  const away = createKeys({
    store: { ...createKeyStore(database), find: () => Promise.reject(new Error('away')) },
    clock: createFakeClock(),
    ids: createFakeIds(),
    peppers: () => [{ id: 'first', bytes: new Uint8Array(32) }],
    onError: () => undefined,
  })
  const thrown = await rejection(Promise.resolve(authenticate(new Headers(bearer(key.inference)), 'inference', { keys: away, door: null })))
  expect(String(thrown)).toContain('away')
})
