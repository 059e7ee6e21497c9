/** Structured logs as JSON lines on stderr. Callers pass named fields, never whole requests, headers or bodies. */
import { pino, type Logger } from 'pino'

import type { Clock } from '../lib/clock.ts'
import { createLineBuffer } from './line-buffer.ts'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>

export interface LogSink {
  readonly log: Log
  /** Writes what is buffered: before the process ends. */
  flush(): void
  /** Lines that nobody took in time. */
  dropped(): number
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

const STDERR = 2

export const createLog = (level: LogLevel, clock: Clock): LogSink => {
  const destination = createLineBuffer(STDERR, clock)
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
  return { log, flush: destination.flushSync, dropped: () => destination.dropped }
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
