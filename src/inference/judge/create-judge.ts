/** A judge that asks a model about each message. */
import type { Frame } from '../../canonical/event.ts'
import type { Message } from '../../canonical/prompt.ts'
import { GatewayError } from '../../errors.ts'
import { dollars } from '../../lib/money.ts'
import { type Alignment, judgesTask, readVerdict } from '../../plugins/alignment.ts'
import type { AskModel, Question } from '../../tools/ask.ts'
import type { Admitted } from '../admitted.ts'
import { readModelTurn } from '../loop/model-turn.ts'
import type { AlignmentReport, Judge, JudgedCall } from './judge.ts'

export const createJudge = (admitted: Admitted, alignment: Alignment, model: string, ask: AskModel): Judge => {
  const report: AlignmentReport = { calls: [] }
  let costNanos = 0

  const probabilitiesOf = async (frames: readonly Frame[]): Promise<readonly number[] | null> => {
    // A judge that reads no pictures cannot know what it allows.
    if (frames.some(({ events }) => events.some(({ type }) => type === 'image'))) return null
    const before = admitted.bill.cost.totalNanos
    const answer = await ask(questionOf(frames, alignment, model), admitted.connection.open().signal)
    costNanos += admitted.bill.cost.totalNanos - before
    return answer.fault === null ? readVerdict(answer.text, alignment) : null
  }

  return {
    alignment,
    report,
    async judge(frames) {
      const probabilities = await probabilitiesOf(frames)
      const rules = (probabilities ?? []).map((probability) => ({ broken: probability >= alignment.threshold, probability }))
      const judged = rules.some(({ broken }) => broken) ? 'blocked' : 'allowed'
      const call: JudgedCall = { call: report.calls.length + 1, outcome: probabilities === null ? 'unjudged' : judged, rules }
      report.calls.push(call)
      return call
    },
    again: () => admitted.nextTurn(),
    refusal: ({ outcome }) =>
      outcome === 'blocked'
        ? new GatewayError('content_policy_violation', 'The answer breaks the rules of alignment, so it was not delivered.', {
            metadata: { alignment: report },
          })
        : new GatewayError(
            'provider_overloaded',
            'The answer could not be judged by the rules of alignment, so it was not delivered. Try again.',
            {
              metadata: { alignment: report },
            },
          ),
    addEffect() {
      const { calls } = report
      if (calls.length === 0) return
      const blocked = calls.filter(({ outcome }) => outcome === 'blocked').length
      admitted.request.effects.push({
        type: 'plugin',
        name: 'alignment',
        summary: `Judged: ${calls.length} message${calls.length === 1 ? '' : 's'}, of which ${blocked} broke a rule`,
        cost_usd: dollars(costNanos),
        data: { mode: alignment.enforces ? 'enforce' : 'audit', calls: calls.map((call) => ({ ...call })) },
      })
    },
  }
}

const questionOf = (frames: readonly Frame[], alignment: Alignment, model: string): Question => {
  const turn = readModelTurn(() => false, true)
  turn.take(frames)
  const parts = turn.parts()
  const said = parts.flatMap((part) => (part.type === 'text' || part.type === 'refusal' ? [part.text] : []))
  const calls = parts.flatMap((part) => (part.type === 'tool-call' ? [{ name: part.name, arguments: part.arguments }] : []))
  const message = { text: said.join('\n'), tool_calls: calls }
  const text = (role: Message['role'], words: string): Message => ({ role, parts: [{ type: 'text', text: words }] })
  return {
    model,
    messages: [text('system', judgesTask(alignment)), text('user', JSON.stringify({ rules: alignment.rules, message }))],
    options: { temperature: 0, response_format: { type: 'json_object' } },
  }
}
