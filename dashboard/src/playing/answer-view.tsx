/** An answer while it arrives, with its figures and, if it calls tools, fields to enter their results by hand. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'

import { generation } from '../api/generations.ts'
import type { PresetShape } from '../api/presets.ts'
import { count } from '../format.ts'
import { Money } from '../parts/amount.tsx'
import { Button } from '../parts/button.tsx'
import { Copy } from '../parts/copy.tsx'
import { FoldedText } from '../parts/folded-text.tsx'
import { JsonText } from '../parts/json-text.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { warningKey, WarningText } from '../parts/warning-text.tsx'
import type { Message } from './conversation-input.ts'
import type { Answer } from './read-answer.ts'
import type { Run } from './run.ts'
import { duration } from '../units.ts'

interface AnswerViewProps {
  /** The title while there is no answer. */
  readonly title: string
  readonly run: Run | undefined
  /** Called with the model's turn and the results of its calls, to continue the conversation. */
  readonly onResults?: (messages: readonly Message[]) => void
  /** Called with the model's turn, to be followed by a turn of the user. */
  readonly onGoOn?: (turn: Message) => void
}

export const AnswerView = ({ title, run, onResults, onGoOn }: AnswerViewProps) => (
  <section className="answer" aria-label={run?.title ?? title} aria-busy={run?.state === 'running'}>
    <header className="answer-head">
      <h3 className="cut">{run?.title ?? title}</h3>
      <span className="hidden-text" role="status">
        {run === undefined ? '' : stateOf(run)}
      </span>
      {run === undefined ? null : <span className="faint small">{run.preset ?? ''}</span>}
      {run === undefined || run.state === 'running' || run.answer.text === '' ? null : <Copy text={run.answer.text} label="Copy answer" />}
    </header>
    <div className="answer-body">
      {run === undefined ? <p className="faint">The answer appears here.</p> : <AnswerText run={run} />}
      {run !== undefined && run.state !== 'running' && run.answer.calls.length > 0 ? <Calls of={run} onResults={onResults} /> : null}
    </div>
    {run === undefined ? null : <Figures run={run} />}
    {run === undefined || run.state === 'running' || onGoOn === undefined ? null : <Reply to={run} onGoOn={onGoOn} />}
    {run === undefined || run.warnings === 0 || run.generationId === null || run.state === 'running' ? null : (
      <RunWarnings id={run.generationId} count={run.warnings} />
    )}
    {run === undefined || run.generationId === null || run.state === 'running' ? null : <Attempts id={run.generationId} />}
  </section>
)

/** A fault says itself. */
const stateOf = ({ state, fault, title, totalMs }: Run): string =>
  state === 'running' ? `${title} is asked.` : fault === null && totalMs !== null ? `${title} has answered after ${duration(totalMs)}.` : ''

const AnswerText = ({ run: { answer, state, fault } }: { run: Run }) => (
  <>
    {answer.reasoning === '' ? null : (
      <details className="reasoning">
        <summary>Reasoning</summary>
        <FoldedText text={answer.reasoning} />
      </details>
    )}
    <FoldedText text={answer.text} />
    {state === 'running' && answer.text === '' ? <p className="faint">Waiting for the first token…</p> : null}
    {answer.refusal === null ? null : (
      <p className="note warn">
        The model refuses to answer{answer.refusal === '' || answer.refusal === answer.text ? '.' : `: ${answer.refusal}`}
      </p>
    )}
    {state === 'running' || answer.finish === null || answer.refusal !== null ? null : <Ending reason={answer.finish} />}
    {state === 'stopped' ? <p className="soft">Stopped.</p> : null}
    {fault === null ? null : (
      <div className="note bad" role="alert">
        <p className="said">
          <span aria-hidden="true">▲ </span>
          {fault}
        </p>
      </div>
    )}
  </>
)

/** Calls want their results first. */
const Reply = ({ to: run, onGoOn }: { to: Run; onGoOn: (turn: Message) => void }) => {
  const { text, refusal, calls, turns } = run.answer
  if (turns.length === 0 || calls.length > 0) return null
  return (
    <div className="answer-next">
      <Button kind="quiet" onClick={() => onGoOn(turnOf(run, `assistant: ${text || refusal || 'thinking, without words'}`))}>
        Reply
      </Button>
    </div>
  )
}

/** An answer that stops before its end looks like a whole one otherwise. */
const Ending = ({ reason }: { reason: string }) => (ENDINGS[reason] === undefined ? null : <p className="soft small">{ENDINGS[reason]}</p>)

const AT_LIMIT = 'It stops here because it reached the limit of its tokens.'
const FILTERED = 'A filter of the provider ended it.'

/** By the interfaces' names of their reasons. */
const ENDINGS: Readonly<Record<string, string>> = {
  length: AT_LIMIT,
  max_tokens: AT_LIMIT,
  max_output_tokens: AT_LIMIT,
  model_context_window_exceeded: AT_LIMIT,
  content_filter: FILTERED,
}

const turnOf = ({ answer, asked }: Run, title: string): Message => ({
  role: 'raw',
  interface: asked.interface,
  values: answer.turns,
  title,
})

const Figures = ({ run: { answer, firstMs, totalMs, generationId, state } }: { run: Run }) => (
  <footer className="answer-figures small">
    <span className="number">{totalMs === null ? '…' : duration(totalMs)}</span>
    {firstMs === null ? null : <span className="number faint">first token {duration(firstMs)}</span>}
    <span className="number">
      {count(answer.inputTokens)} → {count(answer.outputTokens)} tokens
    </span>
    <span className="number">
      <Money of={answer.costUsd} />
    </span>
    {generationId === null || state === 'running' ? null : (
      <Link to="/requests/$id" params={{ id: generationId }}>
        Request
      </Link>
    )}
  </footer>
)

/** Lists the attempts in order. The record is fetched only when somebody opens the list. */
const Attempts = ({ id }: { id: string }) => {
  const [isOpen, setOpen] = useState(false)
  const record = useQuery({ ...generation(id), enabled: isOpen })
  return (
    <details className="answer-attempts small" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Attempts</summary>
      {isOpen ? (
        <Loaded query={record} rows={1}>
          {({ provider_responses: attempts }) => (
            <ol>
              {(attempts ?? []).map(({ provider_name: provider, status, latency, message }, index) => (
                <li key={index}>
                  {provider ?? 'nobody'} · {status ?? 'no answer'} · {duration(latency)}
                  {message == null ? '' : ` · ${message}`}
                </li>
              ))}
            </ol>
          )}
        </Loaded>
      ) : null}
    </details>
  )
}

/** Names each field of the request that was not applied. */
const RunWarnings = ({ id, count }: { id: string; count: number }) => {
  const record = useQuery(generation(id))
  return (
    <ul className="answer-warnings small" aria-label={count === 1 ? '1 warning' : `${count} warnings`}>
      {(record.data?.warnings ?? []).map((warning) => (
        <li key={warningKey(warning)}>
          <WarningText of={warning} />
        </li>
      ))}
    </ul>
  )
}

const Calls = ({ of: run, onResults }: { of: Run; onResults: AnswerViewProps['onResults'] }) => {
  const [results, setResults] = useState<Readonly<Record<string, string>>>({})
  const { answer } = run
  const dialect = run.asked.interface
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const called = turnOf(run, `calls of ${answer.calls.map(({ name }) => name).join(', ')}`)
    onResults?.([called, { role: 'raw', interface: dialect, values: resultsOf(dialect, answer, results), title: 'their results' }])
  }
  return (
    <form className="stack calls" onSubmit={submit}>
      {answer.calls.map(({ id, name, input }) => (
        <div className="part-card" key={id}>
          <p>
            calls <code>{name}</code>
          </p>
          <JsonText value={asJson(input)} />
          {onResults === undefined ? null : (
            <textarea
              aria-label={`Result of ${name}`}
              placeholder="Its result, by hand"
              rows={2}
              value={results[id] ?? ''}
              onChange={({ target: { value } }) => setResults((now) => ({ ...now, [id]: value }))}
            />
          )}
        </div>
      ))}
      {onResults === undefined ? null : (
        <div>
          <Button type="submit">Answer and go on</Button>
        </div>
      )}
    </form>
  )
}

const asJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const resultsOf = (dialect: PresetShape, { calls }: Answer, results: Readonly<Record<string, string>>): readonly unknown[] => {
  if (dialect === 'responses') {
    return calls.map(({ id, isCustom }) => ({
      type: isCustom === true ? 'custom_tool_call_output' : 'function_call_output',
      call_id: id,
      output: results[id] ?? '',
    }))
  }
  if (dialect === 'chat') return calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: results[id] ?? '' }))
  return [{ role: 'user', content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: results[id] ?? '' })) }]
}
