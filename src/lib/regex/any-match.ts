/** Tests whether any of many patterns matches a text, in one pass for all of them, so that text without a match costs next to nothing. */
import { ACCEPTS, Automaton, MOVE_SHIFT } from './automaton.ts'
import { compileAny } from './compile.ts'
import type { Regex } from './finder.ts'

/**
 * If a text clears the table more than once, and again for each further run of this many units, it leads through more states than it is
 * long: for such a text the first pass costs more than it saves.
 */
const UNITS_FOR_CLEARING = 100_000

/** The match of one text. `true` may be wrong if a text needs too many states for one table; `false` is never wrong. */
export interface Matcher {
  /** Takes more text; returns true if something has matched. */
  push(text: string): boolean
  /** Returns true if something has matched, or matches because the text ends here. */
  end(): boolean
}

export const createAnyMatch = (regexes: readonly Regex[]): (() => Matcher) => {
  if (regexes.length === 0) return () => ({ push: () => false, end: () => false })
  const automaton = new Automaton(compileAny(regexes.map(({ node }) => node)))
  const { ascii, edge, of } = automaton.program.classes
  return () => {
    let state = automaton.idle(edge)
    let row = automaton.rowOf(state)
    /** Other matchers share the table: if it was cleared since, the row belongs to another state. */
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
