/** A preset with the settings of a request, and with its system prompt where the contents were kept. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'

import type { Generation } from '../../api/generations.ts'
import { presetFromGeneration } from '../../api/presets.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { messageOf } from '../../parts/error-note.tsx'
import { Field } from '../../parts/field.tsx'
import { toast } from '../../shell/toasts.tsx'

export const MakePreset = ({ record, onClose }: { record: Generation; onClose: () => void }) => {
  const [slug, setSlug] = useState(record.preset_slug ?? '')
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    setBusy(true)
    setFault(null)
    presetFromGeneration(slug.trim(), record.id)
      .then(async ({ version, warnings }) => {
        await queries.invalidateQueries({ queryKey: ['presets'] })
        toast(`Saved ${slug} as v${version}.${warnings === null ? '' : ` ${warnings}`}`)
        await navigate({ to: '/presets/$slug', params: { slug: slug.trim() }, search: { version: String(version) } })
      })
      .catch((thrown: unknown) => {
        setFault(messageOf(thrown))
        setBusy(false)
      })
  }
  return (
    <Dialog title="Make a preset from this request" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <p className="soft">It gets the model and the settings of the request, and its system prompt where contents are kept.</p>
        <Field
          label="Name in the address"
          hint={`Used as @preset/${slug === '' ? 'support-bot' : slug}. A preset that is there gets a new version, as a draft.`}
          fault={fault}
        >
          <input
            value={slug}
            onChange={(event) => setSlug(event.target.value)}
            required
            spellCheck={false}
            autoComplete="off"
            pattern="[A-Za-z0-9._~\-]+"
          />
        </Field>
        <div className="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={busy}>
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
