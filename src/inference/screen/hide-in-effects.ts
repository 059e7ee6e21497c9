/**
 * Removes the preset's hidden texts from the recorded changes to a request: detectors of prompt injection quote the text that they read.
 */
import { type HiddenTexts, hiderOf } from '../../canonical/hidden-prompt.ts'
import type { Effect } from '../../canonical/effect.ts'

export const hideInEffects = (effects: Effect[], hidden: HiddenTexts | undefined): void => {
  if (hidden === undefined) return
  const hide = hiderOf(hidden)
  for (const [at, effect] of effects.entries()) {
    const { patterns } = effect.data
    if (Array.isArray(patterns)) effects[at] = { ...effect, data: { ...effect.data, patterns: patterns.map((each) => hide(String(each))) } }
  }
}
