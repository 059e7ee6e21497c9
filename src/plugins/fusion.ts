/**
 * `fusion`: offers the tool of that name with its options. It also handles the model name `patchbay/fusion`: then the comparing
 * model answers the request, or the first model of the panel if none is named.
 */
import { ownModelName } from '../canonical/own-names.ts'
import { serverToolTypes } from '../canonical/server-tool-name.ts'
import { invalidField } from '../contract/validate.ts'
import { isObject, type JsonObject } from '../lib/json/json.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import type { Plugin } from './plugin.ts'

export const FUSION_MODEL = 'fusion'

/** `presets`: panels of models by name; the first one is used for requests that name no models. */
export const fusionPlugin = (presets: Readonly<Record<string, readonly string[]>>): Plugin => ({
  step: 'input',
  choose({ models, body }, options) {
    if (!models.some(isFusion)) return null
    const answering = answeringModel({ ...toolOptions(body), ...options }, presets)
    if (answering === undefined) {
      throw invalidField(
        'model',
        `${models.find(isFusion)} needs the plugin fusion with analysis_models, or with a preset of them: none is found (tools.fusion.presets).`,
      )
    }
    return models.map((name) => (isFusion(name) ? answering : name))
  },
})

const isFusion = (name: string): boolean => ownModelName(name) === FUSION_MODEL

/** The request may declare the tool itself, with options there. */
const toolOptions = (body: JsonBody): JsonObject => {
  const tools = body.value('tools')
  const types: readonly unknown[] = serverToolTypes('fusion')
  const tool = Array.isArray(tools) ? tools.find((one) => isObject(one) && types.includes(one['type'])) : undefined
  return isObject(tool) && isObject(tool['parameters']) ? (tool['parameters'] as JsonObject) : {}
}

const answeringModel = (
  { model, analysis_models: panel, preset }: JsonObject,
  presets: Readonly<Record<string, readonly string[]>>,
): string | undefined => {
  if (typeof model === 'string') return model
  const named = typeof preset === 'string' ? preset : (Object.keys(presets)[0] ?? '')
  const [first] = Array.isArray(panel) ? panel : ((Object.hasOwn(presets, named) ? presets[named] : undefined) ?? [])
  return typeof first === 'string' ? first : undefined
}
