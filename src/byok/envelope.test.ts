import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { systemIds } from '../lib/id.ts'
import { rewrap, seal, SealBroken, unseal, type SealContext, type Sealed } from './envelope.ts'

const keyOf = (id: string) => ({ id, bytes: systemIds.bytes(32) })
const first = keyOf('first')
const second = keyOf('second')
const context: SealContext = { workspaceId: 'w', credentialId: 'c', provider: 'openai', origin: 'https://api.openai.com', version: 1 }

const opens = (sealed: Sealed, at: SealContext, keys = [first, second]): string | null => {
  try {
    return unseal(sealed, at, keys)
  } catch (thrown) {
    if (thrown instanceof SealBroken) return null
    throw thrown
  }
}

test('any secret comes back as it was, and shows in nothing that is stored', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 8, unit: 'grapheme' }), (secret) => {
      const sealed = seal(secret, context, first, systemIds)
      expect(opens(sealed, context)).toBe(Buffer.from(secret).toString())
      const stored = Object.values(sealed).join()
      for (const form of [secret, Buffer.from(secret).toString('base64')]) expect(stored).not.toContain(form)
    }),
  )
})

test('what an earlier version sealed opens: otherwise an upgrade would lose the keys of all customers', () => {
  const sealed = {
    sealedSecret: 'kz4Nc8c8sC93pScLpF1CG1SUu+K5eA5BOvwxI4y6IPoAaWNivNM=',
    wrappedDataKey: 'mFYi/v2PYS7sGEG8ohdznR87+X3//c8SlrCARjCqGciFLMMOndCWg2B7ztF5QQOPr19AtDoYus2QdTmo',
    kekId: 'first',
  }
  expect(unseal(sealed, context, [{ id: 'first', bytes: new Uint8Array(32).fill(7) }])).toBe('the secret')
})

test('the same secret is never sealed the same way twice', () => {
  const sealed = Array.from({ length: 50 }, () => seal('the secret', context, first, systemIds))
  for (const field of ['sealedSecret', 'wrappedDataKey'] as const) expect(new Set(sealed.map((one) => one[field])).size).toBe(50)
})

describe('it does not open', () => {
  const sealed = seal('the secret', context, first, systemIds)

  test.each<[string, Partial<SealContext>]>([
    ['in another workspace', { workspaceId: 'x' }],
    ['in every workspace', { workspaceId: null }],
    ['in another row', { credentialId: 'x' }],
    ['for another provider', { provider: 'anthropic' }],
    ['at another address of the provider', { origin: 'https://elsewhere.example' }],
    ['as another version', { version: 2 }],
  ])('%s', (_, other) => {
    expect(opens(sealed, { ...context, ...other })).toBeNull()
  })

  test('without the root secret that sealed it', () => {
    expect(opens(sealed, context, [second])).toBeNull()
    expect(opens(sealed, context, [{ ...second, id: 'first' }])).toBeNull()
  })

  test('with one bit changed anywhere', () => {
    for (const field of ['sealedSecret', 'wrappedDataKey'] as const) {
      const bytes = Buffer.from(sealed[field], 'base64')
      for (let bit = 0; bit < bytes.length * 8; bit += 1) {
        const changed = Buffer.from(bytes)
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        expect(opens({ ...sealed, [field]: changed.toString('base64') }, context)).toBeNull()
      }
      expect(opens({ ...sealed, [field]: bytes.subarray(0, -1).toString('base64') }, context)).toBeNull()
    }
  })

  test('with the data key of another secret', () => {
    const other = seal('another', context, first, systemIds)
    expect(opens({ ...sealed, wrappedDataKey: other.wrappedDataKey }, context)).toBeNull()
  })
})

test('wrapped anew it opens with the new key alone, and the secret was not touched', () => {
  const sealed = seal('the secret', context, first, systemIds)
  const anew = rewrap(sealed, context, [second, first], systemIds)
  expect(anew.sealedSecret).toBe(sealed.sealedSecret)
  expect([opens(anew, context, [second]), opens(anew, context, [first])]).toEqual(['the secret', null])
})

test('what it says of a failure holds neither the secret nor what was stored', () => {
  const sealed = seal('the secret', context, first, systemIds)
  try {
    unseal(sealed, context, [second])
    throw new Error('it opened')
  } catch (thrown) {
    const reported = String(thrown)
    expect(reported).toContain('does not open')
    for (const part of ['the secret', sealed.sealedSecret, sealed.wrappedDataKey]) expect(reported).not.toContain(part)
  }
})
