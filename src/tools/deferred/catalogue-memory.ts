/**
 * Catalogues that this process has seen, with their indexes: a conversation brings the same one with each of its requests.
 * The ones that were used last are kept, up to a bound of memory.
 */
import type { FunctionTool } from '../../canonical/prompt.ts'
import { type CatalogueSearch, createCatalogueSearch } from '../catalogue-search.ts'
import type { Catalogue } from './catalogue.ts'

export interface CatalogueMemory {
  /** The search over a catalogue, made when it is first used. */
  searchOf(workspaceId: string, catalogue: Catalogue): () => CatalogueSearch<FunctionTool>
  /** The tools of an earlier catalogue of the workspace, by the hash that names it; null where it is not known any more. */
  digestsOf(workspaceId: string, hash: string): Catalogue['digests'] | null
}

interface Remembered {
  readonly catalogue: Catalogue
  search: CatalogueSearch<FunctionTool> | null
}

/** Bytes of an index and its tools for each unit of their JSON, measured with ten thousand tools and rounded up. */
const BYTES_PER_UNIT = 8
const BYTES_MAX = 64 * 1024 * 1024

export const createCatalogueMemory = (bytesMax = BYTES_MAX): CatalogueMemory => {
  const remembered = new Map<string, Remembered>()
  let bytes = 0

  const forget = (key: string): void => {
    const gone = remembered.get(key)
    if (gone === undefined) return
    remembered.delete(key)
    bytes -= gone.catalogue.size * BYTES_PER_UNIT
  }

  const remember = (key: string, catalogue: Catalogue): Remembered => {
    const before = remembered.get(key)
    // The order of the tools decides between equals, and is no part of the hash.
    const entry = before !== undefined && sameOrder(before.catalogue, catalogue) ? before : { catalogue, search: null }
    forget(key)
    // Last in order again: the first one goes.
    remembered.set(key, entry)
    bytes += entry.catalogue.size * BYTES_PER_UNIT
    for (const oldest of remembered.keys()) {
      if (bytes <= bytesMax) break
      forget(oldest)
    }
    return entry
  }

  return {
    searchOf(workspaceId, catalogue) {
      const entry = remember(`${workspaceId}:${catalogue.hash}`, catalogue)
      return () => (entry.search ??= createCatalogueSearch(entry.catalogue.tools))
    },
    digestsOf: (workspaceId, hash) => remembered.get(`${workspaceId}:${hash}`)?.catalogue.digests ?? null,
  }
}

const sameOrder = ({ tools }: Catalogue, other: Catalogue): boolean => tools.every(({ name }, index) => other.tools[index]?.name === name)
