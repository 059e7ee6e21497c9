/** The attempts on one time axis, and the providers that were skipped. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import type { Generation } from '../../api/generations.ts'
import { currentSession } from '../../api/session.ts'
import { Panel } from '../../parts/panel.tsx'
import { wordsOfProvider } from '../../parts/provider-words.ts'
import { axisTicks } from './axis-ticks.ts'
import { duration } from '../../units.ts'

type Attempt = NonNullable<Generation['provider_responses']>[number]

export const Timeline = ({ record }: { record: Generation }) => {
  const attempts = record.provider_responses ?? []
  const spans = spansOf(attempts)
  const end = Math.max(...spans.map(({ startMs, endMs }) => Math.max(startMs + 1, endMs)), record.generation_time ?? 0, 1)
  return (
    <Panel title="Timeline">
      <ol className="timeline">
        {record.pipeline.map((step) => (
          <li key={JSON.stringify(step)} className="timeline-row">
            <span className="cut">
              <StepName of={step} />
            </span>
            <span className="timeline-track soft">{step.summary}</span>
            <span />
          </li>
        ))}
        {spans.map(({ attempt, startMs, endMs, firstMs }, index) => (
          <li key={index} className="timeline-row">
            <span className="cut" title={`${attempt.provider_name} · ${attempt.model_permaslug}`}>
              {attempt.provider_name}
            </span>
            <span className="timeline-track">
              <svg
                viewBox="0 0 1000 14"
                preserveAspectRatio="none"
                aria-hidden="true"
                className={attempt.error_type === null ? 'span ok' : 'span bad'}
              >
                <rect x={(startMs / end) * 1000} width={Math.max(3, ((endMs - startMs) / end) * 1000)} height="14" rx="2" />
                {firstMs === null ? null : <line x1={(firstMs / end) * 1000} x2={(firstMs / end) * 1000} y1="0" y2="14" />}
              </svg>
              <span className="timeline-said">
                {attempt.error_type === null ? (
                  <>
                    <span className="mark-ok" aria-hidden="true">
                      ●{' '}
                    </span>
                    answered{firstMs === null ? '' : `, first token after ${duration(firstMs - startMs)}`}
                  </>
                ) : (
                  <>
                    <span className="mark-bad">
                      <span aria-hidden="true">▲ </span>
                      {attempt.status ?? 'no answer'} {attempt.error_type}
                    </span>
                    {attempt.message === null ? '' : `: ${wordsOfProvider(attempt.message, attempt.provider_name) ?? attempt.message}`}
                  </>
                )}
              </span>
            </span>
            <span className="right number soft">{duration(attempt.latency)}</span>
          </li>
        ))}
      </ol>
      {attempts.length === 0 ? <p className="soft">No provider was asked.</p> : <Axis endMs={end} />}
      {record.removed.length === 0 ? null : (
        <p className="soft not-asked">
          Not asked:{' '}
          {record.removed.map(({ provider, model, reason }, index) => (
            <span key={`${provider} ${model} ${reason}`}>
              {index === 0 ? '' : ' · '}
              <span title={model}>{provider}</span> ({reason})
            </span>
          ))}
        </p>
      )}
    </Panel>
  )
}

/** Members may not read guardrails, so they get no link. */
const StepName = ({ of: { name, guardrail_id: guardrail } }: { of: Generation['pipeline'][number] }) => {
  const isAdmin = useQuery(currentSession).data?.role === 'admin'
  return guardrail === undefined || !isAdmin ? (
    name
  ) : (
    <Link to="/guardrails" search={{ guardrail }} title="The guardrail">
      {name}
    </Link>
  )
}

const Axis = ({ endMs }: { endMs: number }) => (
  <div className="timeline-row axis" aria-hidden="true">
    <span />
    <span className="timeline-axis faint number">
      {axisTicks(endMs).map(({ share, label }) => (
        <span key={label} style={{ left: `${share * 100}%` }}>
          {label}
        </span>
      ))}
    </span>
    <span />
  </div>
)

interface Span {
  readonly attempt: Attempt
  readonly startMs: number
  readonly endMs: number
  readonly firstMs: number | null
}

/** Old records have no start times of attempts, so their attempts are laid out one after the other. */
const spansOf = (attempts: readonly Attempt[]): readonly Span[] => {
  let at = 0
  return attempts.map((attempt) => {
    const startMs = attempt.started_ms ?? at
    at = startMs + attempt.latency
    return { attempt, startMs, endMs: at, firstMs: attempt.first_token_ms }
  })
}
