/** The item of `include` by which a Responses request turns log probabilities on. */
import { type JsonValue, listOf } from '../../lib/json/json.ts'
import { LOGPROBS_INCLUDED } from '../../request-fields/schemas/output.ts'

interface HeldInclude {
  /** The list as it is used; null if it stays as the request wrote it. */
  readonly include: readonly JsonValue[] | null
  /** True if the request asked for what the preset does not include. */
  readonly isOverruled: boolean
}

/** For a preset that locks log probabilities: the request's own list, with that item as in the preset's. */
export const holdLogprobs = (asked: JsonValue | undefined, own: JsonValue | undefined): HeldInclude => {
  const items = listOf(asked)
  const wanted = items.includes(LOGPROBS_INCLUDED)
  // Without a list of its own, the request gets the preset's.
  if (!Array.isArray(asked) || wanted === listOf(own).includes(LOGPROBS_INCLUDED)) return { include: null, isOverruled: false }
  return { include: wanted ? items.filter((item) => item !== LOGPROBS_INCLUDED) : [...items, LOGPROBS_INCLUDED], isOverruled: wanted }
}
