/** The files of a directory, by kind and identity. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'

import { ZodError } from 'zod'

import { SettingError } from '../../config.ts'
import { faultsOf, pathText } from '../../contract/validate.ts'
import { replaceFile } from '../../lib/replace-file.ts'
import { EXTENSIONS, linesIn, parseFile, renderFile } from './document-file.ts'
import type { Document } from './document.ts'
import type { Kind, RemoteObject } from './kind.ts'

export interface LocalObject {
  readonly identity: string
  readonly document: Document
  readonly path: string
}

/**
 * Follows links, because a mounted directory may consist of them and `--prune` takes a file that is not read for a deleted one.
 * Throws SettingError, which names file and line.
 */
export const readLocal = (directory: string, kind: Kind): ReadonlyMap<string, LocalObject> => {
  const folder = join(directory, kind.folder)
  const objects = new Map<string, LocalObject>()
  if (!existsSync(folder)) return objects
  for (const name of readdirSync(folder).toSorted()) {
    const extension = extname(name)
    const path = join(folder, name)
    if (name.startsWith('.') || !EXTENSIONS.some((known) => known === extension) || !statSync(path).isFile()) continue
    const { identity, document } = readOne(path, kind, name.slice(0, -extension.length))
    const other = objects.get(identity)
    if (other !== undefined) throw new SettingError(`${path}: ${other.path} is of the same ${kind.name.slice(0, -1)} (${identity}).`)
    objects.set(identity, { identity, document, path })
  }
  return objects
}

const readOne = (path: string, kind: Kind, stem: string): Pick<RemoteObject, 'identity' | 'document'> => {
  const text = readFileSync(path, 'utf8')
  const document = parseFile(path, text)
  try {
    return kind.read(document, stem)
  } catch (thrown) {
    const [fault] = thrown instanceof ZodError ? thrown.issues.flatMap((issue) => faultsOf(kind.schema, document, issue)) : []
    if (fault === undefined) throw thrown
    const steps = fault.path.map((step) => (typeof step === 'number' ? step : String(step)))
    const where = fault.path.length === 0 ? '' : `${pathText(fault.path)}: `
    throw new SettingError(`${path}:${linesIn(text)(steps)}: ${where}${fault.message.replace(/(?<=[^.?])$/, '.')}`)
  }
}

/** A new file gets a name that no other file has. Returns true if anything was written. */
export const writeLocal = (
  directory: string,
  kind: Kind,
  object: RemoteObject,
  local: LocalObject | undefined,
  extension: string,
): boolean => {
  const path = local?.path ?? freePath(join(directory, kind.folder), kind.fileName(object), extension)
  const before = local === undefined ? null : readFileSync(path, 'utf8')
  const text = renderFile(path, object.document, before)
  if (text === before) return false
  mkdirSync(dirname(path), { recursive: true })
  replaceFile(path, text)
  return true
}

/** Some file systems treat `Bot` and `bot` as the same name. */
const freePath = (folder: string, name: string, extension: string): string => {
  const taken = new Set((existsSync(folder) ? readdirSync(folder) : []).map((entry) => entry.toLowerCase().replace(/\.[a-z]+$/, '')))
  let free = name
  for (let number = 2; taken.has(free.toLowerCase()); number += 1) free = `${name}-${number}`
  return join(folder, `${free}${extension}`)
}

export const removeLocal = ({ path }: LocalObject): void => rmSync(path)
