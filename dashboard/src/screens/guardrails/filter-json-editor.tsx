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
  const [text, setText] = useState(() => filterJson(rows))
  const [wrong, setWrong] = useState<string | null>(null)
  return (
    <JsonEditor
      label="Rules as JSON"
      value={text}
      fault={wrong ?? ([...faults.values()].join(' ') || null)}
      onChange={(next) => {
        const read = readFilterJson(next, rows)
        setText(next)
        setWrong('fault' in read ? read.fault : null)
        onRows('fault' in read ? null : read.rows)
      }}
    />
  )
}
