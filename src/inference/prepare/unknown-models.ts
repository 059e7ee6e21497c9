/** Finds models of a preset that do not exist here, each with the error sentence that a request for it alone would get. */
import type { PresetContent } from '../../contract/preset.ts'
import { isObject, listOf, textsIn } from '../../lib/json/json.ts'
import type { Models } from '../../models/models.ts'
import { autoStrategy } from '../../routing/auto-models.ts'
import { unknownModel } from '../../routing/explain.ts'
import { resolveModel } from '../../routing/resolve-model.ts'
import { pluginOfModel } from './choose-models.ts'

export const unknownModelsOf = ({ config }: PresetContent, models: Models): readonly string[] =>
  ['model', 'models', 'fallbacks'].flatMap((field) =>
    namesIn(config[field]).flatMap((name) => (isKnown(name, models) ? [] : [`${field}: ${unknownModel(name, models).message}`])),
  )

const isKnown = (name: string, models: Models): boolean =>
  autoStrategy(name) !== null || pluginOfModel(name) !== undefined || resolveModel(name, models) !== undefined

const namesIn = (value: unknown): readonly string[] =>
  typeof value === 'string' ? [value] : textsIn(listOf(value).map((one) => (isObject(one) ? one['model'] : one)))
