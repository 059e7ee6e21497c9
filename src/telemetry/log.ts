/** Structured logs on stderr: JSON lines, or short lines for people. Callers pass named fields, never whole requests, headers or bodies. */
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import { createLineBuffer } from './line-buffer.ts'
import { prettyLine } from './pretty-line.ts'

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
  /** Call it before the process ends: writes what is buffered, as far as somebody reads it. */
  flush(): Promise<void>
  /** The number of lines that were not taken in time. */
  dropped(): number
}

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LEVELS)[number]

const STDERR = 2

/** The format of lines. */
export interface LogStyle {
  readonly pretty: boolean
  /** True if pretty lines have colours. */
  readonly coloured: boolean
}

const JSON_LINES: LogStyle = { pretty: false, coloured: false }

export const createLog = (level: LogLevel, clock: Clock, style: LogStyle = JSON_LINES): LogSink => {
  const destination = createLineBuffer(STDERR, clock)
  return { log: logTo(destination.write, level, clock, style), flush: destination.flush, dropped: () => destination.dropped }
}

/** `write` takes one whole line at a time. */
export const logTo = (write: (line: string) => void, level: LogLevel, clock: Clock, style: LogStyle = JSON_LINES): Log => {
  const least = LEVELS.indexOf(level)
  const at = (own: Exclude<LogLevel, 'silent'>): Write => {
    if (LEVELS.indexOf(own) < least) return () => undefined
    if (style.pretty) {
      return (fields, message) =>
        write(prettyLine({ level: own, time: isoTimestamp(clock.now()), message, fields: reported(fields) }, style.coloured))
    }
    return (fields, message) =>
      write(`{"level":"${own}","time":"${isoTimestamp(clock.now())}"${membersOf(fields)},"msg":${JSON.stringify(message)}}\n`)
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** JSON text, with a comma before each member. */
const membersOf = (fields: Fields): string => {
  const members = JSON.stringify(reported(fields)).slice(1, -1)
  return members === '' ? '' : `,${members}`
}

/** Converts thrown values to plain JSON. */
const reported = (fields: Fields): Fields => {
  const { error, cause } = fields
  if (error === undefined && cause === undefined) return fields
  return {
    ...fields,
    ...(error === undefined ? {} : { error: errorFields(error) }),
    ...(cause === undefined ? {} : { cause: errorFields(cause) }),
  }
}

/** An error's name, text, stack and causes, without the properties that libraries attach, which may contain a request. */
const errorFields = (thrown: unknown): unknown =>
  thrown instanceof Error
    ? {
        name: thrown.name,
        message: thrown.message,
        stack: thrown.stack,
        ...(thrown.cause === undefined ? {} : { cause: errorFields(thrown.cause) }),
      }
    : String(thrown)
