/** One line of what a command answers, for programs and people. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`)
