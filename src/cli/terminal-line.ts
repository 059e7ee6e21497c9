import { visibleText } from '../lib/text/visible-text.ts'

/** One line for a terminal: a name that somebody else chose can neither break the line nor control the terminal. */
export const terminalLine = (text: string): string => visibleText(text).replaceAll(/[\n\r]+/g, ' ')
