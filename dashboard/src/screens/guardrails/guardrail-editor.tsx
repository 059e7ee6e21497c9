/** Edits the filters of one guardrail, which can be tried before they are saved. */
import { useNavigate } from '@tanstack/react-router'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'

import {
  assignedKeys,
  assignedMembers,
  deleteGuardrail,
  type Guardrail,
  type GuardrailDraft,
  oneGuardrail,
  saveGuardrail,
} from '../../api/guardrails.ts'
import { queryClient } from '../../api/query-client.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { messageOf } from '../../parts/error-note.tsx'
import { FormOrJson } from '../../parts/form-or-json.tsx'
import { KeyName } from '../../parts/key-name.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { ShowMore } from '../../parts/show-more.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Person } from '../../parts/person.tsx'
import { SavedMeanwhile } from '../../parts/saved-meanwhile.tsx'
import { Unsaved } from '../../parts/unsaved.tsx'
import { toast, withdraw } from '../../shell/toasts.tsx'
import { isSame, useKeptEdits } from '../../use-edited.ts'
import { AssignDialog } from './assign-dialog.tsx'
import { draftOf, hitsOf, patternFaults, rowsOf, type WrittenRules } from './filter-rows.ts'
import { FilterForm } from './filter-form.tsx'
import { FilterJsonEditor } from './filter-json-editor.tsx'
import { TestBox } from './test-box.tsx'
import { TryOnRequests } from './try-on-requests.tsx'

export const GuardrailEditor = ({ of: guardrail }: { of: Guardrail }) => {
  const saved = rowsOf(guardrail)
  const form = useKeptEdits(`rules of ${guardrail.id}`, formOf(guardrail))
  const { rows, unread } = form.value.rules
  const [isJson, setJson] = useState(false)
  const asJson = isJson || unread !== null
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<{ readonly of: string; readonly thrown: unknown } | null>(null)
  const [tested, setTested] = useState<unknown>(null)
  const [act, setAct] = useState<'delete' | 'assign' | null>(null)
  const navigate = useNavigate()
  const draft = draftOf(rows)
  const written = JSON.stringify(draft)
  const isChanged = written !== JSON.stringify(draftOf(saved))
  // If the rules were changed before the error came, it does not apply to the present ones.
  const fault = refusal?.of === written ? refusal.thrown : null
  // The test box tests the draft while it is typed, so a bad pattern is reported before it is saved.
  const refused = patternFaults(rows, fault ?? tested)
  const [begun, theirs] = [draftOf(form.begun.rules.rows), draftOf(saved)]
  const isTouched = (list: keyof GuardrailDraft): boolean => unread !== null || !isSame(draft[list], begun[list])
  const isAgainstTheirs = LISTS.some((list) => isTouched(list) && !isSame(theirs[list], begun[list]))
  const change = (rules: WrittenRules): void => {
    setRefusal(null)
    setJson(asJson)
    form.change({ rules })
  }
  const choose = (json: boolean): void => {
    setJson(json)
    if (unread === null) return
    form.change({ rules: { rows, unread: null } })
    toast('The JSON is not valid yet: the form has the rules from before.', () => form.change({ rules: { rows, unread } }), JSON_LEFT)
    form.whenOver(() => withdraw(JSON_LEFT))
  }
  const saveTouched = async (): Promise<void> => {
    const now = draftOf(rowsOf(await queryClient.fetchQuery({ ...oneGuardrail(guardrail.id), staleTime: 0 })))
    if (LISTS.some((list) => isTouched(list) && !isSame(now[list], theirs[list])))
      return queryClient.invalidateQueries({ queryKey: ['guardrails'] })
    const touched = Object.fromEntries(LISTS.filter(isTouched).map((list) => [list, draft[list]]))
    const { data: stored } = await saveGuardrail(guardrail.id, touched)
    form.saved(form.value, formOf(stored))
    toast(`${guardrail.name} is saved: in force now.`)
  }
  const save = (): void => {
    setBusy(true)
    setRefusal(null)
    saveTouched()
      .catch((thrown: unknown) => setRefusal({ of: written, thrown }))
      .finally(() => setBusy(false))
  }
  return (
    <div className="guardrail">
      <Panel
        title={`Rules of ${guardrail.name}`}
        actions={
          <span className="row">
            <Button onClick={() => setAct('assign')}>Assign to a key</Button>
            <Button kind="danger" onClick={() => setAct('delete')}>
              Delete
            </Button>
            <Button kind="primary" onClick={save} busy={busy} disabled={!isChanged || unread !== null}>
              Save
            </Button>
          </span>
        }
      >
        {fault === null || refused.size > 0 ? null : (
          <p className="note bad" role="alert">
            {messageOf(fault)}
          </p>
        )}
        <div className="stack">
          <SavedMeanwhile what={guardrail.name} form={{ ...form, isAgainstTheirs }} isSaving={busy} />
          <div className="row">
            <FormOrJson label="Rules as" asJson={asJson} onChoose={choose} />
            <Unsaved form={form} />
          </div>
          {asJson ? (
            <FilterJsonEditor rules={form.value.rules} faults={refused} onChange={change} />
          ) : (
            <FilterForm
              guardrail={guardrail.id}
              rows={rows}
              faults={refused}
              hits={hitsOf(guardrail)}
              onRows={(next) => change({ rows: next, unread: null })}
            />
          )}
        </div>
        <Assignments id={guardrail.id} />
      </Panel>
      <Panel title="Test">
        <div className="stack">
          <TestBox guardrail={guardrail} draft={isChanged ? draft : null} onTested={setTested} />
          <TryOnRequests guardrail={guardrail} draft={isChanged ? draft : null} />
        </div>
      </Panel>
      {act === 'assign' ? <AssignDialog guardrail={guardrail} onClose={() => setAct(null)} /> : null}
      {act === 'delete' ? (
        <Confirm
          title={`Delete ${guardrail.name}`}
          action={`Delete ${guardrail.name}`}
          name={guardrail.name}
          isDanger
          onConfirm={async () => {
            await deleteGuardrail(guardrail.id)
            await navigate({ to: '.', search: (before) => ({ ...before, guardrail: undefined }) })
          }}
          onClose={() => setAct(null)}
        >
          <p>From the next request on, its rules no longer apply to anybody.</p>
        </Confirm>
      ) : null}
    </div>
  )
}

const JSON_LEFT = 'JSON that a form cannot show'

/** Each list is saved by itself, and only if this person has changed it. */
const LISTS = ['content_filter_builtins', 'content_filters'] as const satisfies readonly (keyof GuardrailDraft)[]

/** One field, so that a text that is not valid yet also counts as a change of the rules. */
const formOf = (guardrail: Guardrail): { readonly rules: WrittenRules } => ({ rules: { rows: rowsOf(guardrail), unread: null } })

const Assignments = ({ id }: { id: string }) => {
  const keys = useInfiniteQuery(assignedKeys(id))
  const members = useInfiniteQuery(assignedMembers(id))
  return (
    <Loaded query={keys} rows={1}>
      {(heldKeys) => (
        <Loaded query={members} rows={1}>
          {(heldMembers) => (
            <>
              <p className="soft">
                {heldKeys.length + heldMembers.length === 0 ? (
                  'It is assigned to nobody, so it does nothing yet.'
                ) : (
                  <>
                    It holds for{' '}
                    {[
                      ...heldKeys.map(({ id: one, key_name: name }) => <KeyName key={one} name={name} />),
                      ...heldMembers.map(({ id: one, user_id: person }) => <Person key={one} id={person} />),
                    ].flatMap((name, index) => (index === 0 ? [name] : [', ', name]))}
                    .
                  </>
                )}
              </p>
              <ShowMore list={keys} shown={heldKeys.length} />
              <ShowMore list={members} shown={heldMembers.length} />
            </>
          )}
        </Loaded>
      )}
    </Loaded>
  )
}
