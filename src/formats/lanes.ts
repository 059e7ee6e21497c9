import type { ClientDialect } from '../canonical/call.ts'
import type { StreamRenderer, Written } from './format.ts'
import { nativeText } from './relay-text.ts'

/**
 * Renders a stream in one of two ways: relayed if the first frames contain the upstream's own text in this dialect, otherwise
 * rendered from events. The choice never changes: an answer has one upstream, and two lifecycles cannot be mixed.
 */
export const inOneLane = <Text extends Written>(
  dialect: ClientDialect,
  lanes: { relay(): StreamRenderer<Text>; render(): StreamRenderer<Text> },
): StreamRenderer<Text | ''> => {
  let lane: StreamRenderer<Text> | null = null
  return {
    frames(frames) {
      if (frames.length === 0) return ''
      lane ??= frames.some((frame) => nativeText(frame, dialect) !== null) ? lanes.relay() : lanes.render()
      return lane.frames(frames)
    },
    finish: (tail) => (lane ??= lanes.render()).finish(tail),
    fail: (error, tail) => (lane ??= lanes.render()).fail(error, tail),
  }
}
