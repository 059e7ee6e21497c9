/** Structured logs as JSON lines on stderr. Callers pass named fields, never whole requests, headers or bodies. */
import { pino, type Logger } from 'pino'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>

export interface LogSink {
  readonly log: Log
  /** Writes what is buffered: before the process ends. */
  flush(): void
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Lines are gathered up to this size, and written at least once a second: a write for each request costs more than the request's line. */
const BUFFER_BYTES = 8 * 1024
const STDERR = 2

export const createLog = (level: LogLevel): LogSink => {
  const destination = pino.destination({
    dest: STDERR,
    sync: false,
    minLength: BUFFER_BYTES,
    maxLength: 512 * BUFFER_BYTES,
    periodicFlush: 500,
  })
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: errorFields, cause: errorFields },
    },
    destination,
  )
  return { log, flush: () => destination.flushSync() }
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
