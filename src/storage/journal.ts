/**
 * Entries that are to be written to storage in batches, kept in a plain file until they are: an entry that was appended outlives the
 * process, kill -9 included, and the next start writes it. It does not outlive a power failure: nothing is synchronised
 * to the disk for it, so an entry costs one short write.
 *
 * A process has files of its own, named after it. An entry is a line of JSON; a line that was cut is none.
 */
import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export interface Journal {
  /** Keeps the entries by one write, and answers with the file that holds them. Throws what the disk throws, and then has none of them. */
  append(entries: readonly string[]): Segment
  /** One entry of this file was written to storage. */
  written(segment: Segment): void
  /** Hands over what processes that are gone have left, in portions, and forgets what was taken. */
  recover(write: (entries: readonly string[]) => Promise<void>): Promise<Recovered>
  close(): void
}

export interface Recovered {
  readonly entries: number
  /** Lines that are damaged, and whose entries are lost; one that was cut at the end of a file is none of them. */
  readonly damaged: number
}

export interface Segment {
  readonly path: string
  readonly descriptor: number
  bytes: number
  /** Entries that are not in storage yet. */
  waiting: number
}

/** A file that has grown to this is followed by another, and removed once all of it is in storage. */
const SEGMENT_BYTES = 4 * 1024 * 1024
const PORTION = 1000
const NAME = /^settlements-(\d+)-\d+\.jsonl$/

/** `isAlive`: whether a process of this number runs on this machine. */
export const openJournal = (
  directory: string,
  { pid, isAlive }: { readonly pid: number; readonly isAlive: (pid: number) => boolean },
): Journal => {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  /** Files of a process of our own number were left by one before us: in a container every process has the same. */
  const left = readdirSync(directory).filter((name) => {
    const owner = Number(NAME.exec(name)?.[1] ?? Number.NaN)
    return owner === pid || (!Number.isNaN(owner) && !isAlive(owner))
  })
  let number = Math.max(0, ...left.map((name) => Number(name.split(/[-.]/)[2])))
  let active: Segment | null = null

  const begin = (): Segment => {
    number += 1
    const path = join(directory, `settlements-${pid}-${number}.jsonl`)
    return { path, descriptor: openSync(path, 'wx', 0o600), bytes: 0, waiting: 0 }
  }

  const remove = ({ path, descriptor }: Segment): void => {
    closeSync(descriptor)
    // Somebody may have deleted it, or the whole directory: it is no longer wanted.
    rmSync(path, { force: true })
  }

  return {
    append(entries) {
      if (active !== null && active.bytes >= SEGMENT_BYTES) {
        if (active.waiting === 0) remove(active)
        active = null
      }
      active ??= begin()
      const lines = Buffer.from(`${entries.join('\n')}\n`)
      const taken = writeSync(active.descriptor, lines, 0, lines.length, active.bytes)
      if (taken < lines.length) {
        ftruncateSync(active.descriptor, active.bytes)
        throw new Error(`The disk took ${taken} of ${lines.length} bytes of the journal.`)
      }
      active.bytes += taken
      active.waiting += entries.length
      return active
    },

    written(segment) {
      segment.waiting -= 1
      if (segment.waiting > 0) return
      if (segment !== active) return remove(segment)
      ftruncateSync(segment.descriptor, 0)
      segment.bytes = 0
    },

    async recover(write) {
      const recovered = { entries: 0, damaged: 0 }
      for (const name of left) {
        const path = join(directory, name)
        const text = textOf(path)
        // Another process of this directory, which started when we did, has taken it.
        if (text === null) continue
        const lines = linesOf(text)
        const entries = lines.filter(isJson)
        for (let start = 0; start < entries.length; start += PORTION) await write(entries.slice(start, start + PORTION))
        // Or it takes it as we do: what is written twice counts once.
        rmSync(path, { force: true })
        recovered.entries += entries.length
        recovered.damaged += lines.length - entries.length
      }
      left.length = 0
      return recovered
    },

    close() {
      if (active === null) return
      if (active.waiting === 0) remove(active)
      else closeSync(active.descriptor)
      active = null
    },
  }
}

/** Null where there is no such file any more. */
const textOf = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw thrown
  }
}

/** Text behind the last line break was cut off while it was written. */
const linesOf = (text: string): readonly string[] => text.split('\n').slice(0, -1)

const isJson = (line: string): boolean => {
  try {
    JSON.parse(line)
    return true
  } catch {
    // A disk that was full in the middle of a line: the lines around it are whole, and recovery counts this one.
    return false
  }
}
