import type { StreamRenderer, Written } from './format.ts'

/** Wraps a renderer so that it returns each text changed. */
export const withTexts = <Given extends Written, Changed extends Written>(
  renderer: StreamRenderer<Given>,
  change: (text: Given) => Changed,
): StreamRenderer<Changed> => ({
  frames: (frames) => change(renderer.frames(frames)),
  finish: (tail) => change(renderer.finish(tail)),
  fail: (error, tail) => change(renderer.fail(error, tail)),
})

/** Wraps a renderer so that it returns each text in one piece: for examples and other short streams. */
export const inWholeTexts = (renderer: StreamRenderer<Written>): StreamRenderer => withTexts(renderer, whole)

const whole = (written: Written): string => (typeof written === 'string' ? written : [...written].join(''))
