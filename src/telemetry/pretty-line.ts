/** A log line for people at a terminal: the time, the level, the message, and then the fields. */
interface LogEntry {
  readonly level: keyof typeof COLOURS
  /** ISO 8601. */
  readonly time: string
  readonly message: string
  /** Plain JSON. */
  readonly fields: Readonly<Record<string, unknown>>
}

const COLOURS = { debug: 2, info: 32, warn: 33, error: 31 } as const
const DIM = 2

/** Longer values are cut, so that a line can be read at a glance. */
const VALUE_MAX = 120

/** Ends with a line break. `coloured` adds terminal escapes. */
export const prettyLine = ({ level, time, message, fields }: LogEntry, coloured: boolean): string => {
  const paint = (text: string, colour: number): string => (coloured ? `\u001b[${colour}m${text}\u001b[0m` : text)
  const { error, cause, ...plain } = fields
  const reported = Object.entries(plain)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${paint(`${name}=`, DIM)}${shown(value)}`)
  const head = [paint(time.slice(11, 19), DIM), paint(level.padEnd(5), COLOURS[level]), printable(message), ...reported].join(' ')
  const faults = [error, cause].filter((fault) => fault !== undefined).map((fault) => `\n  ${paint(faultText(fault), COLOURS[level])}`)
  return `${head}${faults.join('')}\n`
}

const shown = (value: unknown): string => {
  const text = printable(typeof value === 'string' ? value : JSON.stringify(value))
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text
}

/** A fault's name and message, with those of its causes; the first lines of the stack show where it arose. */
const faultText = (fault: unknown): string => {
  if (typeof fault !== 'object' || fault === null) return shown(fault)
  const { name, message, stack, cause } = fault as { name?: unknown; message?: unknown; stack?: unknown; cause?: unknown }
  const frames = typeof stack === 'string' ? stack.split('\n').filter((line) => /^\s+at /.test(line)) : []
  const sentence = `${String(name)}: ${String(message)}`
  const where = frames.slice(0, STACK_LINES).map((line) => `\n    ${printable(line.trim())}`)
  return `${printable(sentence)}${where.join('')}${cause === undefined ? '' : `\n  because ${faultText(cause)}`}`
}

const STACK_LINES = 4

/** Text from others must neither move the terminal's cursor nor begin a line of its own. */
const printable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (mark) => `\\u${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`)
