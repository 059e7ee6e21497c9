/** Compares two evaluations of a preset, item by item: shows the items that pass in one and fail in the other. */
import type { EvaluationComparison, EvaluationItem } from '../../contract/evaluation.ts'
import { canonicalJson } from '../../lib/json/json-schema.ts'
import type { Steps } from '../../lib/steps.ts'
import type { StoredItem } from '../../storage/presets/evaluation-items.ts'
import { isRecorded, shownItem } from './item-request.ts'
import { differenceOf } from './summary.ts'

type Compared = EvaluationComparison['items'][number]

/** Items are the same if they ask and expect the same. Items that occur several times are paired in their order. */
export function* compareItems(
  items: readonly StoredItem[],
  others: readonly StoredItem[],
): Steps<Pick<EvaluationComparison, 'difference' | 'better' | 'worse' | 'same' | 'items'>> {
  const waiting = new Map<string, StoredItem[]>()
  for (const other of others) {
    const name = nameOf(other.item)
    const same = waiting.get(name)
    if (same === undefined) waiting.set(name, [other])
    else same.push(other)
    yield
  }
  const here: Compared[] = []
  for (const one of items) {
    here.push(pairOf(one.item, one, waiting.get(nameOf(one.item))?.shift() ?? null))
    yield
  }
  const there = [...waiting.values()].flat().map((other) => pairOf(other.item, null, other))
  const compared = [...here, ...there]
  const count = (wanted: Compared['change']): number => compared.filter(({ change }) => change === wanted).length
  return {
    difference: differenceOf(
      compared.flatMap(({ answer, other_answer }) =>
        answer === null || other_answer === null ? [] : [Number(answer.passed) - Number(other_answer.passed)],
      ),
    ),
    better: count('better'),
    worse: count('worse'),
    same: count('same'),
    items: compared,
  }
}

const nameOf = (item: EvaluationItem): string =>
  isRecorded(item)
    ? `${item.generationId} ${item.expectsAnswer}`
    : canonicalJson({ messages: item.messages, tools: item.tools, expected: item.expected })

const pairOf = (item: EvaluationItem, one: StoredItem | null, other: StoredItem | null): Compared => {
  const answer = one?.result?.answer ?? null
  const other_answer = other?.result?.answer ?? null
  const change = answer === null || other_answer === null ? null : changeTo(answer.passed, other_answer.passed)
  return { ...shownItem(item), answer, other_answer, change }
}

const changeTo = (passed: boolean | null, other: boolean | null): Compared['change'] => {
  if (passed === other) return 'same'
  return passed ? 'better' : 'worse'
}
