/**
 * Removes the preset's hidden texts from the recorded changes to a request: detectors of prompt injection quote the text that they read.
 */
import { type HiddenTexts, hiderOf } from '../canonical/hidden-prompt.ts'
import type { PipelineStage } from '../canonical/pipeline.ts'

export const hideInEffects = (effects: PipelineStage[], hidden: HiddenTexts | undefined): void => {
  if (hidden === undefined) return
  const hide = hiderOf(hidden)
  for (const [at, stage] of effects.entries()) {
    const { patterns } = stage.data
    if (Array.isArray(patterns)) effects[at] = { ...stage, data: { ...stage.data, patterns: patterns.map((each) => hide(String(each))) } }
  }
}
