/** The source of a new evaluation's items: saved tests, recorded requests, or a file. */
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'

import { presetTests } from '../../../api/presets.ts'
import { currentSession } from '../../../api/session.ts'
import { workspaceOf } from '../../../api/workspaces.ts'
import { count } from '../../../format.ts'
import { Field } from '../../../parts/field.tsx'
import { type EvaluationForm, SOURCES } from './evaluation-form.ts'
import { readItemSet } from './item-set.ts'

interface ItemsSourceProps {
  readonly slug: string
  readonly form: EvaluationForm
  readonly onChange: (changes: Partial<EvaluationForm>) => void
}

const NAMES = Object.keys(SOURCES) as readonly (keyof typeof SOURCES)[]

export const ItemsSource = ({ slug, form, onChange }: ItemsSourceProps) => (
  <fieldset className="stack">
    <legend>Items</legend>
    <div className="row">
      {NAMES.map((name) => (
        <label key={name} className="check">
          <input type="radio" name="source" checked={form.source === name} onChange={() => onChange({ source: name })} />
          {SOURCES[name]}
        </label>
      ))}
    </div>
    {form.source === 'tests' ? <SavedTestsNote slug={slug} /> : null}
    {form.source === 'recorded' ? <Recorded form={form} onChange={onChange} /> : null}
    {form.source === 'file' ? <UploadedSet form={form} onChange={onChange} /> : null}
  </fieldset>
)

const SavedTestsNote = ({ slug }: Pick<ItemsSourceProps, 'slug'>) => {
  const { workspace } = useSearch({ strict: false })
  const tests = useQuery(presetTests(slug, { workspace_id: workspace }))
  const names = tests.data?.map(({ name }) => name)
  if (names === undefined) return null
  return (
    <p className="soft">
      {names.length === 0 ? (
        <>
          There are none yet:{' '}
          <Link to="/presets/$slug" params={{ slug }}>
            write a test in the editor
          </Link>{' '}
          and save it.
        </>
      ) : (
        `${count(names.length)}: ${names.slice(0, 8).join(', ')}${names.length > 8 ? ' …' : ''}`
      )}
    </p>
  )
}

const Recorded = ({ form: { recorded }, onChange }: Omit<ItemsSourceProps, 'slug'>) => {
  const { workspace } = useSearch({ strict: false })
  const own = useQuery(currentSession).data?.workspace_id
  const settings = useQuery({ ...workspaceOf(workspace ?? own ?? 'default'), enabled: (workspace ?? own) !== undefined })
  return (
    <>
      <p className="soft">The newest requests with this preset that were answered and whose contents are kept.</p>
      {settings.data?.is_observability_io_logging_enabled === false ? (
        <p className="note warn small">
          Contents are not kept in this workspace. <Link to="/settings">Settings</Link> keep them for new requests.
        </p>
      ) : null}
      <Field label="Requests at most">
        <input
          inputMode="numeric"
          className="short"
          value={recorded.limit}
          onChange={(event) => onChange({ recorded: { ...recorded, limit: event.target.value } })}
        />
      </Field>
      <label className="check">
        <input
          type="checkbox"
          checked={recorded.expectsAnswer}
          onChange={(event) => onChange({ recorded: { ...recorded, expectsAnswer: event.target.checked } })}
        />
        What was answered then is what each item expects
      </label>
    </>
  )
}

const UploadedSet = ({ form: { set }, onChange }: Omit<ItemsSourceProps, 'slug'>) => {
  const read = async (file: File | undefined): Promise<void> =>
    onChange({ set: file === undefined ? null : readItemSet(await file.text(), file.name) })
  return (
    <>
      <Field
        label="File"
        hint='A list of items as JSON, or one item a line (.jsonl), such as { "messages": [{ "role": "user", "content": "Hi" }], "expected": "Hello" }'
        fault={set !== null && 'fault' in set ? set.fault : null}
      >
        <input type="file" accept=".json,.jsonl,.ndjson,application/json" onChange={(event) => void read(event.target.files?.[0])} />
      </Field>
      {set === null || 'fault' in set ? null : (
        <p className="soft">
          {count(set.items.length)} items.{set.left.length === 0 ? '' : ` Not taken from the file: ${set.left.join(', ')}.`}
        </p>
      )}
    </>
  )
}
