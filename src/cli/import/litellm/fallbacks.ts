/** The models that follow each public name after a failure. */
import { type JsonObject, type JsonValue, listOf, membersOf, objectsIn } from '../../../lib/json/json.ts'
import type { Place } from '../import-plan.ts'
import { type Groups, idOf } from './groups.ts'

/** At most this many models follow the first. */
const FALLBACKS_MAX = 10

interface FallbackEntry {
  readonly model: string
  readonly targets: JsonValue | undefined
  readonly place: Place
}

/**
 * LiteLLM reads one of the two sections, and in its list the first entry of a model. `*` is for models without one; its last entry counts,
 * and `default_fallbacks` become that. A model for a context that is too long comes after those for any failure, because there is one list
 * here.
 */
export const fallbacksOf = (config: JsonObject, groups: Groups, root: Place): ReadonlyMap<string, readonly string[]> => {
  const read = (name: string): readonly FallbackEntry[] => {
    // An empty list counts as absent.
    const [section, passedOver] = ['router_settings', 'litellm_settings'].filter((one) => listOf(membersOf(config[one])[name]).length > 0)
    if (section === undefined) return []
    if (passedOver !== undefined) root.at(passedOver, name).cannot(`LiteLLM reads those of ${section} alone`)
    const given = membersOf(config[section])[name]
    if (name === 'default_fallbacks') return [{ model: EVERY, targets: given, place: root.at(section, name) }]
    return [...objectsIn(given).entries()].flatMap(([at, entry]) =>
      Object.entries(entry).map(([model, targets]) => ({ model, targets, place: root.at(section, name, at, model) })),
    )
  }
  const noted = (entries: readonly FallbackEntry[], isKnown: (model: string) => boolean): ReadonlyMap<string, readonly string[]> => {
    const found = new Map<string, readonly string[]>()
    for (const { model, targets, place } of entries) {
      const ids = listOf(targets).flatMap((target) => {
        const group = typeof target === 'string' ? groups.get(target) : undefined
        if (group !== undefined) return idOf(group)
        place.cannot(`${JSON.stringify(target)} is no model of this file`)
        return []
      })
      if (!isKnown(model)) place.cannot(`${model} is no model of this file`)
      else if (found.has(model)) place.cannot(`LiteLLM reads the ${model === EVERY ? 'last' : 'first'} entry of ${model} alone`)
      else if (ids.length > 0) {
        place.taken(`${model === EVERY ? 'a model without fallbacks of its own' : model} falls back to ${ids.join(', ')}`)
        found.set(model, ids)
      }
    }
    return found
  }
  const all = [...read('fallbacks'), ...read('default_fallbacks')]
  const lastForEvery = all.filter(({ model }) => model === EVERY).toReversed()
  const any = noted([...all.filter(({ model }) => model !== EVERY), ...lastForEvery], (model) => model === EVERY || groups.has(model))
  const context = noted(read('context_window_fallbacks'), (model) => groups.has(model))
  return new Map(
    [...groups].map(([name, group]) => {
      const ids = new Set([...(any.get(name) ?? any.get(EVERY) ?? []), ...(context.get(name) ?? [])])
      ids.delete(idOf(group))
      const [first] = group.deployments
      if (ids.size > FALLBACKS_MAX && first !== undefined)
        first.place.changed(`${name}: a preset has at most ${FALLBACKS_MAX} fallback models, and the rest is left out`)
      return [name, [...ids].slice(0, FALLBACKS_MAX)]
    }),
  )
}

/** In a list of fallbacks, any model. */
const EVERY = '*'
