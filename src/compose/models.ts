/** The models of the shipped catalogue, imported prices, the operator's file and the sandbox, combined. */
import { type ConfigFile, DEFAULT_CONFIG_FILE } from '../config-file.ts'
import { SettingError, type Environment } from '../config.ts'
import { buildModels, CatalogueError } from '../models/build-models.ts'
import type { CatalogueImport } from '../models/catalogue-imports.ts'
import catalogue from '../models/catalogue-data.json' with { type: 'json' }
import type { Catalogue } from '../models/catalogue-schema.ts'
import type { Models } from '../models/models.ts'
import { sandboxModels } from '../sandbox-models.ts'

/** `path` is the path of the configuration file, or null for the default one; a fault in the file names it. Throws SettingError. */
export const composeModels = (file: ConfigFile, path: string | null, env: Environment, imports: readonly CatalogueImport[]): Models => {
  try {
    return buildModels(catalogue as Catalogue, file, env, file.sandbox ? sandboxModels : [], imports)
  } catch (thrown) {
    if (thrown instanceof CatalogueError) throw new SettingError(catalogueSentence(thrown, path))
    throw thrown
  }
}

/** Names the file, except for a fault of the environment, which begins with the name of its variable. */
export const catalogueSentence = ({ message, isOfVariable }: CatalogueError, path: string | null): string =>
  isOfVariable ? message : `${path ?? DEFAULT_CONFIG_FILE}: ${message}`
