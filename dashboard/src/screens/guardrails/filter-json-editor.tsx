import { useState } from 'react'

import { JsonEditor } from '../../parts/json-editor.tsx'
import { filterJson, readFilterJson } from './filter-json.ts'
import type { PatternFaults, WrittenRules } from './filter-rows.ts'

interface FilterJsonEditorProps {
  readonly rules: WrittenRules
  readonly faults: PatternFaults
  readonly onChange: (rules: WrittenRules) => void
}

export const FilterJsonEditor = ({ rules: { rows, unread }, faults, onChange }: FilterJsonEditorProps) => {
  const written = filterJson(rows)
  // The spaces and line breaks of a text stay for as long as the rules are those that it says.
  const [typed, setTyped] = useState({ of: written, text: written })
  return (
    <JsonEditor
      label="Rules as JSON"
      value={unread ?? (typed.of === written ? typed.text : written)}
      fault={faultOf(unread) ?? ([...faults.values()].join(' ') || null)}
      onChange={(text) => {
        const read = readFilterJson(text, rows)
        if ('rows' in read) setTyped({ of: filterJson(read.rows), text })
        onChange('rows' in read ? { rows: read.rows, unread: null } : { rows, unread: text })
      }}
    />
  )
}

const faultOf = (unread: string | null): string | null => {
  const read = unread === null ? null : readFilterJson(unread, [])
  return read !== null && 'fault' in read ? read.fault : null
}
