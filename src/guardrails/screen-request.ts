/**
 * Passes a request's texts through the filters for input: findings are reported, replaced in the body's own bytes, or refused. It
 * fails closed.
 */
import type { Effect } from '../canonical/effect.ts'
import type { BuiltinSlug } from '../contract/guardrail.ts'
import { GatewayError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { JsonTextError } from '../lib/json/json-limits.ts'
import { createDetections, type Detections } from './detections.ts'
import type { Filter, FilterSet } from './filter.ts'
import { jsonText, plainText } from './held-text.ts'
import { inputTexts, type InputText } from './input-texts.ts'
import { matchesAcross } from './matches-across.ts'
import { createRunScan, matchesAny, type Scan } from './scan.ts'
import { screenInPieces, type Span } from './screen-text.ts'

export interface ScreenLimits {
  readonly clock: Clock
  /** The maximum time for screening; a request that takes longer is refused, because unexamined text must not pass. */
  readonly screenMs: number
}

/** Returns the body to send upstream. Throws `permission_denied` with `patterns`, and `provider_overloaded` if it cannot decide. */
export const screenBody = (body: JsonBody, set: FilterSet, effects: Effect[], limits: ScreenLimits): Promise<JsonBody> =>
  inTime(screenTexts(body, set, createDetections(effects)), limits)

/** Returns the texts addressed to the model, for moderation. Throws as `screenBody` does. */
export const proseOf = (body: JsonBody, limits: ScreenLimits): Promise<readonly string[]> => inTime(proseIn(body), limits)

function* proseIn(body: JsonBody): Scan<readonly string[]> {
  const { texts } = yield* inputTexts(body)
  return texts.flatMap(({ value, isProse }) => (isProse ? [value] : []))
}

export const inTime = async <Result>(scan: Scan<Result>, { clock, screenMs }: ScreenLimits): Promise<Result> => {
  try {
    return await createRunScan(clock, screenMs)(scan)
  } catch (thrown) {
    if (thrown instanceof GatewayError || thrown instanceof JsonTextError) throw thrown
    throw new GatewayError(
      'provider_overloaded',
      'The content filters of this key could not check the request, so it was not sent. Try again.',
      { cause: thrown },
    )
  }
}

const SHORT = 200

const SECRETS_KEY: BuiltinSlug = 'secrets'

interface Chosen {
  readonly filters: readonly Filter[]
  readonly report: Detections['report']
}

function* screenTexts(body: JsonBody, { filters, openMatcher }: FilterSet, detections: Detections): Scan<JsonBody> {
  const { texts, replace } = yield* inputTexts(body)
  const ofOthers = filters.filter((filter) => heeds(filter, { byUser: false, isCredential: false }))
  const forCredentials = filters.filter((filter) => heeds(filter, { byUser: false, isCredential: true }))
  const chosenFor = ({ byUser, isFixed, isCredential }: InputText): Chosen => ({
    filters: isCredential ? forCredentials : byUser ? filters : ofOthers,
    report: isFixed || isCredential ? detections.reportFixed : detections.report,
  })
  const replacements = new Map<number, string>()
  /** Short texts in which nothing was found: some, such as property names, are repeated very often. */
  const clean = new Set<string>()
  const across = yield* acrossParts(texts, openMatcher, chosenFor)
  for (const [index, text] of texts.entries()) {
    const shared = across.get(index)
    if (shared === undefined) {
      if (!text.isJson && clean.has(text.value)) continue
      if (!(yield* mayBeFound(text, openMatcher))) {
        if (text.value.length <= SHORT) clean.add(text.value)
        continue
      }
    }
    const screened = yield* screenText(text, chosenFor(text), shared ?? [])
    if (screened !== text.value) replacements.set(index, screened)
  }
  detections.assertPassed()
  return replacements.size === 0 ? body : yield* replace(replacements)
}

/** Returns true if the filter applies to a text of this kind. */
export const heeds = ({ key, scanScope }: Filter, { byUser, isCredential }: Pick<InputText, 'byUser' | 'isCredential'>): boolean =>
  isCredential ? scanScope !== 'user_only' && key !== SECRETS_KEY : byUser || scanScope !== 'user_only'

export function* screenText(
  { value, isJson }: Pick<InputText, 'value' | 'isJson'>,
  { filters, report }: Chosen,
  shared: readonly Span[],
): Scan<string> {
  return yield* screenInPieces(filters, value, report, isJson ? jsonText : plainText, shared)
}

/** Ranges by index in `texts`: the parts of matches that continue in another part of the same message. */
function* acrossParts(
  texts: readonly InputText[],
  openMatcher: FilterSet['openMatcher'],
  chosenFor: (text: InputText) => Chosen,
): Scan<ReadonlyMap<number, readonly Span[]>> {
  const messages = new Map<string, { readonly first: InputText; readonly places: number[] }>()
  for (const [index, text] of texts.entries()) {
    if (text.message === null) continue
    // Text of the user and of a tool in the same message are separate texts.
    const name = `${text.message} ${text.byUser}`
    const known = messages.get(name)
    if (known === undefined) messages.set(name, { first: text, places: [index] })
    else known.places.push(index)
    yield
  }
  const spans = new Map<number, readonly Span[]>()
  for (const { first, places } of messages.values()) {
    if (places.length < 2) continue
    const values = places.map((index) => texts[index]?.value ?? '')
    if (!(yield* matchesAny(openMatcher, values.join('')))) continue
    const { filters, report } = chosenFor(first)
    const found = yield* matchesAcross(values, filters, report)
    for (const [at, own] of found.entries()) {
      const index = places[at]
      if (index !== undefined && own.length > 0) spans.set(index, own)
    }
  }
  return spans
}

/**
 * Returns false if no filter can match. The first pass reads the text as written, from which escapes in a tool's arguments could
 * hide something.
 */
function* mayBeFound({ value, isJson }: InputText, openMatcher: FilterSet['openMatcher']): Scan<boolean> {
  return (isJson && value.includes('\\')) || (yield* matchesAny(openMatcher, value))
}
