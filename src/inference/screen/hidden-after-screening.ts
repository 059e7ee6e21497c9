/** Keeps a preset's text hidden after filters have changed the request, even if a match extended beyond the preset's text. */
import type { HiddenPrompt } from '../../canonical/hidden-prompt.ts'
import type { FilterSet } from '../../guardrails/filter.ts'
import { inputTexts } from '../../guardrails/input-texts.ts'
import { createRunScan, type Scan } from '../../guardrails/scan.ts'
import { screenBody, type ScreenLimits } from '../../guardrails/screen-request.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { textsIn } from '../../lib/json/json.ts'

/** `before` and `after`: the request's body before and after it was screened with these filters. */
export const hiddenAfterScreening = async (
  hidden: HiddenPrompt,
  { before, after, input, limits }: { before: JsonBody; after: JsonBody; input: FilterSet; limits: ScreenLimits },
): Promise<HiddenPrompt> => {
  const body = await screenBody(JsonBody.ofParsed(JSON.stringify({ system: hidden.texts })), input, [], limits)
  const screened = body.value('system')
  const own = textsIn(screened)
  const pairs = hidden.texts.map((text, at) => ({ text, screened: own[at] ?? text }))
  return {
    ...hidden,
    texts: [...hidden.texts, ...own, ...(await createRunScan(limits.clock, limits.screenMs)(changedTogether(pairs, before, after)))],
  }
}

/**
 * Finds texts that contained a preset's text and now contain it neither as it was nor as it is when screened on its own. Such a text is
 * hidden as a whole.
 */
function* changedTogether(
  pairs: readonly { readonly text: string; readonly screened: string }[],
  before: JsonBody,
  after: JsonBody,
): Scan<readonly string[]> {
  const was = (yield* inputTexts(before)).texts
  const is = (yield* inputTexts(after)).texts
  // If a text was removed, the others can no longer be matched by their positions.
  if (was.length !== is.length) return is.map(({ value }) => value)
  const changed: string[] = []
  for (const [at, { value }] of is.entries()) {
    const held = was[at]?.value ?? ''
    if (held !== value && pairs.some(({ text, screened }) => held.includes(text) && !value.includes(text) && !value.includes(screened))) {
      changed.push(value)
    }
    yield
  }
  return changed
}
