import { expect, test } from 'bun:test'

import { configFileSchema, type ConfigFile } from '../config-file.ts'
import { createReloadable } from './reloadable.ts'

const fileOf = (written: object): ConfigFile => configFileSchema.parse(written)

const FIRST = fileOf({})

const MIB = 1024 * 1024
const MEMORY = 8192 * MIB

test.each<[string, object, object]>([
  ['the requests of a minute', { limits: { requests_per_minute: 7 } }, { limits: { requestsPerMinute: 7 } }],
  ['the tokens of a minute', { limits: { tokens_per_minute: 7 } }, { limits: { tokensPerMinute: 7 } }],
  ['the concurrency of a key', { limits: { key_concurrency: 7 } }, { limits: { keyConcurrency: 7 } }],
  ['the concurrency of the process', { limits: { in_flight: 7 } }, { limits: { most: 7 }, providerInFlight: 7 }],
  ['the requests that wait', { limits: { queue: 7 } }, { limits: { line: 7 } }],
  ['how long they wait', { limits: { queue_seconds: 7 } }, { limits: { waitMs: 7000 } }],
  ['how far behind the process may be', { limits: { loop_lag_ms: 7 } }, { limits: { loopLagMs: 7 } }],
  ['the attempts at one provider', { limits: { provider_in_flight: 7 } }, { providerInFlight: 7 }],
  [
    'the bytes of bodies',
    { limits: { body_bytes_in_flight: 2048, max_body_bytes: 1024 } },
    { bodyRoom: { mostBytes: 2048, bodyBytes: 1024 } },
  ],
  ['the share of one key', { limits: { key_share: 0.5 } }, { limits: { keyShare: 0.5 }, bodyRoom: { keyShare: 0.5 } }],
  ['budgets', { budgets: { unknown_price: 'default', credits: true } }, { budgets: { unknown_price: 'default', credits: true } }],
  ['retention', { generations: { retention_days: 2 } }, { retentionMs: 2 * 24 * 60 * 60 * 1000 }],
])('a new file changes %s', (_, written, expected) => {
  const reloadable = createReloadable(FIRST, MEMORY)
  expect(reloadable.settings).not.toMatchObject(expected)
  reloadable.reload(fileOf(written))
  expect(reloadable.settings).toMatchObject(expected)
})

test.each<[string, object, object]>([
  [
    'one body of the largest size has room',
    { limits: { body_bytes_in_flight: 1024, max_body_bytes: 4096 } },
    { bodyRoom: { mostBytes: 4096 } },
  ],
  ['a provider bears what the process does', { limits: { in_flight: 9 } }, { providerInFlight: 9 }],
  ['a provider has no bound where the process has none', { limits: { in_flight: 0 } }, { providerInFlight: Number.POSITIVE_INFINITY }],
])('without a setting of its own, %s', (_, written, expected) => {
  expect(createReloadable(fileOf(written), MEMORY).settings).toMatchObject(expected)
})

test.each([
  ['the sizes of the file', 1024, 128, 128],
  ['an eighth of the memory for each', 768, 96, 96],
  ['an eighth for bodies, and one answer of the largest size', 256, 32, 64],
  ['one body and one answer of the largest size', 64, 20, 64],
])('bodies and answers together have %s in %p MiB', (_, memory, bodies, answers) => {
  const { settings } = createReloadable(FIRST, memory * MIB)
  expect([settings.bodyRoom.mostBytes / MIB, settings.answerBytes / MIB]).toEqual([bodies, answers])
})

test('a part that is built from the file is built again from each new one', () => {
  const reloadable = createReloadable(FIRST, MEMORY)
  const days = reloadable.built(({ generations }) => generations.retention_days)
  expect(days()).toBe(90)
  reloadable.reload(fileOf({ generations: { retention_days: 5 } }))
  expect(days()).toBe(5)
})

test('a part that joins after a reload is built from the newest file', () => {
  const reloadable = createReloadable(FIRST, MEMORY)
  reloadable.reload(fileOf({ generations: { retention_days: 5 } }))
  expect(reloadable.built(({ generations }) => generations.retention_days)()).toBe(5)
})

test('a file from which one part cannot be built changes nothing', () => {
  const reloadable = createReloadable(FIRST, MEMORY)
  const before = reloadable.settings
  const days = reloadable.built(({ generations }) => generations.retention_days)
  reloadable.built(({ sandbox }) => {
    if (!sandbox) throw new Error('no models')
  })
  expect(() => reloadable.reload(fileOf({ sandbox: false, generations: { retention_days: 5 }, limits: { queue: 7 } }))).toThrow('no models')
  expect([days(), reloadable.settings]).toEqual([90, before])
})
