/** Says whether amounts and large counts are shortened or whole; kept in this browser. */
import { createChoiceOf } from './choice.ts'

export const FIGURES = ['short', 'exact'] as const

export const figures = createChoiceOf('patchbay.figures', FIGURES)

export const toggleFigures = (): void => figures.set(figures.get() === 'exact' ? 'short' : 'exact')
