/** Compares each of the answers with the first one, word by word. */
import { DiffText } from '../diff/diff-text.tsx'
import type { Run } from './run.ts'

interface AnswersDiffProps {
  readonly answers: readonly (Run | undefined)[]
}

export const AnswersDiff = ({ answers }: AnswersDiffProps) => {
  const [first, ...others] = answers.flatMap((run) =>
    run === undefined || run.state === 'running' || run.answer.text === '' ? [] : [{ title: titleOf(run, answers), text: run.answer.text }],
  )
  if (first === undefined || others.length === 0) return null
  return (
    <details className="answers-diff">
      <summary>Compare the answers</summary>
      {others.map(({ title, text }, index) => (
        <section key={index} className="diff stack" aria-label={`${first.title} compared with ${title}`}>
          <p className="soft small">
            <del>only in {first.title}</del> <ins>only in {title}</ins>
          </p>
          {text === first.text ? <p className="soft">They say the same.</p> : <DiffText before={first.text} after={text} />}
        </section>
      ))}
    </details>
  )
}

/** With the number of the column if two answers have the same title. */
const titleOf = (run: Run, answers: AnswersDiffProps['answers']): string =>
  answers.filter((other) => other?.title === run.title).length === 1 ? run.title : `${run.title} (column ${answers.indexOf(run) + 1})`
