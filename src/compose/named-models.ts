/**
 * Checks the models that the configuration file names for plugins and tools: an unknown one would
 * only be noticed by the first request that needs it.
 */
import type { ConfigFile } from '../config-file.ts'
import type { Models } from '../models/models.ts'
import { autoStrategy } from '../routing/auto-models.ts'
import { unknownModel } from '../routing/explain.ts'
import { resolveModel } from '../routing/resolve-model.ts'

/** A sentence for each name that matches no model, with its place in the file. */
export const unknownNames = (file: Pick<ConfigFile, 'plugins' | 'tools'>, models: Models): readonly string[] =>
  namesIn(file).flatMap(([place, name]) => {
    if (mayBePreset(name) || autoStrategy(name) !== null || resolveModel(name, models) !== undefined) return []
    return [`${place}: ${unknownModel(name, models).message}`]
  })

const namesIn = ({ plugins, tools }: Pick<ConfigFile, 'plugins' | 'tools'>): readonly [place: string, name: string][] => {
  const one = (place: string, name: string | undefined): [string, string][] => (name === undefined ? [] : [[place, name]])
  return [
    ...one('plugins.alignment.model', plugins.alignment?.model),
    ...one('tools.image_generation.model', tools.image_generation.model),
    ...Object.entries(tools.fusion.presets).flatMap(([preset, names]) =>
      names.map((name, index): [string, string] => [`tools.fusion.presets.${preset}[${index}]`, name]),
    ),
    ...Object.keys(plugins.pareto?.scores ?? {}).map((name): [string, string] => ['plugins.pareto.scores', name]),
  ]
}

/** Presets are in the database and differ by workspace; their names contain no vendor. */
const mayBePreset = (name: string): boolean => name.includes('@') || !name.includes('/')
