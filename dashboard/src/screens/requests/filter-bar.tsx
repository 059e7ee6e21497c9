/** The filter as text, with suggestions for its keys and their values. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useId, useRef } from 'react'

import type { Guardrail } from '../../api/guardrails.ts'
import { useTyped } from '../../parts/use-typed.ts'
import { leaveByEscape, useKeys } from '../../shell/keyboard.ts'
import { FILTER_KEYS, filterText, type ReadFilter } from './filter.ts'
import { useGuardrails } from './use-guardrails.ts'

export const FilterBar = ({ faults }: Pick<ReadFilter, 'faults'>) => {
  const { q = '', workspace } = useSearch({ strict: false })
  const navigate = useNavigate()
  const { text, type, sent } = useTyped(q)
  const input = useRef<HTMLInputElement>(null)
  const id = useId()
  const guardrails = useGuardrails(workspace, OPEN_GUARDRAIL.test(text)).rows
  useKeys({ '/': () => input.current?.focus() })
  const apply = (next: string): void => {
    sent(next.trim())
    void navigate({ to: '.', search: (search) => ({ ...search, q: next.trim() || undefined }) })
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    apply(text)
  }
  return (
    <search className="filter">
      <form onSubmit={submit} className="filter-form">
        <input
          ref={input}
          type="search"
          value={text}
          onChange={(event) => type(event.target.value)}
          onBlur={() => apply(text)}
          onKeyDown={leaveByEscape}
          placeholder="Filter: status:error model:gpt preset:support-bot cost>0.01"
          aria-label="Filter"
          aria-describedby={faults.length > 0 ? `${id}-faults` : undefined}
          aria-invalid={faults.length > 0}
          list={`${id}-words`}
          autoComplete="off"
          spellCheck={false}
        />
        <datalist id={`${id}-words`}>
          {suggestions(text, guardrails).map((word) => (
            <option key={word} value={word} />
          ))}
        </datalist>
      </form>
      {faults.length === 0 ? null : (
        <p id={`${id}-faults`} className="filter-faults" role="alert">
          Not used:{' '}
          {faults.map(({ word, reason }, index) => (
            <span key={word}>
              {index === 0 ? '' : '; '}
              <code>{word}</code> ({reason})
            </span>
          ))}
        </p>
      )}
    </search>
  )
}

/** Matches if the last word is the beginning of a guardrail filter. */
const OPEN_GUARDRAIL = /(?<=^|\s)guardrail:(?:"[^"]*"?|\S*)$/

/** The whole filter texts that are suggested for the present text. */
const suggestions = (text: string, guardrails: readonly Guardrail[]): readonly string[] => {
  const open = OPEN_GUARDRAIL.exec(text)
  if (open !== null) return guardrails.map(({ name }) => text.slice(0, open.index) + filterText({ guardrail: name }))
  const before = text.slice(0, text.lastIndexOf(' ') + 1)
  return Object.entries(FILTER_KEYS).flatMap(([name, { values }]) =>
    values === undefined ? [`${before}${name}:`] : values.map((value) => `${before}${name}:${value}`),
  )
}
