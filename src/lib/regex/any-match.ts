/** Says whether any of many patterns matches a text: one pass for all of them, so that the text in which none does costs next to nothing. */
import { ACCEPTS, Automaton, MOVE_SHIFT } from './automaton.ts'
import { compileAny } from './compile.ts'
import type { Regex } from './finder.ts'

/**
 * A text for which the table begins anew more than once, and again for so many units, leads through more states than it is
 * long: for such a text the first pass costs more than it saves.
 */
const UNITS_FOR_CLEARING = 100_000

/** One text on its way: `true` may be wrong, for a text that is too many-sided for one table; `false` never is. */
export interface Matcher {
  /** Says whether something has matched. */
  push(text: string): boolean
  /** Says whether something has, or does if the text ends here. */
  end(): boolean
}

export const createAnyMatch = (regexes: readonly Regex[]): (() => Matcher) => {
  if (regexes.length === 0) return () => ({ push: () => false, end: () => false })
  const automaton = new Automaton(compileAny(regexes.map(({ node }) => node)))
  const { ascii, edge, of } = automaton.program.classes
  return () => {
    let state = automaton.idle(edge)
    let row = automaton.rowOf(state)
    /** Others read with the same table: where it began anew since, the row is another state's. */
    let { clearings } = automaton
    let cleared = 0
    let length = 0
    let matched = false
    const resume = (): void => {
      if (automaton.clearings !== clearings) row = automaton.rowOf(state)
      ;({ clearings } = automaton)
    }
    return {
      push(text) {
        if (matched) return true
        resume()
        const before = clearings
        let { table } = automaton
        for (let at = 0; at < text.length; at += 1) {
          const unit = text.charCodeAt(at)
          const behind = unit < 128 ? (ascii[unit] as number) : of(unit)
          let move = table[row + behind] as number
          if (move === 0) {
            if (cleared + automaton.clearings - before > 1 + (length + at) / UNITS_FOR_CLEARING) return (matched = true)
            move = automaton.build(row, behind)
            ;({ table } = automaton)
          }
          if ((move & ACCEPTS) !== 0) return (matched = true)
          row = move >>> MOVE_SHIFT
        }
        length += text.length
        cleared += automaton.clearings - before
        ;({ clearings } = automaton)
        state = automaton.stateOf(row)
        return false
      },
      end() {
        if (matched) return true
        resume()
        return ((automaton.table[row + edge] || automaton.build(row, edge)) & ACCEPTS) !== 0
      },
    }
  }
}

export const foundIn = (openMatcher: () => Matcher, text: string): boolean => {
  const one = openMatcher()
  return one.push(text) || one.end()
}
