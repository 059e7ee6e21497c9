/** Says whether amounts and large counts are shortened or whole; kept in this browser. */
import { createChoice } from './choice.ts'

export const FIGURES = ['short', 'exact'] as const
export type FigureLook = (typeof FIGURES)[number]

export const figures = createChoice<FigureLook>('patchbay.figures', (kept) => FIGURES.find((one) => one === kept) ?? 'short', String)

export const toggleFigures = (): void => figures.set(figures.get() === 'exact' ? 'short' : 'exact')
