/** Tries the rules in the form on the newest requests whose contents are stored: shows which would have been stopped or changed. */
import { useMutation } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'

import { type Guardrail, type GuardrailDraft, type RequestsTried, tryOnRequests } from '../../api/guardrails.ts'
import { count } from '../../format.ts'
import { Button } from '../../parts/button.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Status } from '../../parts/status.tsx'
import { Table } from '../../parts/table.tsx'
import { When } from '../../parts/when.tsx'
import { OUTCOMES } from './outcomes.ts'

export const TryOnRequests = ({ guardrail, draft }: { guardrail: Guardrail; draft: GuardrailDraft | null }) => {
  const { workspace } = useSearch({ strict: false })
  const body = { guardrail_id: guardrail.id, ...(draft === null ? {} : { guardrail: draft }) }
  const rules = JSON.stringify(body)
  const trial = useMutation({
    mutationFn: async (asked: string) => ({ rules: asked, tried: await tryOnRequests(JSON.parse(asked), workspace) }),
  })
  // The outcome is shown only if it is of the rules that are now in the form.
  const tried = trial.data?.rules === rules ? trial.data.tried : undefined
  return (
    <div className="stack">
      <div className="row">
        <Button onClick={() => trial.mutate(rules)} busy={trial.isPending} title="Reads what is stored of them, which the audit log says">
          Try on the last 200 stored requests
        </Button>
        <span role="status">
          {trial.isPending ? 'Trying…' : tried === undefined || tried.with_contents === 0 ? '' : `${count(tried.blocked)} would be blocked`}
        </span>
      </div>
      {trial.error === null || trial.isPending ? null : <ErrorNote error={trial.error} />}
      {tried === undefined ? null : <Outcome of={tried} />}
    </div>
  )
}

const Outcome = ({ of: tried }: { of: RequestsTried }) =>
  tried.with_contents === 0 ? (
    <>
      <p className="soft">
        {tried.looked_at === 0 ? 'There are no requests yet.' : `No contents are stored of the ${newest(tried.looked_at)}.`}
      </p>
      <Link to="/settings">Keep contents of new requests</Link>
    </>
  ) : (
    <>
      <p className="soft">{sentenceOf(tried)}</p>
      {tried.found.length === 0 ? null : (
        <Table
          label="Requests in which something was found"
          rows={tried.found}
          rowKey={({ generation_id: id }) => id}
          columns={[
            {
              title: 'Request',
              isHead: true,
              cell: ({ generation_id: id, created_at: at }) => (
                <Link to="/requests/$id" params={{ id }}>
                  <When at={at} />
                </Link>
              ),
            },
            { title: 'Outcome', cell: ({ outcome }) => <Status mark={OUTCOMES[outcome][0]}>{WORDS[outcome]}</Status> },
            {
              title: 'Found',
              cell: ({ filters, sides }) => (
                <span title={sides.map((side) => (side === 'input' ? 'in the request' : 'in the answer')).join(' and ')}>
                  {filters.join(', ') || '–'}
                </span>
              ),
            },
          ]}
        />
      )}
    </>
  )

const WORDS = { blocked: 'Blocked', redacted: 'Redacted', flagged: 'Reported' } as const

const newest = (requests: number): string => (requests === 1 ? 'last request' : `last ${count(requests)} requests`)

const sentenceOf = ({ looked_at, with_contents, tried, left_out, redacted, flagged, passed }: RequestsTried): string => {
  const why = [
    [left_out.too_large, 'too large'],
    [left_out.no_room, 'more than one trial reads'],
    [left_out.gone, 'gone'],
  ]
    .filter(([number]) => number !== 0)
    .map(([number, reason]) => `${number} ${reason}`)
  return [
    `Of the ${newest(looked_at)}, ${count(with_contents)} ${with_contents === 1 ? 'has its' : 'have their'} contents stored.`,
    tried === with_contents ? '' : `${count(tried)} were tried (${why.join(', ')}).`,
    `${count(redacted)} would be redacted, ${count(flagged)} reported, ${count(passed)} pass as they are.`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}
