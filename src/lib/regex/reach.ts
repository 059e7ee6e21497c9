/** The steps that others of a program lead to without taking a unit. Its memory is made once, and begun anew for each use. */
import type { Program } from './compile.ts'

export interface Reach {
  /** Between units of these classes. */
  begin(before: number, behind: number): void
  /** Follows everything that takes no unit. */
  from(step: number): void
  readonly accepted: boolean
  /** How many steps that take a unit were reached. */
  readonly reached: number
  /** The steps behind those of them that take one of the class, each once; `skip`: without so many that were asked for before. */
  taken(behind: number, skip?: number): number[]
}

export const createReach = ({ steps, classes }: Program): Reach => {
  const seen = new Uint32Array(steps.length)
  const queued = new Uint32Array(steps.length)
  let turn = 0
  let place = 0
  let accepted = false
  let takers: number[] = []
  const stack: number[] = []
  return {
    begin(before, behind) {
      turn = (turn + 1) >>> 0
      if (turn === 0) {
        seen.fill(0)
        queued.fill(0)
        turn = 1
      }
      place = before * classes.count + behind
      accepted = false
      takers = []
    },
    from(first) {
      stack.push(first)
      while (stack.length > 0) {
        const at = stack.pop() ?? 0
        if (seen[at] === turn) continue
        seen[at] = turn
        const step = steps[at]
        if (step === undefined) continue
        if (step.op === 'take') takers.push(at)
        else if (step.op === 'accept') accepted = true
        else if (step.op === 'split') stack.push(...step.next)
        else if (step.holds[place] === 1) stack.push(step.next)
      }
    },
    get accepted() {
      return accepted
    },
    get reached() {
      return takers.length
    },
    taken(behind, skip = 0) {
      const next: number[] = []
      for (let at = skip; at < takers.length; at += 1) {
        const step = steps[takers[at] ?? 0]
        if (step?.op !== 'take' || step.classes[behind] !== 1 || queued[step.next] === turn) continue
        queued[step.next] = turn
        next.push(step.next)
      }
      return next
    },
  }
}
