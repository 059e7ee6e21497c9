/** Stops a running evaluation, or resumes a stopped one. */
import { useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'

import { type Evaluation, resumeEvaluation, stopEvaluation } from '../../../api/evaluations.ts'
import { Money } from '../../../parts/amount.tsx'
import { Button } from '../../../parts/button.tsx'
import { Confirm } from '../../../parts/confirm.tsx'
import { Field } from '../../../parts/field.tsx'
import { noAmount, readNumber, writeNumber } from '../../../typed-number.ts'

interface EvaluationRunProps {
  readonly slug: string
  readonly evaluation: Evaluation
}

export const EvaluationRun = ({ slug, evaluation: { id, state, budget_usd: budget, cost } }: EvaluationRunProps) => {
  const { workspace } = useSearch({ strict: false })
  const queries = useQueryClient()
  const [asked, setAsked] = useState<string | null>(null)
  const scope = { workspace_id: workspace }
  const reload = (): Promise<void> => queries.invalidateQueries({ queryKey: ['presets', slug, 'evaluations'] })
  if (state === 'running') return <Button onClick={() => stopEvaluation(slug, id, scope).then(reload)}>Stop</Button>
  if (state === 'done') return null
  const resume = async (): Promise<void> => {
    const raised = asked === null ? null : readNumber(asked)
    if (asked !== null && (raised === null || raised === 0)) throw new Error(`Budget: ${noAmount(asked)}`)
    await resumeEvaluation(slug, id, raised, scope)
    await reload()
  }
  return (
    <>
      <Button onClick={() => (budget === null ? resume() : setAsked(writeNumber(budget)))}>Resume</Button>
      {asked === null ? null : (
        <Confirm title="Resume the evaluation" action="Resume" onConfirm={resume} onClose={() => setAsked(null)}>
          <Field
            label="Budget in dollars"
            hint={
              <>
                For all of it: <Money of={cost} /> are spent.
              </>
            }
          >
            <input inputMode="decimal" className="short" value={asked} onChange={(event) => setAsked(event.target.value)} />
          </Field>
        </Confirm>
      )}
    </>
  )
}
