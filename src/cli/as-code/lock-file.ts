/**
 * The last common state of the files and the service: the base of every three-way comparison. It
 * contains no secret and belongs in version control.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { z } from 'zod'

import { SettingError } from '../../config.ts'
import { replaceFile } from '../../lib/replace-file.ts'
import type { Document } from './document.ts'
import { KIND_NAMES, type KindName } from './kind.ts'

const LOCK_FILE = '.patchbay-lock.json'

const lockSchema = z.strictObject({
  about: z.string(),
  url: z.string(),
  kinds: z.array(z.enum(KIND_NAMES)),
  bases: z.record(z.string(), z.record(z.string(), z.json())),
})

export interface Lock {
  /** The service to which the bases belong. */
  readonly url: string
  readonly kinds: readonly KindName[]
  /** By kind and identity: `presets/support-bot`. */
  readonly bases: ReadonlyMap<string, Document>
}

const ABOUT = 'Written by patchbay: what the files and the service had in common. Keep it in version control.'

/** Null if the directory was never pulled. Throws SettingError. */
export const readLock = (directory: string): Lock | null => {
  const path = join(directory, LOCK_FILE)
  if (!existsSync(path)) return null
  try {
    const { url, kinds, bases } = lockSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
    return { url, kinds, bases: new Map(Object.entries(bases)) }
  } catch {
    throw new SettingError(`${path}: this is no lock file of patchbay; take it from version control, or delete it and pull.`)
  }
}

export const writeLock = (directory: string, { url, kinds, bases }: Lock): void => {
  const sorted = Object.fromEntries([...bases].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  const text = `${JSON.stringify({ about: ABOUT, url, kinds, bases: sorted }, null, 2)}\n`
  const path = join(directory, LOCK_FILE)
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) replaceFile(path, text)
}
