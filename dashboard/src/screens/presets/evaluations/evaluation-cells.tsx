/** Table cells for evaluated items: the input, and the answer. */
import { Link } from '@tanstack/react-router'

import type { EvaluationResult } from '../../../api/evaluations.ts'
import { count } from '../../../format.ts'
import { Status } from '../../../parts/status.tsx'

/** The most rows that are shown; the export has all. */
export const ITEMS_SHOWN = 200

const TEXT_MAX = 300

export const ItemsLeftOut = ({ total }: { readonly total: number }) =>
  total <= ITEMS_SHOWN ? null : (
    <p className="soft">
      The first {count(ITEMS_SHOWN)} of {count(total)} items. The answer of the API as CSV or NDJSON has all.
    </p>
  )

export const ItemCell = ({
  item: { messages, generation_id: id },
}: {
  readonly item: Pick<EvaluationResult, 'messages' | 'generation_id'>
}) => {
  if (messages !== null) return <div className="evaluated-text">{shortened(textOf(messages.at(-1)?.['content']))}</div>
  if (id === null) return <span className="faint">–</span>
  return (
    <Link to="/requests/$id" params={{ id }}>
      {id}
    </Link>
  )
}

export const AnswerCell = ({ answer }: { readonly answer: EvaluationResult['answer'] }) => {
  if (answer === null) return <span className="faint">waiting</span>
  const failed = answer.checks.filter(({ passed }) => !passed)
  return (
    <div className="evaluated-text">
      {answer.passed ? (
        <Status mark="ok">passed</Status>
      ) : (
        <Status mark="error">{answer.error === null ? `failed: ${failed.map(({ type }) => type).join(', ')}` : answer.error.type}</Status>
      )}
      {answer.error === null ? answer.checks.map((check, index) => <JudgedBy key={index} check={check} />) : null}
      <p>{shortened(answer.error?.message ?? answer.text ?? answer.calls.map(({ name }) => `${name}()`).join(', '))}</p>
      {answer.generation_id === null ? null : (
        <Link to="/requests/$id" params={{ id: answer.generation_id }}>
          Request
        </Link>
      )}
    </div>
  )
}

type Answer = NonNullable<EvaluationResult['answer']>

/** The score and the words of a check, such as why a judge gave no score. */
const JudgedBy = ({ check: { type, score, reason } }: { readonly check: Answer['checks'][number] }) =>
  score === null && reason === null ? null : (
    <p className="soft">{shortened([type, score === null ? null : ` scored ${score}`, reason === null ? null : `: ${reason}`].join(''))}</p>
  )

const textOf = (content: unknown): string => (typeof content === 'string' ? content : (JSON.stringify(content) ?? ''))

const shortened = (text: string): string => (text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text)
