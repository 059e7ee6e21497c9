/**
 * Entries waiting to be written to storage in batches, kept in a plain file until then. An appended entry survives
 * the process, even kill -9, and the next start writes it. It does not survive a power failure: nothing is
 * synchronised to the disk, so an entry costs one short write.
 *
 * Each process has files of its own, named after it. An entry is a line of JSON; an incomplete line does not count.
 */
import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export interface Journal {
  /** Stores the entries with one write, and returns the file that holds them. Throws the disk's error, and then holds none of them. */
  append(entries: readonly string[]): Segment
  /** Call it for each entry of this file that was written to storage. */
  written(segment: Segment): void
  /** Passes on the entries that dead processes have left, in portions, and deletes what was taken. */
  recover(write: (entries: readonly string[]) => Promise<void>): Promise<Recovered>
  close(): void
}

export interface Recovered {
  readonly entries: number
  /** Damaged lines, whose entries are lost; a line that was cut off at the end of a file is not counted. */
  readonly damaged: number
}

export interface Segment {
  readonly path: string
  readonly descriptor: number
  bytes: number
  /** Entries that are not in storage yet. */
  waiting: number
}

/** A file of this size is followed by another one, and removed once all its entries are in storage. */
const SEGMENT_BYTES = 4 * 1024 * 1024
const PORTION = 1000
const NAME = /^settlements-(\d+)-\d+\.jsonl$/

/** `isAlive` says if a process with this id runs on this machine. */
export const openJournal = (
  directory: string,
  { pid, isAlive }: { readonly pid: number; readonly isAlive: (pid: number) => boolean },
): Journal => {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  /** Files with our own process id were left by a previous process: in a container, every process has the same id. */
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
    // The file, or the whole directory, may have been deleted already; it is no longer needed.
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
        // Another process that uses this directory and started at the same time has taken it.
        if (text === null) continue
        const lines = linesOf(text)
        const entries = lines.filter(isJson)
        for (let start = 0; start < entries.length; start += PORTION) await write(entries.slice(start, start + PORTION))
        // The other process may be taking it too: an entry that is written twice counts once.
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

/** Null if the file no longer exists. */
const textOf = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw thrown
  }
}

/** Text after the last line break was cut off while it was being written. */
const linesOf = (text: string): readonly string[] => text.split('\n').slice(0, -1)

const isJson = (line: string): boolean => {
  try {
    JSON.parse(line)
    return true
  } catch {
    // The disk was full in the middle of a line: the lines around it are whole, and recovery counts this one as damaged.
    return false
  }
}
