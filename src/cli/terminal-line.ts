import { visibleText } from '../lib/visible-text.ts'

/** One line for a terminal: a name that somebody else chose can neither break it nor steer the terminal. */
export const terminalLine = (text: string): string => visibleText(text).replaceAll(/[\n\r]+/g, ' ')
