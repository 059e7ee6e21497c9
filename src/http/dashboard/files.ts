/**
 * The built dashboard: a page with placeholders, which a new build replaces, and files with
 * hashed names, which never change and are read once.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { DashboardManifest } from './manifest.ts'

export interface DashboardFile {
  readonly type: string
  readonly body: Uint8Array
  /** Null if the file is not compressed. */
  readonly encoding: 'br' | 'gzip' | null
}

export interface DashboardFiles {
  /** The page, with `%BASE%` and `%NONCE%` in it; null if the dashboard was not built. */
  page(): string | null
  /** The file in the best encoding that the client accepts; null for an unknown name. */
  asset(name: string, acceptEncoding: string): DashboardFile | null
}

const ENCODINGS = [
  { encoding: 'br', suffix: '.br' },
  { encoding: 'gzip', suffix: '.gz' },
] as const

/** `directory` is dashboard/dist of the package. It is looked at only on request, so that it may be built meanwhile. */
export const createDashboardFiles = (directory: string): DashboardFiles => {
  const manifest = (): DashboardManifest => JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8')) as DashboardManifest
  /** The type of each file that was requested: a hashed name stands for its content for ever. */
  const types = new Map<string, string>()
  const typeOf = (name: string): string | undefined => {
    const known = types.get(name)
    if (known !== undefined || !isBuilt()) return known
    const { files } = manifest()
    // Only names in the manifest become paths.
    const type = Object.hasOwn(files, name) ? files[name] : undefined
    if (type !== undefined) types.set(name, type)
    return type
  }
  const read = new Map<string, Uint8Array | null>()
  const bytesOf = (file: string): Uint8Array | null => {
    const known = read.get(file)
    if (known !== undefined) return known
    const path = join(directory, 'assets', file)
    const bytes = existsSync(path) ? readFileSync(path) : null
    read.set(file, bytes)
    return bytes
  }
  const isBuilt = (): boolean => existsSync(join(directory, 'index.html'))
  return {
    page: () => (isBuilt() ? readFileSync(join(directory, 'index.html'), 'utf8') : null),
    asset(name, acceptEncoding) {
      const type = typeOf(name)
      if (type === undefined) return null
      for (const { encoding, suffix } of ENCODINGS) {
        const body = accepts(acceptEncoding, encoding) ? bytesOf(name + suffix) : null
        if (body !== null) return { type, body, encoding }
      }
      const body = bytesOf(name)
      return body === null ? null : { type, body, encoding: null }
    },
  }
}

/** `q=0` refuses a coding (RFC 9110, 12.5.3). */
const accepts = (header: string, encoding: string): boolean =>
  header
    .toLowerCase()
    .split(',')
    .some((part) => {
      const [coding = '', ...parameters] = part.split(';').map((piece) => piece.trim())
      return coding === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
    })
