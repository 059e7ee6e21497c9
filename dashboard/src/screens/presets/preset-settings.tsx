/** The name of a preset, the evaluation result that a version needs before it may go live, and whether the preset is enabled. */
import { useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'

import { patchPreset } from '../../api/presets.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { messageOf } from '../../parts/error-note.tsx'
import { Field } from '../../parts/field.tsx'
import { Panel } from '../../parts/panel.tsx'
import { toast } from '../../shell/toasts.tsx'
import type { PresetParts } from './preset-parts.ts'

export const PresetSettings = ({ preset: { slug, name, description, status, require_evaluation: isEvaluationRequired } }: PresetParts) => {
  const { workspace } = useSearch({ strict: false })
  const queries = useQueryClient()
  const [fault, setFault] = useState<string | null>(null)
  const [next, setNext] = useState<'active' | 'disabled' | 'archived' | null>(null)
  const patch = async (change: Parameters<typeof patchPreset>[1]): Promise<void> => {
    await patchPreset(slug, change, { workspace_id: workspace })
    await queries.invalidateQueries({ queryKey: ['presets'] })
    toast('Saved; it is in force now.')
  }
  const requireEvaluation = (isRequired: boolean): void =>
    void patch({ require_evaluation: isRequired }).catch((thrown: unknown) => toast(messageOf(thrown)))
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (field: string): string => {
      const value = form.get(field)
      return typeof value === 'string' ? value.trim() : ''
    }
    setFault(null)
    patch({ name: text('name'), description: text('description') || null }).catch((thrown: unknown) => setFault(messageOf(thrown)))
  }
  return (
    <>
      <Panel title="Name">
        <form className="stack narrow-form" onSubmit={submit}>
          <Field label="Name" fault={fault}>
            <input name="name" defaultValue={name} required maxLength={200} />
          </Field>
          <Field label="Description">
            <textarea name="description" defaultValue={description ?? ''} rows={3} maxLength={2000} />
          </Field>
          <div>
            <Button type="submit">Save</Button>
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

const ACTIONS = {
  active: { verb: 'Activate', effect: 'Requests with it are answered again.' },
  disabled: { verb: 'Disable', effect: 'Requests with it are refused with 403 until it is activated.' },
  archived: { verb: 'Archive', effect: 'Requests with it are answered with 404. Its versions stay readable.' },
} as const
