/** The imported price lists that this process knows. */
import { readImports, type CatalogueImport } from '../models/catalogue-imports.ts'
import type { CatalogueStore } from '../storage/service/catalogue-store.ts'

export interface CatalogueImports {
  current(): readonly CatalogueImport[]
  /** Returns true if another process has imported or removed a list since. */
  refresh(): Promise<boolean>
}

/** `onDamaged` gets a sentence for each list that cannot be read. A running process keeps the list of that kind that it knows. */
export const openCatalogueImports = async (
  store: Pick<CatalogueStore, 'revision' | 'list'>,
  onDamaged: (sentence: string) => void,
): Promise<CatalogueImports> => {
  let revision = await store.revision()
  const read = async (known: readonly CatalogueImport[]): Promise<readonly CatalogueImport[]> =>
    readImports(await store.list(), onDamaged, known)
  let imports = await read([])
  return {
    current: () => imports,
    async refresh() {
      const now = await store.revision()
      if (now === revision) return false
      imports = await read(imports)
      revision = now
      return true
    },
  }
}
