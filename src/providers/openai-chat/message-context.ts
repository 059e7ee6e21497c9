/** What the encoders of messages and tools share: the vendor, a place for losses, marks of what to cache, ids of calls. */
import { createHash } from 'node:crypto'

import type { CacheMark } from '../../canonical/prompt.ts'
import type { JsonObject } from '../../lib/json.ts'
import { marksLost } from '../cache-marks.ts'
import { openAiModelOf } from '../openai-model.ts'
import type { Target } from '../provider.ts'
import type { Translation } from '../translation.ts'
import type { Vendor } from '../vendor.ts'

export interface MessageContext extends Pick<Translation, 'lose' | 'refuse'> {
  readonly target: Target
  readonly vendor: Vendor
  /** Members to spread: the mark as the vendor takes it, or nothing and a warning. */
  cacheControl(mark: CacheMark | undefined, at: string, on: 'content' | 'tool' | 'call'): JsonObject
  /** Whether marks were left out, and none was kept. */
  lostMarks(): boolean
}

export const messageContext = (target: Target, vendor: Vendor, { lose, refuse }: Pick<Translation, 'lose' | 'refuse'>): MessageContext => {
  let told = false
  let kept = false
  const breakpoints = vendor.openAiModels && openAiModelOf(target).cacheBreakpoints
  return {
    target,
    vendor,
    lose,
    lostMarks: () => told && !kept,
    refuse,
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
        return { prompt_cache_breakpoint: { mode: 'explicit' } }
      }
      // Coding agents mark every request many times over: one word of it is enough.
      if (!told) lose(at, marksLost(target.providerName, at).message)
      told = true
      return {}
    },
  }
}

/** The same in a call and its result; an id that the vendor takes stays as it is. */
export const callIdFor = (id: string, { callIds }: Vendor): string => {
  if (callIds === 'any' || (callIds === 'at-most-40' && id.length <= 40)) return id
  if (callIds === 'nine-alphanumeric' && /^[a-zA-Z0-9]{9}$/.test(id)) return id
  const digest = createHash('sha256').update(id).digest('hex')
  return callIds === 'nine-alphanumeric' ? digest.slice(0, 9) : `call_${digest.slice(0, 35)}`
}
