/** Whether any of many patterns matches a text: one pass for all of them, so that the text in which none does costs next to nothing. */
import { ACCEPTS, Automaton, MOVE_SHIFT } from './automaton.ts'
import { compileAny } from './compile.ts'
import type { Regex } from './finder.ts'

/**
 * A text for which the table begins anew more than once, and again for so many units, leads through more states than it is
 * long: for such a text the first look costs more than it saves.
 */
const UNITS_FOR_CLEARING = 100_000

/** `true` may be wrong, for a text that is too many-sided for one table; `false` never is. */
export const createAnyMatch = (regexes: readonly Regex[]): ((text: string) => boolean) => {
  if (regexes.length === 0) return () => false
  const automaton = new Automaton(compileAny(regexes.map(({ node }) => node)))
  const { ascii, edge, of } = automaton.program.classes
  return (text) => {
    let row = automaton.rowOf(automaton.idle(edge))
    let { table } = automaton
    const clearings = automaton.clearings + 1
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at)
      const behind = unit < 128 ? (ascii[unit] as number) : of(unit)
      let move = table[row + behind] as number
      if (move === 0) {
        if (automaton.clearings > clearings + at / UNITS_FOR_CLEARING) return true
        move = automaton.build(row, behind)
        ;({ table } = automaton)
      }
      if ((move & ACCEPTS) !== 0) return true
      row = move >>> MOVE_SHIFT
    }
    return ((table[row + edge] || automaton.build(row, edge)) & ACCEPTS) !== 0
  }
}
