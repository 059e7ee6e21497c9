/** Content filters as they apply to a request: the patterns they search for, their action, and the guardrail that they come from. */
import type { BuiltinSlug, FilterAction, FilterSide, ScanScope } from '../contract/guardrail.ts'
import { createAnyMatch, type Matcher } from '../lib/regex/any-match.ts'
import { knownRegex } from '../lib/regex/known-regex.ts'
import { createMemory } from '../lib/remember.ts'
import type { Detector } from './detector.ts'
import { injectionSigns, shuffledWords } from './injection.ts'
import { CREDIT_CARD, IP_ADDRESS, PHONE, SSN } from './number-detectors.ts'
import { ADDRESS, EMAIL, PERSON_NAME } from './person-detectors.ts'
import { ADDRESS_SECRETS, ASSIGNED_SECRETS, KNOWN_SECRETS } from './secret-detector.ts'

/** The guardrail, and why it applies. */
export interface Origin {
  readonly guardrailId: string
  readonly scope: 'api-key' | 'member' | 'workspace'
}

export interface Filter {
  /** Identifies what the filter searches for; two filters with the same key are the same filter. */
  readonly key: string
  readonly origin: Origin
  readonly action: FilterAction
  /** The placeholder that replaces the text, and the name of the filter in messages. */
  readonly label: string
  readonly side: FilterSide
  /** Null: prompt injection, which has no single pattern. */
  readonly detectors: readonly Detector[] | null
  readonly scanScope: ScanScope
}

const BUILTINS: Readonly<Record<Exclude<BuiltinSlug, 'regex-prompt-injection'>, readonly Detector[]>> = {
  email: [EMAIL],
  phone: [PHONE],
  ssn: [SSN],
  'credit-card': [CREDIT_CARD],
  'ip-address': [IP_ADDRESS],
  secrets: [KNOWN_SECRETS, ASSIGNED_SECRETS, ADDRESS_SECRETS],
  'person-name': [PERSON_NAME],
  address: [ADDRESS],
}

/** Creates a built-in filter. Only text to a model can be an injection, so that filter examines only the input. */
export const builtinFilter = (
  { slug, action, side, scanScope }: { slug: BuiltinSlug; action: FilterAction; side: FilterSide; scanScope: ScanScope },
  origin: Origin,
): Filter => ({
  key: slug,
  origin,
  action,
  label: builtinLabel(slug),
  side: slug === 'regex-prompt-injection' ? 'input' : side,
  detectors: slug === 'regex-prompt-injection' ? null : BUILTINS[slug],
  scanScope,
})

export const builtinLabel = (slug: BuiltinSlug): string => {
  if (slug === 'regex-prompt-injection') return '[PROMPT_INJECTION]'
  return slug === 'secrets' ? '[SECRET]' : `[${slug.toUpperCase().replace('-', '_')}]`
}

const shownLabel = (label: string, action: FilterAction): string => {
  if (label === '') return action === 'redact' ? '[REDACTED]' : '[BLOCKED]'
  return label.startsWith('[') ? label : `[${label}]`
}

/** Throws RegexRefused. */
export const customFilter = (
  { pattern, action, label, side }: { pattern: string; action: FilterAction; label: string | null; side: FilterSide },
  origin: Origin,
): Filter => ({
  key: `/${pattern}/`,
  origin,
  action,
  label: shownLabel(label ?? '', action),
  side,
  detectors: [{ regex: knownRegex(pattern) }],
  scanScope: 'all_messages',
})

const STRENGTH: Readonly<Record<FilterAction, number>> = { flag: 0, redact: 1, block: 2 }

/**
 * Keeps the strictest of filters with the same target (docs/contract/guardrails.md#combination); filters of different sides or
 * scopes are all kept.
 */
export const united = (filters: readonly Filter[]): readonly Filter[] => {
  const strictest = new Map<string, Filter>()
  for (const filter of filters) {
    const key = `${filter.key} ${filter.side} ${filter.scanScope}`
    const known = strictest.get(key)
    if (known === undefined || STRENGTH[filter.action] > STRENGTH[known.action]) strictest.set(key, filter)
  }
  return [...strictest.values()]
}

export interface FilterSet {
  readonly filters: readonly Filter[]
  /** Opens a matcher that shows in one pass that no filter can match, which is true of nearly every text. */
  readonly openMatcher: () => Matcher
}

/** Returns null if there are no filters; then no text is read. */
export const filterSet = (filters: readonly Filter[]): FilterSet | null =>
  filters.length === 0 ? null : { filters, openMatcher: sharedMatcher(filters) }

const matchers = createMemory<() => Matcher>(50)

/** Shares matchers, because their tables are large and identical for all callers with the same patterns. */
const sharedMatcher = (filters: readonly Filter[]): (() => Matcher) => {
  const regexes = [
    ...new Set(filters.flatMap(({ detectors }) => (detectors === null ? injectionSigns() : detectors.map(({ regex }) => regex)))),
  ]
  const key = regexes
    .map((regex) => regex.key)
    .sort()
    .join()
  return matchers(key, () => createAnyMatch(regexes, filters.some(({ detectors }) => detectors === null) ? shuffledWords() : null))
}
