/** The imported price lists that this process knows. */
import { parseImport, type CatalogueImport } from '../models/catalogue-imports.ts'
import type { CatalogueStore } from '../storage/catalogue-store.ts'

export interface CatalogueImports {
  current(): readonly CatalogueImport[]
  /** Returns true if another process has imported or removed a list since. */
  refresh(): Promise<boolean>
}

export const openCatalogueImports = async (store: Pick<CatalogueStore, 'revision' | 'list'>): Promise<CatalogueImports> => {
  let revision = await store.revision()
  const read = async (): Promise<readonly CatalogueImport[]> => (await store.list()).map(parseImport)
  let imports = await read()
  return {
    current: () => imports,
    async refresh() {
      const now = await store.revision()
      if (now === revision) return false
      imports = await read()
      revision = now
      return true
    },
  }
}
