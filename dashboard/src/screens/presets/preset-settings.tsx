/** The name of a preset, the evaluation result that a version needs before it may go live, and whether the preset is enabled. */
import { useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'

import { patchPreset, type Preset, preset as readPreset } from '../../api/presets.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { messageOf } from '../../parts/error-note.tsx'
import { Field } from '../../parts/field.tsx'
import { Panel } from '../../parts/panel.tsx'
import { SavedMeanwhile } from '../../parts/saved-meanwhile.tsx'
import { Unsaved } from '../../parts/unsaved.tsx'
import { toast } from '../../shell/toasts.tsx'
import { useKeptEdits } from '../../use-edited.ts'
import type { PresetParts } from './preset-parts.ts'

export const PresetSettings = ({
  preset: { id, slug, name, description, status, require_evaluation: isEvaluationRequired },
}: PresetParts) => {
  const { workspace } = useSearch({ strict: false })
  const queries = useQueryClient()
  const form = useKeptEdits(`name of ${id}`, formOf({ name, description }))
  const [fault, setFault] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const [next, setNext] = useState<'active' | 'disabled' | 'archived' | null>(null)
  const patch = async (change: Parameters<typeof patchPreset>[1]): ReturnType<typeof patchPreset> => {
    const answer = await patchPreset(slug, change, { query: { workspace_id: workspace } })
    await queries.invalidateQueries({ queryKey: ['presets'] })
    toast('Saved; it is in force now.')
    return answer
  }
  const save = async (): Promise<void> => {
    const before = await queries.fetchQuery({ ...readPreset(slug, { workspace_id: workspace }), staleTime: 0 })
    if (form.isOvertakenBy(formOf(before))) return
    const { name: called, description: described } = form.edits
    const { data } = await patch({
      ...(called === undefined ? {} : { name: called.trim() }),
      ...(described === undefined ? {} : { description: described.trim() || null }),
    })
    form.saved(form.value, formOf(data))
  }
  const requireEvaluation = (isRequired: boolean): void =>
    void patch({ require_evaluation: isRequired }).catch((thrown: unknown) => toast(messageOf(thrown)))
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    setFault(null)
    setBusy(true)
    save()
      .catch((thrown: unknown) => setFault(messageOf(thrown)))
      .finally(() => setBusy(false))
  }
  return (
    <>
      <Panel title="Name">
        <form className="stack narrow-form" onSubmit={submit}>
          <Field label="Name" fault={fault}>
            <input value={form.value.name} onChange={(event) => form.change({ name: event.target.value })} required maxLength={200} />
          </Field>
          <Field label="Description">
            <textarea
              value={form.value.description}
              onChange={(event) => form.change({ description: event.target.value })}
              rows={3}
              maxLength={2000}
            />
          </Field>
          <SavedMeanwhile what={slug} form={form} isSaving={busy} />
          <div className="row">
            <Button type="submit" busy={busy}>
              Save
            </Button>
            <Unsaved form={form} />
          </div>
        </form>
      </Panel>
      <Panel title="Going live">
        <div className="row">
          <span className="soft">
            {isEvaluationRequired
              ? 'A version goes live only once it has passed an evaluation, or where it was live before.'
              : 'A version goes live whether or not it has passed an evaluation.'}
          </span>
          <Button onClick={() => requireEvaluation(!isEvaluationRequired)}>
            {isEvaluationRequired ? 'Require no evaluation' : 'Require an evaluation'}
          </Button>
        </div>
      </Panel>
      <Panel title="State">
        <div className="row">
          <span className="soft">The preset is {status}.</span>
          {status === 'active' ? (
            <Button onClick={() => setNext('disabled')}>Disable</Button>
          ) : (
            <Button onClick={() => setNext('active')}>Activate</Button>
          )}
          {status === 'archived' ? null : (
            <Button kind="danger" onClick={() => setNext('archived')}>
              Archive
            </Button>
          )}
        </div>
      </Panel>
      {next === null ? null : (
        <Confirm
          title={`${ACTIONS[next].verb} ${slug}`}
          action={`${ACTIONS[next].verb} ${slug}`}
          isDanger={next !== 'active'}
          {...(next === 'archived' ? { name: slug } : {})}
          onConfirm={() => patch({ status: next })}
          onClose={() => setNext(null)}
        >
          <p>{ACTIONS[next].effect}</p>
        </Confirm>
      )}
    </>
  )
}

const formOf = ({ name, description }: Pick<Preset, 'name' | 'description'>) => ({ name, description: description ?? '' })

const ACTIONS = {
  active: { verb: 'Activate', effect: 'Requests with it are answered again.' },
  disabled: { verb: 'Disable', effect: 'Requests with it are refused with 403 until it is activated.' },
  archived: { verb: 'Archive', effect: 'Requests with it are answered with 404. Its versions stay readable.' },
} as const
