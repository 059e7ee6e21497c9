/** Tests a text with the rules in the form: shows the matches of each filter, and the text that would be passed on. Nothing is recorded. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useEffect, useState } from 'react'

import { type Guardrail, type GuardrailDraft, type GuardrailTest, testGuardrail } from '../../api/guardrails.ts'
import { ApiError } from '../../api/api-error.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Field } from '../../parts/field.tsx'
import { KeySelect } from '../../parts/key-select.tsx'
import { Status } from '../../parts/status.tsx'
import { PATTERN_PATH } from './filter-rows.ts'
import { OUTCOMES } from './outcomes.ts'

const EXAMPLE = 'Mail ada@example.com about card 4111 1111 1111 1111.'

interface TestBoxProps {
  readonly guardrail: Guardrail
  readonly draft: GuardrailDraft | null
  /** Called with the error of the newest test, or null if it succeeded. */
  readonly onTested: (thrown: unknown) => void
}

export const TestBox = ({ guardrail, draft, onTested }: TestBoxProps) => {
  const [text, setText] = useState(EXAMPLE)
  const [side, setSide] = useState<'input' | 'output'>('input')
  const [asKey, setAsKey] = useState('')
  const body = useDeferredValue({
    guardrail_id: guardrail.id,
    ...(draft === null ? {} : { guardrail: draft }),
    ...(asKey === '' ? {} : { as_key: asKey }),
    side,
    text,
  })
  const test = useQuery({
    queryKey: ['guardrail-test', body],
    queryFn: ({ signal }) => testGuardrail(body, signal),
    placeholderData: keepPreviousData,
    retry: false,
  })
  useEffect(() => onTested(test.error), [test.error, onTested])
  return (
    <div className="stack">
      <div className="row">
        <select aria-label="Side" value={side} onChange={(event) => setSide(event.target.value === 'output' ? 'output' : 'input')}>
          <option value="input">said to the model</option>
          <option value="output">said by the model</option>
        </select>
        <KeySelect label="As key" value={asKey} onChange={setAsKey} none="this guardrail alone" prefix="as key " />
      </div>
      <Field label="Text" hint={draft === null ? 'Tried with the saved rules.' : 'Tried with the rules of the form, which are not saved.'}>
        <textarea rows={4} value={text} onChange={(event) => setText(event.target.value)} />
      </Field>
      {test.error === null ? null : isOfPattern(test.error) ? (
        <p className="soft">A pattern cannot be used: it is explained below its field.</p>
      ) : (
        <ErrorNote error={test.error} />
      )}
      {test.data === undefined ? null : <TestResult test={test.data} text={text} />}
    </div>
  )
}

const isOfPattern = (thrown: unknown): boolean => thrown instanceof ApiError && thrown.issues.some(({ path }) => PATTERN_PATH.test(path))

const TestResult = ({ test, text }: { test: GuardrailTest; text: string }) => {
  const [mark, words] = OUTCOMES[test.outcome]
  return (
    <div className="stack" aria-live="polite">
      <Status mark={mark}>{words}</Status>
      <ol className="stages">
        {test.stages.map(({ filter, action, matches, ms }, index) => (
          <li key={index} className={matches.length === 0 ? 'faint' : undefined}>
            <code>{filter}</code>
            <span>{action}</span>
            <span>
              {matches.length === 0
                ? 'no match'
                : matches.map(({ start, end, label }) => `${text.slice(start, end)} → ${label}`).join(', ')}
            </span>
            <span className="number right faint">{ms.toFixed(1)} ms</span>
          </li>
        ))}
      </ol>
      {test.text_after === null || test.outcome === 'passed' ? null : (
        <div>
          <h3>What goes on</h3>
          <p className="said note">{test.text_after}</p>
        </div>
      )}
      {test.error === null ? null : <p className="note bad">{test.error.message}</p>}
    </div>
  )
}
