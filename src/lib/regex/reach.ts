/** Collects the steps that are reached from other steps without taking a unit. Its memory is allocated once and reused. */
import { holdsClass, type Program, type Step } from './compile.ts'

export interface Reach {
  /** Starts anew, between units of these classes. */
  begin(before: number, behind: number): void
  /** Follows all steps from `step` that take no unit. */
  from(step: number): void
  readonly accepted: boolean
  readonly asks: boolean
  /** How many steps that take a unit were reached. */
  readonly reached: number
  /**
   * The steps that follow those reached steps that take a unit of the class, each once. `skip` leaves out that
   * many of the reached steps, which were asked for before.
   */
  taken(behind: number, skip?: number): number[]
}

export const createReach = ({ steps }: Program): Reach => {
  const seen = new Uint32Array(steps.length)
  const queued = new Uint32Array(steps.length)
  let turn = 0
  let around: readonly [before: number, behind: number] = [0, 0]
  let accepted = false
  let asks = false
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
      around = [before, behind]
      accepted = false
      asks = false
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
        if (step.op === 'take' || step.op === 'fork') takers.push(at)
        else if (step.op === 'accept') {
          asks ||= step.asks
          accepted ||= !step.asks
        } else if (step.op === 'split') for (const next of step.next) stack.push(next)
        else if (step.holds(...around)) stack.push(step.next)
      }
    },
    get accepted() {
      return accepted
    },
    get asks() {
      return asks
    },
    get reached() {
      return takers.length
    },
    taken(behind, skip = 0) {
      const next: number[] = []
      for (let at = skip; at < takers.length; at += 1) {
        const leadsTo = behindUnit(steps[takers[at] ?? 0], behind)
        if (leadsTo === undefined || queued[leadsTo] === turn) continue
        queued[leadsTo] = turn
        next.push(leadsTo)
      }
      return next
    },
  }
}

const behindUnit = (step: Step | undefined, of: number): number | undefined => {
  if (step?.op === 'fork') return step.next.get(of)
  return step?.op === 'take' && holdsClass(step.classes, of) ? step.next : undefined
}
