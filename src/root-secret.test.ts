import { describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { temporaryDirectory } from '../test/support/sqlite-database.ts'
import { SettingError } from './config.ts'
import { closeSecretFile, makeRootSecret, readRootSecret, type RootSecret } from './root-secret.ts'

const directory = temporaryDirectory()
let places = 0
const place = (): string => join(directory, String((places += 1)), 'data')

const openRootSecret = (given: string | null, dataDir: string): RootSecret =>
  readRootSecret({ secret: given, secretPrevious: null }, dataDir) ?? makeRootSecret(dataDir)

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const pepperOf = (given: string | null, dataDir: string): string => hex(openRootSecret(given, dataDir).derive('key-pepper'))

const fault = (given: string | null, dataDir: string): string => {
  try {
    openRootSecret(given, dataDir)
  } catch (thrown) {
    if (thrown instanceof SettingError) return thrown.message
    throw thrown
  }
  return 'accepted'
}

const modeOf = (path: string): number => statSync(path).mode & 0o777

describe('without a secret of the operator', () => {
  test('one is made on the first start: 32 random bytes, for the owner alone', () => {
    const dataDir = place()
    pepperOf(null, dataDir)
    const path = join(dataDir, 'secret')
    expect(Buffer.from(readFileSync(path, 'utf8').trim(), 'base64url')).toHaveLength(32)
    expect([modeOf(path), modeOf(dataDir)]).toEqual([0o600, 0o700])
  })

  test('it is used again, and two directories never have the same', () => {
    const dataDir = place()
    const pepper = pepperOf(null, dataDir)
    expect(pepperOf(null, dataDir)).toBe(pepper)
    expect(pepperOf(null, place())).not.toBe(pepper)
  })

  test('one that others could read is closed to them, and that is told', () => {
    const dataDir = place()
    pepperOf(null, dataDir)
    expect(closeSecretFile(dataDir)).toBeNull()
    chmodSync(join(dataDir, 'secret'), 0o644)
    expect(closeSecretFile(dataDir)).toContain('could be read by others (mode 644); it is mode 600 now')
    expect(modeOf(join(dataDir, 'secret'))).toBe(0o600)
  })

  test('the line end of an editor is not part of it', () => {
    const [one, other] = [place(), place()]
    for (const [dataDir, text] of [
      [one, 's'.repeat(40)],
      [other, `${'s'.repeat(40)}\r\n`],
    ] as const) {
      mkdirSync(dataDir, { recursive: true })
      writeFileSync(join(dataDir, 'secret'), text)
    }
    expect(pepperOf(null, one)).toBe(pepperOf(null, other))
  })

  test.each(['', 'short', 's'.repeat(31)])('one that is short is refused and left alone: %j', (text) => {
    const dataDir = place()
    mkdirSync(dataDir, { recursive: true })
    const path = join(dataDir, 'secret')
    writeFileSync(path, text)
    expect(fault(null, dataDir)).toBe(`${path}: the root secret holds fewer than 32 bytes. Put your copy of the file back.`)
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  test('a directory that cannot be made is one sentence', () => {
    const file = join(directory, 'a-file')
    writeFileSync(file, '')
    expect(fault(null, join(file, 'data'))).toBe(`--data-dir ${join(file, 'data')}: the root secret cannot be read or made (ENOTDIR).`)
    const taken = place()
    mkdirSync(join(taken, 'secret'), { recursive: true })
    expect(fault(null, taken)).toMatch(/the root secret cannot be read or made \(EISDIR\)\.$/)
  })
})

test('reading makes none: a database may have been made with one that is lost', () => {
  const dataDir = place()
  expect(readRootSecret({ secret: null, secretPrevious: null }, dataDir)).toBeNull()
  expect(existsSync(dataDir)).toBe(false)
})

describe('with a secret of the operator', () => {
  const given = 'g'.repeat(32)

  test('nothing is written', () => {
    const dataDir = place()
    pepperOf(given, dataDir)
    expect(existsSync(dataDir)).toBe(false)
  })

  test('it wins over the one in the directory', () => {
    const dataDir = place()
    const own = pepperOf(null, dataDir)
    expect(pepperOf(given, dataDir)).not.toBe(own)
    expect(pepperOf(given, dataDir)).toBe(pepperOf(given, place()))
  })
})

test('secrets for two purposes are two secrets, and neither is the root', () => {
  const root = 'r'.repeat(32)
  const secret = openRootSecret(root, place())
  const derived = (['key-pepper', 'check'] as const).map((purpose) => hex(secret.derive(purpose)))
  expect(new Set([...derived, Buffer.from(root).toString('hex')]).size).toBe(3)
  for (const each of derived) expect(each).toHaveLength(64)
  expect(hex(secret.derive('check'))).toBe(derived[1] as string)
})
