/** One item of an evaluation: its requests, each made and paid for once, and the checks of their answers. */
import type { Check, EvaluationItem, Outcome } from '../../contract/evaluation.ts'
import type { JsonObject } from '../../lib/json.ts'
import { dollars } from '../../lib/money.ts'
import type { EvaluationSpec, ItemResult, KeptAnswer } from '../../storage/evaluation-store.ts'
import { checkAnswer, type Verdict } from './check-answer.ts'
import { type AskJudge, comparePair, judgeAnswer, type Preference } from './judge-answer.ts'

/** Makes the request of this name, or gives the answer that it got before. */
export type AskOnce = (name: string, body: JsonObject) => Promise<KeptAnswer>

export const runItem = async (slug: string, item: EvaluationItem, spec: EvaluationSpec, ask: AskOnce): Promise<ItemResult> => {
  const answer = await ask('version', bodyFor(slug, spec.version, item))
  const baseline = spec.baseline === null ? null : await ask('baseline', bodyFor(slug, spec.baseline, item))
  const preferences: Preference[] = []
  const verdictsOf = async (side: KeptAnswer, name: 'version' | 'baseline'): Promise<readonly (Verdict & { type: Check['type'] })[]> => {
    const verdicts: (Verdict & { type: Check['type'] })[] = []
    for (const [at, check] of spec.checks.entries()) {
      let asked = 0
      const judge: AskJudge = (model, system, question) => ask(`judge-${at}-${name}-${(asked += 1)}`, judgeBody(model, system, question))
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

/** The body with which a version answers an item. */
export const bodyFor = (slug: string, version: number, { messages, tools }: EvaluationItem): JsonObject => ({
  model: `@preset/${slug}@${version}`,
  messages: messages,
  ...(tools === null ? {} : { tools: tools }),
})

const JUDGE_TOKENS_MAX = 1000

const judgeBody = (model: string, system: string, question: string): JsonObject => ({
  model,
  messages: [
    { role: 'system', content: system },
    { role: 'user', content: question },
  ],
  max_tokens: JUDGE_TOKENS_MAX,
})

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
