import type { StreamRenderer, Written } from './format.ts'

/** Wraps a renderer so that it returns each text in one piece: for examples and other short streams. */
export const inWholeTexts = (renderer: StreamRenderer<Written>): StreamRenderer => ({
  frames: (frames) => whole(renderer.frames(frames)),
  finish: (tail) => whole(renderer.finish(tail)),
  fail: (error, tail) => whole(renderer.fail(error, tail)),
})

const whole = (written: Written): string => (typeof written === 'string' ? written : [...written].join(''))
