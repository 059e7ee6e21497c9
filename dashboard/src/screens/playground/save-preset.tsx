/** The contents of the playground, as a preset: a new one, which is live at once, or a draft of one that is there. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'

import { ApiError } from '../../api/api-error.ts'
import { preset, savePresetDraft } from '../../api/presets.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { DialogActions } from '../../parts/dialog-actions.tsx'
import { messageOf } from '../../parts/error-note.tsx'
import { Field } from '../../parts/field.tsx'
import { type Asked, requestBody } from '../../playing/conversation-input.ts'
import { toast } from '../../shell/toasts.tsx'

export const SavePreset = ({ asked, onClose }: { asked: Asked; onClose: () => void }) => {
  const [slug, setSlug] = useState(/^@preset\/([^@]+)/.exec(String(asked.settings['model']))?.[1] ?? '')
  const [note, setNote] = useState('')
  const [fault, setFault] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const save = async (): Promise<void> => {
    const known = await queries.fetchQuery({ ...preset(slug), staleTime: 0 }).catch((thrown: unknown) => {
      if (thrown instanceof ApiError && thrown.status === 404) return null
      throw thrown
    })
    const version = await savePresetDraft({
      slug,
      shape: asked.interface,
      body: requestBody({ ...asked, stream: false }),
      note,
      base: known?.latest_version ?? null,
    })
    await queries.invalidateQueries({ queryKey: ['presets'] })
    toast(known === null ? `Created ${slug}. It is live now.` : `Saved ${slug} as v${version.version}, a draft.`)
    await navigate({ to: '/presets/$slug', params: { slug }, search: known === null ? {} : { version: String(version.version) } })
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    setBusy(true)
    setFault(null)
    save().catch((thrown: unknown) => {
      setFault(messageOf(thrown))
      setBusy(false)
    })
  }
  return (
    <Dialog title="Save as preset" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <p className="soft">The model, the system prompt and the settings are kept; the messages are not.</p>
        <Field label="Name in the address" hint={`Used as @preset/${slug || 'support-bot'}`} fault={fault}>
          <input value={slug} onChange={(event) => setSlug(event.target.value.trim())} required spellCheck={false} autoComplete="off" />
        </Field>
        <Field label="Note" hint="What is different, for those who read the history.">
          <input value={note} onChange={(event) => setNote(event.target.value)} maxLength={500} />
        </Field>
        <DialogActions action="Save" onClose={onClose} busy={busy} />
      </form>
    </Dialog>
  )
}
