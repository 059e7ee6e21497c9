import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { systemIds } from '../lib/id.ts'
import { KEY_KINDS, keyDigest, keyLabel, looksLikeKey, makeKey } from './key-format.ts'

test('a key has its kind as prefix, 256 bits and a checksum, and is recognised', () => {
  for (const kind of KEY_KINDS) {
    const key = makeKey(kind, systemIds)
    expect(key).toMatch(kind === 'management' ? /^pb_mgmt_[0-9A-Za-z]{49}$/ : /^pb_inf_[0-9A-Za-z]{49}$/)
    expect(looksLikeKey(key)).toBe(true)
  }
})

test('a key that an earlier version made is still recognised', () => {
  expect(looksLikeKey('pb_inf_IhptPygUwSeF5D8K4vdKGN4Jnikm4UZrLkFFsNBRuGg23HeY0')).toBe(true)
})

test('a key with any one character changed is refused without a look-up', () => {
  const key = makeKey('inference', systemIds)
  for (let position = 0; position < key.length; position += 1) {
    const other = key[position] === 'A' ? 'B' : 'A'
    if (key[position] === other) continue
    expect(looksLikeKey(key.slice(0, position) + other + key.slice(position + 1))).toBe(false)
  }
})

test('no other text looks like a key', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !looksLikeKey(text)))
  for (const text of ['', 'pb_inf_', "' OR 1=1 --", `pb_inf_${'A'.repeat(49)}`, `${makeKey('inference', systemIds)}\n`])
    expect(looksLikeKey(text)).toBe(false)
})

test('the label shows the kind and the last four characters only', () => {
  const key = makeKey('management', systemIds)
  expect(keyLabel(key)).toBe(`pb_mgmt_…${key.slice(-4)}`)
})

test('two keys that share a long prefix, or two peppers, never share a digest', () => {
  const key = makeKey('inference', systemIds)
  const pepper = new Uint8Array(32)
  expect(keyDigest(key, pepper)).toMatch(/^[0-9a-f]{64}$/)
  expect(keyDigest(`${key.slice(0, -1)}!`, pepper)).not.toBe(keyDigest(key, pepper))
  expect(keyDigest(key, Uint8Array.of(1))).not.toBe(keyDigest(key, pepper))
})
