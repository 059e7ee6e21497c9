/** A preset with the settings of a request, and with its system prompt where the contents were kept. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'

import { ApiError } from '../../api/api-error.ts'
import { type Generation, generationContent } from '../../api/generations.ts'
import { preset, savePresetDraft } from '../../api/presets.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { DialogActions } from '../../parts/dialog-actions.tsx'
import { messageOf } from '../../parts/error-note.tsx'
import { Field } from '../../parts/field.tsx'
import { toast } from '../../shell/toasts.tsx'

const nullWhereMissing = (thrown: unknown): null => {
  if (thrown instanceof ApiError && thrown.status === 404) return null
  throw thrown
}

export const MakePreset = ({ record, onClose }: { record: Generation; onClose: () => void }) => {
  const [slug, setSlug] = useState(record.preset_slug ?? '')
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const make = async (): Promise<{ isWhole: boolean; version: number }> => {
    const kept = await queries.fetchQuery(generationContent(record.id)).catch(nullWhereMissing)
    const known = await queries.fetchQuery({ ...preset(slug), staleTime: 0 }).catch(nullWhereMissing)
    const body = kept?.request ?? record.settings ?? { model: record.model }
    const shape = record.interface === 'responses' || record.interface === 'messages' ? record.interface : 'chat'
    const saved = await savePresetDraft({ slug, shape, body, note: `from ${record.id}`, base: known?.latest_version ?? null })
    return { isWhole: kept?.request !== undefined, version: saved.version }
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    setBusy(true)
    setFault(null)
    make()
      .then(async ({ isWhole, version }) => {
        await queries.invalidateQueries({ queryKey: ['presets'] })
        toast(`Saved ${slug} as v${version}.${isWhole ? '' : ' The texts of the request were not kept: write the system prompt.'}`)
        await navigate({ to: '/presets/$slug', params: { slug }, search: { version: String(version) } })
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
            onChange={(event) => setSlug(event.target.value.trim())}
            required
            spellCheck={false}
            autoComplete="off"
            pattern="[A-Za-z0-9._~\-]+"
          />
        </Field>
        <DialogActions action="Create" onClose={onClose} busy={busy} />
      </form>
    </Dialog>
  )
}
