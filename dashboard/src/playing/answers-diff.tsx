/** Compares each of the answers with the first one, word by word. */
import { DiffText } from '../diff/diff-text.tsx'
import type { Run } from './run.ts'

interface AnswersDiffProps {
  readonly answers: readonly { readonly title: string; readonly run: Run | undefined }[]
}

export const AnswersDiff = ({ answers }: AnswersDiffProps) => {
  const [first, ...others] = answers.flatMap(({ title, run }) =>
    run === undefined || run.state === 'running' || run.answer.text === '' ? [] : [{ title, text: run.answer.text }],
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
