/**
 * Collects the filter findings of one request: the error that blocks it, and the effects that report it. The matched text is never
 * included.
 */
import type { Effect } from '../canonical/effect.ts'
import type { FilterAction } from '../contract/guardrail.ts'
import { GatewayError } from '../errors.ts'
import type { Origin } from './filter.ts'
import type { Report } from './screen-text.ts'

export interface Detections {
  readonly report: Report
  /** Like `report`, for a text that cannot be replaced: a finding that would be redacted is blocked. */
  readonly reportFixed: Report
  /** Throws if something was found that must not pass. */
  assertPassed(): void
}

/** `effects` receives every finding immediately. `what`: the object that was examined, for the error's message. */
export const createDetections = (effects: Effect[], what: 'Request' | 'Response' = 'Request'): Detections => {
  const reported = new Map<string, { readonly at: number; readonly found: Found }>()
  const blocked = { filters: new Set<string>(), injections: new Set<string>() }
  let isFixed = false
  const report: Report = (filter, pattern) => {
    const injection = filter.detectors === null
    const shown = pattern ?? filter.label
    if (filter.action === 'block') (injection ? blocked.injections : blocked.filters).add(shown)
    const name = injection ? 'regex_pi_detection' : 'content-filter'
    const { guardrailId, scope } = filter.origin
    const key = `${name} ${guardrailId} ${scope} ${filter.action}`
    let finding = reported.get(key)
    if (finding === undefined) {
      finding = { at: effects.length, found: { name, origin: filter.origin, action: filter.action, patterns: new Set() } }
      reported.set(key, finding)
    }
    const { patterns } = finding.found
    if (patterns.has(shown) || patterns.size >= PATTERNS_MAX) return
    patterns.add(shown)
    effects[finding.at] = effectOf(finding.found)
  }
  return {
    report,
    reportFixed(filter, pattern, from, to) {
      if (filter.action !== 'redact') return report(filter, pattern, from, to)
      isFixed = true
      report({ ...filter, action: 'block' }, pattern, from, to)
    },
    assertPassed() {
      const { filters, injections } = blocked
      if (filters.size === 0 && injections.size === 0) return
      const patterns = [...filters, ...injections].slice(0, PATTERNS_MAX)
      const sentence =
        filters.size > 0
          ? `${what} blocked by content filter: ${[...filters].join(', ')}`
          : `${what} blocked: prompt injection patterns detected`
      throw new GatewayError('permission_denied', isFixed ? `${sentence} ${IN_FIXED_TEXT}` : sentence, { metadata: { patterns } })
    },
  }
}

/** Returns true for a block by a guardrail: only guardrails set `patterns`, no provider's error has it. */
export const isGuardrailBlock = (error: GatewayError): boolean =>
  error.type === 'permission_denied' && Array.isArray(error.metadata['patterns'])

interface Found {
  readonly name: 'regex_pi_detection' | 'content-filter'
  readonly origin: Origin
  readonly action: FilterAction
  readonly patterns: Set<string>
}

const PATTERNS_MAX = 20

const IN_FIXED_TEXT = '(in a name, an id or a setting, where nothing can stand in its place)'

const DONE: Readonly<Record<FilterAction, string>> = { block: 'blocked', redact: 'redacted', flag: 'flagged' }

const effectOf = ({ name, origin, action, patterns }: Found): Effect => {
  const done = DONE[action]
  const count = `${patterns.size} pattern${patterns.size === 1 ? '' : 's'} matched`
  const what = name === 'content-filter' ? 'content filter matched' : 'prompt injection detected'
  return {
    type: 'guardrail',
    name,
    guardrail_id: origin.guardrailId,
    guardrail_scope: origin.scope,
    summary: `${done.charAt(0).toUpperCase()}${done.slice(1)}: ${what} (${count})`,
    data: { action: done, detected: true, engines: ['regex'], patterns: [...patterns] },
  }
}
