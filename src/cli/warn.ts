/** Writes a warning for the person at the terminal; scripts read stdout. */
export const warn = (sentence: string): void => void process.stderr.write(`patchbay: ${sentence}\n`)
