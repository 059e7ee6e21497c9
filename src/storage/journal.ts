/**
 * Entries waiting to be written to storage in batches, kept in a plain file until then. An appended entry survives
 * the process, even kill -9, and the next start writes it. It does not survive a power failure: nothing is
 * synchronised to the disk, so an entry costs one short write.
 *
 * Each process has files of its own, named after it. An entry is a line of JSON.
 */
import { closeSync, existsSync, ftruncateSync, readdirSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

import { makePrivateDirectory, openPrivateFile } from '../lib/private-file.ts'
import { StorageConflict, StorageUnavailable } from './storage-errors.ts'
import { jsonIn } from '../lib/json/json.ts'

export interface Journal {
  /** Stores the entries with one write, and returns the file that holds them. Throws the disk's error, and then holds none of them. */
  append(entries: readonly string[]): Segment
  /** Call it for each entry of this file that was written to storage. */
  written(segment: Segment): void
  /**
   * Passes on the entries that dead processes have left, in portions, and deletes what was taken. `write` takes all entries of a portion
   * or none. Throws its StorageUnavailable and StorageConflict: the rest is then passed on at the next start.
   */
  recover(write: Write): Promise<Recovered>
  close(): void
}

type Write = (entries: readonly string[]) => Promise<void>

export interface Recovered {
  readonly entries: number
  /** Lines that are no entries, or that storage refuses. */
  readonly damaged: number
  /** The files with damaged lines, which are kept under these names, and never read again. */
  readonly kept: readonly string[]
  /** One for each file that cannot be read, or of which storage refuses every line. The file stays for the next start. */
  readonly faults: readonly unknown[]
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
const NUMBERED = /^settlements-\d+-(\d+)\.jsonl/

/** `isAlive` says if a process with this id runs on this machine. */
export const openJournal = (
  directory: string,
  { pid, isAlive }: { readonly pid: number; readonly isAlive: (pid: number) => boolean },
): Journal => {
  makePrivateDirectory(directory)
  const names = readdirSync(directory)
  /** Files with our own process id were left by a previous process: in a container, every process has the same id. */
  const left = names.filter((name) => {
    const owner = Number(NAME.exec(name)?.[1] ?? Number.NaN)
    return owner === pid || (!Number.isNaN(owner) && !isAlive(owner))
  })
  // A file that was kept for its damaged lines has its number too.
  let number = Math.max(0, ...names.map((name) => Number(NUMBERED.exec(name)?.[1] ?? 0)))
  let active: Segment | null = null

  const begin = (): Segment => {
    number += 1
    const path = join(directory, `settlements-${pid}-${number}.jsonl`)
    return { path, descriptor: openPrivateFile(path, directory), bytes: 0, waiting: 0 }
  }

  const remove = ({ path, descriptor }: Segment): void => {
    closeSync(descriptor)
    // The file, or the whole directory, may have been deleted already; it is no longer needed.
    rmSync(path, { force: true })
  }

  return {
    append(entries) {
      // It has entries that wait: one without any is empty.
      if (active !== null && active.bytes >= SEGMENT_BYTES) active = null
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
      const recovered = { entries: 0, damaged: 0, kept: [] as string[], faults: [] as unknown[] }
      for (const name of left) {
        const path = join(directory, name)
        const text = textOf(path)
        // Another process that uses this directory and started at the same time has taken it.
        if (text === null) continue
        if (text instanceof Error) {
          recovered.faults.push(text)
          continue
        }
        const lines = linesOf(text)
        const entries = lines.filter(isJson)
        const refusals: unknown[] = []
        for (let start = 0; start < entries.length; start += PORTION) {
          refusals.push(...(await writeAll(entries.slice(start, start + PORTION), write)))
        }
        // The fault may be that of storage.
        if (refusals.length > 0 && refusals.length === entries.length) {
          recovered.faults.push(refusals[0])
          continue
        }
        const written = entries.length - refusals.length
        // The other process may be taking it too: an entry that is written twice counts once.
        if (written === lines.length) rmSync(path, { force: true })
        else recovered.kept.push(setAside(path))
        recovered.entries += written
        recovered.damaged += lines.length - written
      }
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

/** Null if the file no longer exists; the error of a file that cannot be read, so that it does not keep the others from being taken. */
const textOf = (path: string): string | Error | null => {
  try {
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown
    return (thrown as NodeJS.ErrnoException).code === 'ENOENT' ? null : thrown
  }
}

/** Text after the last line break is a line too: a crash of the machine cuts lines off, or leaves zeroes in their place. */
const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '')

const isJson = (line: string): boolean => jsonIn(line) !== undefined

/** Writes all entries that storage accepts, and returns the errors of the others, one for each. */
const writeAll = async (entries: readonly string[], write: Write): Promise<readonly unknown[]> => {
  try {
    await write(entries)
    return []
  } catch (thrown) {
    if (thrown instanceof StorageUnavailable || thrown instanceof StorageConflict) throw thrown
    if (entries.length === 1) return [thrown]
    const middle = Math.ceil(entries.length / 2)
    return [...(await writeAll(entries.slice(0, middle), write)), ...(await writeAll(entries.slice(middle), write))]
  }
}

/** The other process may have done the same. */
const setAside = (path: string): string => {
  const kept = `${path}.damaged`
  if (existsSync(path)) renameSync(path, kept)
  return kept
}
