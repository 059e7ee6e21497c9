/**
 * `npm run fuzz -- --inputs 1000000 [--seed 7] [--from 0] [--target "json body"]`: hostile input for every parser. `--inputs` are
 * shared out among the targets; `--from` goes on where an earlier run with the same seed stopped. Exit code 1 with the first failure.
 */
import { parseArgs } from 'node:util'

import { fuzzOne } from './fuzz.ts'
import { TARGETS } from './targets.ts'

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    from: { type: 'string', default: '0' },
    target: { type: 'string' },
  },
})
const [inputs, seed, from] = [Number(values.inputs), Number(values.seed), Number(values.from)]
const chosen = Object.entries(TARGETS).filter(([name]) => values.target === undefined || name === values.target)
if (chosen.length === 0)
  throw new Error(`There is no target ${JSON.stringify(values.target)}; there are ${Object.keys(TARGETS).join(', ')}.`)

const shares = chosen.reduce((sum, [, { share }]) => sum + share, 0)
const countOf = (share: number, of: number): number => Math.ceil((share / shares) * of)
const ROUNDS = 20

console.log(`seed ${seed}, ${inputs} inputs from ${from} on`)
for (let round = 0; round < ROUNDS; round += 1) {
  const [begin, end] = [from + (inputs * round) / ROUNDS, from + (inputs * (round + 1)) / ROUNDS]
  for (const [name, target] of chosen) {
    for (let number = countOf(target.share, begin); number < countOf(target.share, end); number += 1) {
      const failure = await fuzzOne(name, target, seed, number)
      if (failure === null) continue
      console.log(`FAIL  ${failure.target}, input ${failure.number}: ${failure.why}\n${failure.input}`)
      console.log(`again: npm run fuzz -- --seed ${seed} --target ${JSON.stringify(name)} --inputs 1 --from ${failure.number}`)
      process.exit(1)
    }
  }
  console.log(`${Math.round(((round + 1) / ROUNDS) * 100)} %`)
}
for (const [name, { share }] of chosen) console.log(`fine  ${name}: ${countOf(share, from + inputs) - countOf(share, from)} inputs`)
