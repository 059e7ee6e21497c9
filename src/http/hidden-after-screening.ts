/** A preset's text stays hidden after filters have changed the request, also where a match ran over its edge. */
import type { FilterSet } from '../guardrails/filter.ts'
import { inputTexts } from '../guardrails/input-texts.ts'
import { screenBody, type ScreenLimits } from '../guardrails/screen-request.ts'
import type { HiddenPrompt } from '../inference/run.ts'
import { JsonBody } from '../lib/json-body.ts'

/** `before` and `after`: the request's body, screened with these filters. */
export const hiddenAfterScreening = async (
  hidden: HiddenPrompt,
  { before, after, input, limits }: { before: JsonBody; after: JsonBody; input: FilterSet; limits: ScreenLimits },
): Promise<HiddenPrompt> => {
  const body = await screenBody(JsonBody.ofParsed(JSON.stringify({ system: hidden.texts })), input, [], limits)
  const screened = body.value('system')
  const own = Array.isArray(screened) ? screened.filter((text) => typeof text === 'string') : []
  const pairs = hidden.texts.map((text, at) => ({ text, screened: own[at] ?? text }))
  return { ...hidden, texts: [...hidden.texts, ...own, ...changedTogether(pairs, before, after)] }
}

/** Texts that held a preset's, and hold it neither as it was nor as it was screened by itself: all of such a text is hidden. */
const changedTogether = (
  pairs: readonly { readonly text: string; readonly screened: string }[],
  before: JsonBody,
  after: JsonBody,
): readonly string[] => {
  const was = inputTexts(before).texts
  const is = inputTexts(after).texts.map(({ value }) => value)
  // Where a text is gone, their places tell nothing any more.
  if (was.length !== is.length) return is
  return is.filter((value, at) => {
    const held = was[at]?.value ?? ''
    return pairs.some(({ text, screened }) => held.includes(text) && !value.includes(text) && !value.includes(screened))
  })
}
