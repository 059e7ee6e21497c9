/** Runs one item of an evaluation: makes each of its requests once, and checks their answers. */
import type { Check, Outcome } from '../../contract/evaluation.ts'
import { isObject, type JsonObject } from '../../lib/json/json.ts'
import { dollars } from '../../lib/money.ts'
import type { ItemResult, KeptAnswer } from '../../storage/presets/evaluation-items.ts'
import type { EvaluationSpec } from '../../storage/presets/evaluation-store.ts'
import type { OwnBody } from '../own-request.ts'
import { checkAnswer, type Verdict } from './check-answer.ts'
import type { ItemRequest } from './item-request.ts'
import { type AskJudge, comparePair, judgeAnswer, type Preference } from './judge-answer.ts'

/** Makes the request of this name, or returns the answer that it got before. */
export type AskOnce = (name: string, request: OwnBody) => Promise<KeptAnswer>

export const runItem = async (slug: string, item: ItemRequest, spec: EvaluationSpec, ask: AskOnce): Promise<ItemResult> => {
  const answer = await ask('version', askedOf(slug, spec.version, item))
  const baseline = spec.baseline === null ? null : await ask('baseline', askedOf(slug, spec.baseline, item))
  const preferences: Preference[] = []
  const verdictsOf = async (side: KeptAnswer, name: 'version' | 'baseline'): Promise<readonly (Verdict & { type: Check['type'] })[]> => {
    const verdicts: (Verdict & { type: Check['type'] })[] = []
    for (const [at, check] of spec.checks.entries()) {
      let asked = 0
      const judge: AskJudge = (question) => ask(`judge-${at}-${name}-${(asked += 1)}`, question)
      if (side.error !== null) verdicts.push({ type: check.type, passed: false, score: null, reason: side.error.message })
      else if (check.type === 'judge') verdicts.push({ type: check.type, ...(await judgeAnswer(check, item, side, judge)) })
      else if (check.type !== 'pairwise') verdicts.push({ type: check.type, ...checkAnswer(check, item, side) })
      else if (name === 'version' && baseline !== null) {
        const pair = await comparePair(check, item, { answer, baseline }, judge)
        preferences.push(pair.preference)
        verdicts.push({ type: check.type, ...pair.verdict })
      } else verdicts.push({ type: check.type, passed: true, score: null, reason: null })
    }
    return verdicts
  }
  return {
    answer: outcomeOf(answer, await verdictsOf(answer, 'version')),
    baseline: baseline === null ? null : outcomeOf(baseline, await verdictsOf(baseline, 'baseline')),
    preference: preferences[0] ?? null,
  }
}

export const askedOf = (slug: string, version: number, { dialect, body }: ItemRequest): OwnBody => ({
  dialect,
  body: { ...body, ...promptOf(slug, body), model: `@preset/${slug}@${version}` },
})

/** A recorded prompt keeps its variables, but the version that they fill is the one to evaluate. */
const promptOf = (slug: string, { prompt }: JsonObject): JsonObject =>
  isObject(prompt) ? { prompt: { id: slug, variables: prompt['variables'] ?? null } } : {}

/** The result of an item whose recorded request is gone: no model is asked, and nothing is paid. */
export const lostItem = (error: NonNullable<KeptAnswer['error']>, spec: EvaluationSpec): ItemResult => {
  const lost = outcomeOf(
    { generationId: null, error, text: '', calls: [], costNanos: 0, ttftMs: null, totalMs: 0 },
    spec.checks.map(({ type }) => ({ type, passed: false, score: null, reason: error.message })),
  )
  return { answer: lost, baseline: spec.baseline === null ? null : lost, preference: null }
}

const outcomeOf = (answer: KeptAnswer, checks: readonly (Verdict & { type: Check['type'] })[]): Outcome => ({
  text: answer.error === null ? answer.text : null,
  calls: [...answer.calls],
  generation_id: answer.generationId,
  error: answer.error,
  cost: dollars(answer.costNanos),
  ttft_ms: answer.ttftMs,
  total_ms: answer.totalMs,
  checks: [...checks],
  passed: answer.error === null && checks.every(({ passed }) => passed),
})
