/**
 * Tests whether a pattern matches anywhere in a whole text, like JavaScript's own `test`: an empty
 * match counts, so `^[a-z]*$` matches the empty text.
 */
import { spend, type Work } from '../work.ts'
import { ACCEPTS, type Automaton, MOVE_SHIFT } from './automaton.ts'
import type { Classes, Program } from './compile.ts'
import type { Regex } from './finder.ts'

/** `work` limits the cost, for patterns of people who are not trusted with other people's time. Throws TooMuchWork. */
export const matches = ({ automaton }: Regex, text: string, work?: Work): boolean => {
  if (work !== undefined) spend(work, CALL_STEPS + text.length)
  return matchesPlace(automaton, text) || matchesUnits(automaton, text, work)
}

/** Steps of work: for the call itself, and for each step of the pattern that is followed when a unit leads to a new state. */
const CALL_STEPS = 200
const REACHED_STEPS = 16

const matchesUnits = (automaton: Automaton, text: string, work: Work | undefined): boolean => {
  const { classes } = automaton.program
  let row = automaton.rowOf(automaton.idle(classes.edge))
  for (let at = 0; at <= text.length; at += 1) {
    const behind = classAt(classes, text, at)
    let move = automaton.table[row + behind] as number
    if (move === 0) {
      move = automaton.build(row, behind)
      if (work !== undefined) spend(work, REACHED_STEPS * (1 + automaton.reach.reached))
    }
    if ((move & ACCEPTS) !== 0) return true
    row = move >>> MOVE_SHIFT
  }
  return false
}

/** The automaton does not report an empty match. Hardly any pattern has one. */
const matchesPlace = ({ program, reach }: Automaton, text: string): boolean => {
  if (!mayTakeNothing(program)) return false
  if (!program.hasAssertions) return true
  const { classes } = program
  const known = new Set<number>()
  let before = classes.edge
  for (let at = 0; at <= text.length; at += 1) {
    const behind = classAt(classes, text, at)
    const place = before * classes.count + behind
    if (!known.has(place)) {
      known.add(place)
      reach.begin(before, behind)
      reach.from(program.start)
      if (reach.accepted) return true
    }
    before = behind
  }
  return false
}

const classAt = ({ ascii, edge, of }: Classes, text: string, at: number): number => {
  if (at === text.length) return edge
  const unit = text.charCodeAt(at)
  return unit < 128 ? (ascii[unit] as number) : of(unit)
}

/** True if the end can be reached through assertions alone. */
const mayTakeNothing = ({ steps, start }: Program): boolean => {
  const seen = new Set<number>()
  const stack = [start]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const step = steps[at]
    if (step === undefined || seen.has(at) || step.op === 'take' || step.op === 'fork') continue
    if (step.op === 'accept') return true
    seen.add(at)
    stack.push(...(step.op === 'split' ? step.next : [step.next]))
  }
  return false
}
