import { expect, test } from 'bun:test'

import { systemIds } from '../lib/id.ts'
import { createFactStore } from '../storage/service/fact-store.ts'
import { openSqliteDatabase } from '../../test/support/sqlite-database.ts'
import { openPresetSeal, presetKeyFollows, rewrapPresetKey } from './preset-seal.ts'

const keyOf = (id: string) => ({ id, bytes: systemIds.bytes(32) })

test('what is sealed opens after a restart and after a rotation, and not without a root secret that is valid', async () => {
  const { database } = await openSqliteDatabase()
  const facts = createFactStore(database)
  const [old, fresh] = [keyOf('old'), keyOf('fresh')]
  expect(await presetKeyFollows(facts, old)).toBe(true)
  const sealed = (await openPresetSeal(facts, [old], systemIds)).seal('secret', 'here')
  expect(sealed).not.toContain('secret')
  expect((await openPresetSeal(facts, [old], systemIds)).open(sealed, 'here')).toBe('secret')
  expect(await presetKeyFollows(facts, fresh)).toBe(false)
  await rewrapPresetKey(facts, [fresh, old], systemIds)
  expect(await presetKeyFollows(facts, fresh)).toBe(true)
  expect((await openPresetSeal(facts, [fresh], systemIds)).open(sealed, 'here')).toBe('secret')
  expect(openPresetSeal(facts, [old], systemIds)).rejects.toThrow('does not open')
})

test('a rotation creates the key if there is none, so that nobody creates one with the retiring secret', async () => {
  const { database } = await openSqliteDatabase()
  const facts = createFactStore(database)
  const [old, fresh] = [keyOf('old'), keyOf('fresh')]
  await rewrapPresetKey(facts, [fresh, old], systemIds)
  const { open, seal } = await openPresetSeal(facts, [old, fresh], systemIds)
  const sealed = seal('secret', 'here')
  expect(open(sealed, 'here')).toBe('secret')
  expect((await openPresetSeal(facts, [fresh], systemIds)).open(sealed, 'here')).toBe('secret')
})
