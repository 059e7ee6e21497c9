/** The short version of `npm run fuzz`: the same seed each time, so that a failure is a change. */
import { expect, test } from 'bun:test'

import { fuzzOne } from './fuzz.ts'
import { TARGETS } from './targets.ts'

const INPUTS = 30_000
const SEED = 20_261_122

test.each(Object.entries(TARGETS))('%s: no crash, no step above 20 ms of CPU, and in pieces the same as whole', async (name, target) => {
  for (let number = 0; number < Math.max(5, INPUTS * target.share); number += 1) {
    expect(await fuzzOne(name, target, SEED, number)).toBeNull()
  }
})
