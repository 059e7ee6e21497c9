import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

import { expect, test } from 'bun:test'

const kit = join(import.meta.dir, 'out-of-files.test-kit.ts')

test('where no file is left, an address and a name fail alike: try again, and no provider is at fault', () => {
  const { stdout, stderr } = spawnSync('sh', ['-c', 'ulimit -n 64; exec "$0" "$1"', process.execPath, kit], { encoding: 'utf8' })
  expect(stderr).toBe('')
  const unreachable = { type: 'provider_unavailable', retry: null, isLack: false }
  const lack = { type: 'provider_overloaded', retry: 1, isLack: true }
  expect(JSON.parse(stdout)).toEqual({
    before: [unreachable, unreachable, unreachable, { type: 'UnsafeRequest' }],
    after: [lack, lack, lack, lack],
  })
}, 300_000)
