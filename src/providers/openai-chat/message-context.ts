/** The context that the encoders of messages and tools share: the vendor, functions that report losses, and cache marks. */
import type { CacheMark } from '../../canonical/prompt.ts'
import type { Warning } from '../../canonical/warning.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { cacheBreakpoint, marksLost } from '../cache-marks.ts'
import { openAiModelOf } from '../vendors/openai-model.ts'
import type { Attempt, Target } from '../provider.ts'
import type { Losses } from '../losses/losses.ts'
import type { Vendor } from '../vendors/vendor.ts'

export interface MessageContext extends RuleContext {
  readonly target: Target
  /** Returns members to spread: the mark as the vendor takes it, or nothing, with a warning. */
  cacheControl(mark: CacheMark | undefined, at: string, on: 'content' | 'tool' | 'call'): JsonObject
  /** Some marks were left out, and none was kept. */
  lostMarks(): boolean
}

export const messageContext = (
  { target, warn }: Pick<Attempt, 'target' | 'warn'>,
  vendor: Vendor,
  { lose, mapped, refuse }: Losses,
): MessageContext => {
  let lost = false
  let kept = false
  const breakpoints = vendor.openAiModels && openAiModelOf(target).cacheBreakpoints
  return {
    target,
    vendor,
    warn,
    lose,
    mapped,
    lostMarks: () => lost && !kept,
    refuse,
    partAt: (at) => at,
    cacheControl(mark, at, on) {
      if (mark === undefined) return {}
      const { cacheMarks } = vendor
      if (cacheMarks !== null && (on === 'content' || (on === 'tool' && cacheMarks.tools))) {
        kept = true
        if (mark.ttl === undefined || !cacheMarks.ttl) return { cache_control: { type: 'ephemeral' } }
        return { cache_control: { type: 'ephemeral', ttl: mark.ttl } }
      }
      if (breakpoints && on === 'content') {
        kept = true
        return { prompt_cache_breakpoint: cacheBreakpoint(mark) }
      }
      // One warning is enough, because coding agents put many marks on every request.
      if (!lost) lose(at, marksLost(target.providerName, at).message)
      lost = true
      return {}
    },
  }
}

export interface RuleContext extends Losses {
  readonly target: Pick<Target, 'provider' | 'providerName' | 'inputModalities'>
  readonly vendor: Vendor
  readonly warn: (warning: Warning) => void
  /** The client's path of a part, as far as it is known. */
  readonly partAt: (at: string, index: number) => string
}
