/**
 * Estimates what an evaluation may cost before any model is asked: the requests to its versions, and those to the judges of their answers.
 */
import type { Check, EvaluationBody, EvaluationEstimate, EvaluationItem } from '../../contract/evaluation.ts'
import { writeInSteps } from '../../lib/json/json-steps.ts'
import { throughout, type Turn } from '../../lib/steps.ts'
import type { PresetRef } from '../../storage/presets/preset-ref.ts'
import type { OwnBody } from '../own-request.ts'
import { CHARACTERS_PER_TOKEN } from '../run/estimated-tokens.ts'
import type { ItemRequest, ReadItem } from './item-request.ts'
import { comparingOf, scoringOf } from './judge-answer.ts'
import { askedOf } from './run-item.ts'

/** Dollars; null if a price or a limit is not known. */
export interface RequestPrice {
  readonly min: number | null
  readonly max: number | null
  readonly outputTokens: number | null
}

export interface EstimateParts {
  readonly readItem: ReadItem
  readonly priceOf: (request: OwnBody) => Promise<RequestPrice>
  /** Called after each of possibly thousands of items, so that other work can run. */
  readonly turn: Turn
}

/** Throws the error with which one of its requests would be refused. */
export const estimateEvaluation = async (
  { workspaceId, slug }: PresetRef,
  items: readonly EvaluationItem[],
  { version, baseline, checks }: Pick<EvaluationBody, 'version' | 'baseline' | 'checks'>,
  { readItem, priceOf, turn }: EstimateParts,
): Promise<EvaluationEstimate> => {
  const versions = typeof baseline === 'number' ? [version, baseline] : [version]
  const asked: RequestPrice[] = []
  const judged: RequestPrice[] = []
  let longest: Longest | null = null
  for (const item of items) {
    const wanted = await readItem(workspaceId, item)
    const prices: RequestPrice[] = []
    for (const number of versions) prices.push(await priceOf(askedOf(slug, number, wanted)))
    asked.push(...prices)
    for (const question of judgeQuestions(
      checks,
      wanted,
      versions.map(() => ''),
    ))
      judged.push(await priceOf(question))
    const { length } = await throughout(writeInSteps(wanted.conversation), turn)
    longest = longer(longest, { item: wanted, characters: length, prices })
    const waiting = turn()
    if (waiting !== undefined) await waiting
  }
  const judges = judged.length / items.length
  return {
    dry_run: true,
    items: items.length,
    requests: asked.length,
    judge_requests: judged.length,
    min_usd: sum([...asked, ...judged].map(({ min }) => min)),
    max_usd: sum([
      ...asked.map(({ max }) => max),
      judges === 0 || longest === null ? 0 : await mostForJudges(longest, checks, items.length, priceOf),
    ]),
  }
}

interface Longest {
  readonly item: ItemRequest
  readonly characters: number
  readonly prices: readonly RequestPrice[]
}

const longer = (one: Longest | null, other: Longest): Longest => (one === null || other.characters > one.characters ? other : one)

/**
 * Judging an answer of full length costs at most as much as it does for the longest item. Only that item is priced, since such an answer
 * may be megabytes long.
 */
const mostForJudges = async (
  { item, prices }: Longest,
  checks: readonly Check[],
  items: number,
  priceOf: EstimateParts['priceOf'],
): Promise<number | null> => {
  const answers = prices.flatMap(({ outputTokens }) => (outputTokens === null ? [] : ['x'.repeat(outputTokens * CHARACTERS_PER_TOKEN)]))
  if (answers.length < prices.length) return null
  const most: (number | null)[] = []
  for (const question of judgeQuestions(checks, item, answers)) most.push((await priceOf(question)).max)
  const each = sum(most)
  return each === null ? null : each * items
}

/** `answers`: those of the version and, if there is one, of the baseline. */
const judgeQuestions = (checks: readonly Check[], item: ItemRequest, answers: readonly string[]): readonly OwnBody[] => {
  const [first = '', second = ''] = answers
  return checks.flatMap((check) => {
    if (check.type === 'judge') return answers.map((answer) => scoringOf(check, item, answer))
    return check.type === 'pairwise' ? [comparingOf(check, item, first, second), comparingOf(check, item, second, first)] : []
  })
}

const sum = (amounts: readonly (number | null)[]): number | null =>
  amounts.reduce<number | null>((total, amount) => (total === null || amount === null ? null : total + amount), 0)
