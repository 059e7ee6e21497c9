/** Who stays with a version of a rollout (docs/contract/presets.md#rollouts). */
import { describe, expect, test } from 'bun:test'

import type { Sticky } from '../../contract/rollout.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import type { ServedPreset } from '../../presets/presets.ts'
import { drawVersion } from './draw-version.ts'
import type { Received } from '../request.ts'

const TIMES = Array.from({ length: 40 }, (_, at) => at)

interface Caller {
  readonly hash?: string
  readonly workspaceId?: string
  readonly externalUser?: string | null
}

/** The versions that 40 requests with the same body get. */
const drawn = (sticky: Sticky, body: object, { hash = 'hash', workspaceId = 'w', externalUser = null }: Caller = {}): readonly number[] =>
  TIMES.map((time) => {
    const versions = new Map([1, 2].map((version) => [version, { version }]))
    const segments = [
      { end: 500_000, version: 1 },
      { end: 1_000_000, version: 2 },
    ]
    const served = { preset: { id: 'preset' }, version: { version: 1 }, rollout: { id: 'rollout', sticky, segments, versions } }
    const received = { principal: { hash, workspaceId, externalUser }, requestId: `req-${time}` }
    return drawVersion(served as unknown as ServedPreset, received as Received, JsonBody.read(JSON.stringify(body))).version.version
  })

const stays = (versions: readonly number[]): boolean => new Set(versions).size === 1

describe('who stays with a version', () => {
  test.each<[Sticky, object, Caller, boolean]>([
    ['session', { session_id: 's' }, {}, true],
    ['session', { session_id: '', user: 'u' }, { externalUser: 'u' }, false],
    ['user', { user: 'u' }, {}, true],
    ['user', { safety_identifier: 'u' }, {}, true],
    ['user', { metadata: { user_id: 'u' } }, {}, true],
    ['user', {}, { externalUser: 'u' }, true],
    ['user', { user: '', safety_identifier: null, metadata: { user_id: '' }, session_id: 's' }, {}, false],
    ['user', { metadata: { user_id: 7 } }, {}, false],
    ['user', { metadata: ['u'] }, {}, false],
    ['key', {}, {}, true],
    ['none', { session_id: 's', user: 'u' }, { externalUser: 'u' }, false],
  ])('sticky %s, %j, by %j: %p', (sticky, body, caller, expected) => {
    expect(stays(drawn(sticky, body, caller))).toBe(expected)
  })
})

const first = (sticky: Sticky, body: object, caller?: Caller): number | undefined => drawn(sticky, body, caller)[0]

test('a user has one version, whichever field names them; of several fields the first counts', () => {
  for (const at of TIMES) {
    const [name, other] = [`user-${at}`, `other-${at}`]
    const version = first('user', { user: name })
    expect([
      first('user', { safety_identifier: name }),
      first('user', { metadata: { user_id: name } }),
      first('user', {}, { externalUser: name }),
      first('user', { user: name, safety_identifier: other, metadata: { user_id: other } }, { externalUser: other }),
      first('user', { safety_identifier: name, metadata: { user_id: other } }, { externalUser: other }),
      first('user', { metadata: { user_id: name } }, { externalUser: other }),
    ]).toEqual(TIMES.slice(0, 6).map(() => version as number))
  }
})

test.each<[string, (name: string) => [Sticky, object, Caller], (name: string) => [Sticky, object, Caller]]>([
  ['users of two workspaces', (user) => ['user', { user }, {}], (user) => ['user', { user }, { workspaceId: 'v' }]],
  ['a user and a session of one name', (name) => ['user', { user: name }, {}], (name) => ['session', { session_id: name }, {}]],
  ['two keys', (name) => ['key', {}, { hash: name }], (name) => ['key', {}, { hash: `${name}-2` }]],
])('%s are drawn apart', (_, one, other) => {
  const names = TIMES.map((at) => `name-${at}`)
  expect(names.map((name) => first(...one(name)))).not.toEqual(names.map((name) => first(...other(name))))
})
