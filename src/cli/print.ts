/** Prints one line of a command's result, for programs and people. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`)
