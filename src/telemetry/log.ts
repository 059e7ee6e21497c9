/** Structured logs as JSON lines on stderr. Callers pass named fields, never whole requests, headers or bodies. */
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import { createLineBuffer } from './line-buffer.ts'

/** By name; `error` and `cause` may be anything that was thrown, all others are plain JSON. */
type Fields = Readonly<Record<string, unknown>>
type Write = (fields: Fields, message: string) => void

export interface Log {
  readonly debug: Write
  readonly info: Write
  readonly warn: Write
  readonly error: Write
}

export interface LogSink {
  readonly log: Log
  /** Writes what is buffered, as far as somebody reads it: before the process ends. */
  flush(): Promise<void>
  /** Lines that nobody took in time. */
  dropped(): number
}

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LEVELS)[number]

const STDERR = 2

export const createLog = (level: LogLevel, clock: Clock): LogSink => {
  const destination = createLineBuffer(STDERR, clock)
  return { log: logTo(destination.write, level, clock), flush: destination.flush, dropped: () => destination.dropped }
}

/** `write` takes one whole line at a time. */
export const logTo = (write: (line: string) => void, level: LogLevel, clock: Clock): Log => {
  const least = LEVELS.indexOf(level)
  const at = (own: Exclude<LogLevel, 'silent'>): Write =>
    LEVELS.indexOf(own) < least
      ? () => undefined
      : (fields, message) =>
          write(`{"level":"${own}","time":"${isoTimestamp(clock.now())}"${membersOf(fields)},"msg":${JSON.stringify(message)}}\n`)
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** As JSON text, each behind a comma. */
const membersOf = (fields: Fields): string => {
  const { error, cause } = fields
  const plain =
    error === undefined && cause === undefined
      ? fields
      : {
          ...fields,
          ...(error === undefined ? {} : { error: errorFields(error) }),
          ...(cause === undefined ? {} : { cause: errorFields(cause) }),
        }
  const members = JSON.stringify(plain).slice(1, -1)
  return members === '' ? '' : `,${members}`
}

/** An error's name, text, stack and causes; not the properties that libraries hang on it, which may hold a request. */
const errorFields = (thrown: unknown): unknown =>
  thrown instanceof Error
    ? {
        name: thrown.name,
        message: thrown.message,
        stack: thrown.stack,
        ...(thrown.cause === undefined ? {} : { cause: errorFields(thrown.cause) }),
      }
    : String(thrown)
