/**
 * Reads an untrusted document in a process of its own, with limits on time, memory and text. Failures there are
 * returned as values and disturb nothing else (decisions/0048).
 */
import { readFileSync } from 'node:fs'

import type { Clock } from '../clock.ts'
import { entryPoint } from '../entry-points.ts'
import type { DocumentAnswer, DocumentJob } from './document-job.ts'
import { jsonIn } from '../json/json.ts'

export type ReadAnswer = DocumentAnswer | { readonly fault: 'too_slow' | 'too_large' | 'broken' }

export interface ReadLimits {
  readonly timeoutMs: number
  /** The holder on whose behalf it is read, so that one holder cannot take every place. Absent: no holder in particular. */
  readonly holder?: string
  /** Stops the read: the answer is then `too_slow`. */
  readonly signal?: AbortSignal | undefined
}

export type ReadDocument = (job: DocumentJob, bytes: Uint8Array, limits: ReadLimits) => Promise<ReadAnswer>

export interface DocumentReaderParts {
  readonly clock: Clock
  /** The program that reads; by default our own. */
  readonly program?: string
  readonly maxResidentBytes?: number
}

/** Processes at once: each keeps a core busy. */
const PARALLEL = 4
/** Processes at once for one holder, whose documents may all take the whole time limit. */
const PARALLEL_EACH = 3
const WAITING_MAX = 64
const WAITING_EACH = 32
const RESIDENT_MAX = 768 * 1024 * 1024
const POLL_MS = 50
/** Escaped in JSON, a text may be up to six times as long. */
const ANSWER_BYTES_PER_CHARACTER = 6

export const createReadDocument = ({
  clock,
  program = entryPoint('lib/documents/document-process.ts'),
  maxResidentBytes = RESIDENT_MAX,
}: DocumentReaderParts): ReadDocument => {
  const waiting: Waiting[] = []
  const running = new Map<string | undefined, number>()
  let places = PARALLEL

  const mayBegin = (holder: string | undefined): boolean =>
    places > 0 && (holder === undefined || (running.get(holder) ?? 0) < PARALLEL_EACH)

  const begin = (holder: string | undefined): void => {
    places -= 1
    running.set(holder, (running.get(holder) ?? 0) + 1)
  }

  /** Resolves with true when it is this holder's turn, or with false if time ran out first or too many are waiting. */
  const turn = async (holder: string | undefined, late: Promise<unknown>): Promise<boolean> => {
    if (mayBegin(holder)) {
      begin(holder)
      return true
    }
    const own = holder === undefined ? 0 : waiting.filter((one) => one.holder === holder).length
    if (waiting.length >= WAITING_MAX || own >= WAITING_EACH) return false
    const { promise, resolve } = Promise.withResolvers<true>()
    const mine: Waiting = { holder, start: () => resolve(true) }
    waiting.push(mine)
    const isMine = await Promise.race([promise, late.then(() => false)])
    if (isMine) return true
    const at = waiting.indexOf(mine)
    // If the turn came meanwhile, it is passed on to the next one.
    if (at === -1) done(holder)
    else waiting.splice(at, 1)
    return false
  }
  const done = (holder: string | undefined): void => {
    places += 1
    const left = (running.get(holder) ?? 0) - 1
    if (left > 0) running.set(holder, left)
    else running.delete(holder)
    const at = waiting.findIndex((one) => mayBegin(one.holder))
    const [next] = at < 0 ? [] : waiting.splice(at, 1)
    if (next === undefined) return
    begin(next.holder)
    next.start()
  }

  return async (job, bytes, { timeoutMs, holder, signal }) => {
    const { promise: late, resolve: end } = Promise.withResolvers<void>()
    const cancel = clock.after(timeoutMs, end)
    const leave = (): void => end()
    if (signal?.aborted === true) leave()
    signal?.addEventListener('abort', leave, { once: true })
    try {
      if (!(await turn(holder, late))) return { fault: 'too_slow' }
      try {
        return await ask(job, bytes, late, { clock, program, maxResidentBytes })
      } finally {
        done(holder)
      }
    } finally {
      cancel()
      signal?.removeEventListener('abort', leave)
    }
  }
}

interface Waiting {
  readonly holder: string | undefined
  readonly start: () => void
}

const ask = (job: DocumentJob, bytes: Uint8Array, late: Promise<void>, parts: Required<DocumentReaderParts>): Promise<ReadAnswer> =>
  new Promise((resolve) => {
    // The process gets neither keys nor settings: it has no environment, and it finds no `.env` in its working directory.
    const child = process.getBuiltinModule('node:child_process').spawn(process.execPath, [parts.program, JSON.stringify(job)], {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    let cancelPoll = (): void => {}
    let fault: 'too_slow' | 'too_large' | 'broken' = 'broken'
    const pieces: Buffer[] = []
    let length = 0

    const kill = (why: typeof fault): void => {
      fault = why
      child.kill('SIGKILL')
    }
    const look = (): void => {
      if (residentBytes(child.pid) > parts.maxResidentBytes) kill('too_large')
      else cancelPoll = parts.clock.after(POLL_MS, look)
    }
    cancelPoll = parts.clock.after(POLL_MS, look)
    void late.then(() => kill('too_slow'))
    child.stdout.on('data', (piece: Buffer) => {
      length += piece.byteLength
      if (length > job.maxCharacters * ANSWER_BYTES_PER_CHARACTER + 4096) kill('too_large')
      else pieces.push(piece)
    })
    // A process that ends before it has read everything closes the pipe: its exit code says why.
    child.stdin.on('error', () => {})
    child.once('error', () => resolve({ fault }))
    child.once('close', (code) => {
      cancelPoll()
      resolve((code === 0 ? answerIn(Buffer.concat(pieces).toString('utf8')) : null) ?? { fault })
    })
    child.stdin.end(bytes)
  })

/** Null if a parser printed something before the answer, or died while writing it. */
const answerIn = (said: string): DocumentAnswer | null => (jsonIn(said) ?? null) as DocumentAnswer | null

/** Zero for a process that has ended, and on systems that do not report it: there only time is bounded. */
const residentBytes = (pid: number | undefined): number => {
  try {
    const [, kilobytes = '0'] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? []
    return Number(kilobytes) * 1024
  } catch {
    return 0
  }
}
