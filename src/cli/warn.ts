/** For the person at the terminal, beside what a script reads. */
export const warn = (sentence: string): void => void process.stderr.write(`patchbay: ${sentence}\n`)
