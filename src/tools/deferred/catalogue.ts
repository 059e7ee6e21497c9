/** The tools that a conversation withholds from the model's list, and the hash that identifies them. */
import { createHash } from 'node:crypto'

import type { FunctionTool } from '../../canonical/prompt.ts'
import { canonicalJson } from '../../lib/json/json-schema.ts'

export interface Catalogue {
  /** In the order of the request. */
  readonly tools: readonly FunctionTool[]
  readonly byName: ReadonlyMap<string, FunctionTool>
  /** SHA-256 in hexadecimal: the same for the same tools, regardless of the order of the tools and of the members of their schemas. */
  readonly hash: string
  /** Digests by tool name, so that two catalogues can be compared without their tools. */
  readonly digests: ReadonlyMap<string, string>
  /** UTF-8 bytes of the tools as canonical JSON. */
  readonly size: number
}

export const createCatalogue = (tools: readonly FunctionTool[]): Catalogue => {
  let size = 0
  const digests = new Map<string, string>()
  for (const { name, description, parameters } of tools) {
    const json = canonicalJson({ name, description, parameters })
    size += Buffer.byteLength(json)
    digests.set(name, sha256(json))
  }
  const sorted = [...digests].sort(([one], [other]) => (one < other ? -1 : 1))
  return { tools, byName: new Map(tools.map((tool) => [tool.name, tool])), hash: sha256(JSON.stringify(sorted)), digests, size }
}

/** Tool names only, the first 20 of each list. */
export interface CatalogueChange {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly string[]
}

export const changeOf = (before: Catalogue['digests'], now: Catalogue['digests']): CatalogueChange => {
  const added = [...now.keys()].filter((name) => !before.has(name))
  const removed = [...before.keys()].filter((name) => !now.has(name))
  const changed = [...now].filter(([name, digest]) => (before.get(name) ?? digest) !== digest).map(([name]) => name)
  return { added: added.slice(0, NAMES_MAX), removed: removed.slice(0, NAMES_MAX), changed: changed.slice(0, NAMES_MAX) }
}

const NAMES_MAX = 20

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
