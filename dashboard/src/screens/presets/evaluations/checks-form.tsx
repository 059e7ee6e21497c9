/** The checks of a new evaluation. An answer passes if it passes all of them. */
import { Button } from '../../../parts/button.tsx'
import { Field } from '../../../parts/field.tsx'
import { ModelInput } from '../../../playing/model-input.tsx'
import { type Check, CHECK_KINDS, type CheckRow, newCheck } from './check-rows.ts'

const TYPES = Object.keys(CHECK_KINDS) as readonly Check['type'][]

interface ChecksFormProps {
  readonly rows: readonly CheckRow[]
  readonly onRows: (rows: readonly CheckRow[]) => void
}

export const ChecksForm = ({ rows, onRows }: ChecksFormProps) => {
  const change = (id: number, changes: Partial<CheckRow>): void => onRows(rows.map((row) => (row.id === id ? { ...row, ...changes } : row)))
  return (
    <fieldset className="stack checks">
      <legend>An answer passes where it</legend>
      {rows.map((row, at) => (
        <div key={row.id} className="check-row">
          <div className="row">
            <select
              aria-label={`Check ${at + 1}`}
              value={row.type}
              onChange={(event) => {
                const type = TYPES.find((known) => known === event.target.value)
                if (type !== undefined) change(row.id, { ...newCheck(rows, type), id: row.id })
              }}
            >
              {TYPES.map((type) => (
                <option key={type} value={type}>
                  {CHECK_KINDS[type].title}
                </option>
              ))}
            </select>
            <button
              type="button"
              className="icon-button"
              aria-label={`Remove check ${at + 1}`}
              onClick={() => onRows(rows.filter(({ id }) => id !== row.id))}
            >
              ×
            </button>
          </div>
          <CheckFields row={row} change={(changes) => change(row.id, changes)} />
        </div>
      ))}
      <div>
        <Button onClick={() => onRows([...rows, newCheck(rows, rows.length === 0 ? 'contains' : 'latency')])}>Add a check</Button>
      </div>
    </fieldset>
  )
}

const CheckFields = ({ row, change }: { row: CheckRow; change: (changes: Partial<CheckRow>) => void }) => {
  const { text, number, hasModel = false, hasCase = false } = CHECK_KINDS[row.type]
  const written = {
    value: row.text,
    placeholder: text?.placeholder ?? '',
    spellCheck: false,
    onChange: (event: { target: { value: string } }) => change({ text: event.target.value }),
  }
  return (
    <>
      {hasModel ? (
        <Field label="Model that judges">
          <ModelInput value={row.model} onChange={(model) => change({ model })} />
        </Field>
      ) : null}
      {text === undefined ? null : (
        <Field label={text.label}>{text.isLong === true ? <textarea rows={3} {...written} /> : <input {...written} />}</Field>
      )}
      {number === undefined ? null : (
        <Field label={number.label}>
          <input inputMode="decimal" className="short" value={row.number} onChange={(event) => change({ number: event.target.value })} />
        </Field>
      )}
      {hasCase ? (
        <label className="check">
          <input type="checkbox" checked={row.ignoresCase} onChange={(event) => change({ ignoresCase: event.target.checked })} />
          Capitals and small letters are the same
        </label>
      ) : null}
    </>
  )
}
