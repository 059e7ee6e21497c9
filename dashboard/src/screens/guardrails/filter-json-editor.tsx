import { useState } from 'react'

import { JsonEditor } from '../../parts/json-editor.tsx'
import { filterJson, readFilterJson } from './filter-json.ts'
import type { FilterRow, PatternFaults } from './filter-rows.ts'

interface FilterJsonEditorProps {
  readonly rows: readonly FilterRow[]
  readonly faults: PatternFaults
  /** Called with the rules, or with null if the text is not valid. */
  readonly onRows: (rows: readonly FilterRow[] | null) => void
}

export const FilterJsonEditor = ({ rows, faults, onRows }: FilterJsonEditorProps) => {
  const written = filterJson(rows)
  const [of, setOf] = useState(written)
  const [text, setText] = useState(written)
  const [wrong, setWrong] = useState<string | null>(null)
  // Somebody else saved other rules. A text that is not valid yet stays, since it is nowhere else.
  if (of !== written && wrong === null) {
    setOf(written)
    setText(written)
  }
  return (
    <JsonEditor
      label="Rules as JSON"
      value={text}
      fault={wrong ?? ([...faults.values()].join(' ') || null)}
      onChange={(next) => {
        const read = readFilterJson(next, rows)
        setText(next)
        setWrong('fault' in read ? read.fault : null)
        if ('rows' in read) setOf(filterJson(read.rows))
        onRows('fault' in read ? null : read.rows)
      }}
    />
  )
}
