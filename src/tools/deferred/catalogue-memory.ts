/**
 * Caches the catalogues that this process has seen, with their indexes, because a conversation sends the same one with each of its
 * requests. The most recently used ones are kept, up to a limit of memory.
 */
import type { FunctionTool } from '../../canonical/prompt.ts'
import { type CatalogueSearch, createCatalogueSearch } from '../catalogue-search.ts'
import type { Catalogue } from './catalogue.ts'

export interface CatalogueMemory {
  /** Returns the search over a catalogue, created on first use. */
  searchOf(workspaceId: string, catalogue: Catalogue): () => CatalogueSearch<FunctionTool>
  /** Returns the tool digests of an earlier catalogue of the workspace by its hash; null if it is no longer cached. */
  digestsOf(workspaceId: string, hash: string): Catalogue['digests'] | null
}

interface Remembered {
  readonly catalogue: Catalogue
  search: CatalogueSearch<FunctionTool> | null
}

/** Bytes of an index and its tools per byte of their JSON, measured with ten thousand tools and rounded up. */
const MEMORY_PER_BYTE = 8
const BYTES_MAX = 64 * 1024 * 1024

export const createCatalogueMemory = (bytesMax = BYTES_MAX): CatalogueMemory => {
  const remembered = new Map<string, Remembered>()
  let bytes = 0

  const forget = (key: string): void => {
    const gone = remembered.get(key)
    if (gone === undefined) return
    remembered.delete(key)
    bytes -= gone.catalogue.size * MEMORY_PER_BYTE
  }

  const remember = (key: string, catalogue: Catalogue): Remembered => {
    const before = remembered.get(key)
    // The order of the tools breaks ties in searches, but is not part of the hash.
    const entry = before !== undefined && sameOrder(before.catalogue, catalogue) ? before : { catalogue, search: null }
    forget(key)
    // Re-inserted at the end: eviction starts with the first entry.
    remembered.set(key, entry)
    bytes += entry.catalogue.size * MEMORY_PER_BYTE
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
