/** A new preset, from the body of a request as programs send it. */
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'

import { type PresetShape, savePresetDraft } from '../../api/presets.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { DialogActions } from '../../parts/dialog-actions.tsx'
import { messageOf } from '../../parts/error-note.tsx'
import { Field } from '../../parts/field.tsx'
import { parseSettings } from '../../playing/settings-fields.ts'
import { toast } from '../../shell/toasts.tsx'

const EXAMPLE = `{
  "model": "sandbox/echo",
  "messages": [
    { "role": "system", "content": "You answer politely and briefly." }
  ]
}`

/** Each interface has a member that the others do not. */
const shapeOf = (body: Readonly<Record<string, unknown>>): PresetShape =>
  'input' in body || 'instructions' in body || 'max_output_tokens' in body ? 'responses' : 'system' in body ? 'messages' : 'chat'

export const NewPreset = ({ onClose }: { onClose: () => void }) => {
  const [slug, setSlug] = useState('')
  const [text, setText] = useState(EXAMPLE)
  const [shape, setShape] = useState<PresetShape | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const read = parseSettings(text)
  const chosen = shape ?? ('settings' in read ? shapeOf(read.settings) : 'chat')
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if ('fault' in read) return
    setBusy(true)
    setFault(null)
    savePresetDraft({ slug, shape: chosen, body: read.settings, note: '', base: null })
      .then(async () => {
        await queries.invalidateQueries({ queryKey: ['presets'] })
        toast(`Created ${slug}. It is live now.`)
        await navigate({ to: '/presets/$slug', params: { slug } })
      })
      .catch((thrown: unknown) => {
        setFault(messageOf(thrown))
        setBusy(false)
      })
  }
  return (
    <Dialog title="New preset" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field label="Name in the address" hint={`Used as @preset/${slug || 'support-bot'}`} fault={fault}>
          <input value={slug} onChange={(event) => setSlug(event.target.value.trim())} required autoComplete="off" spellCheck={false} />
        </Field>
        <Field
          label="Body of a request"
          hint="As programs send it. Messages of users are not kept."
          fault={'fault' in read ? read.fault : null}
        >
          <textarea rows={9} value={text} onChange={(event) => setText(event.target.value)} spellCheck={false} />
        </Field>
        <Field label="Interface">
          <select value={chosen} onChange={(event) => setShape(event.target.value as PresetShape)}>
            <option value="chat">Chat Completions</option>
            <option value="responses">Responses</option>
            <option value="messages">Messages</option>
          </select>
        </Field>
        <p className="faint small">
          Or begin with <Link to="/requests">a request</Link> that was made, or in <Link to="/playground">the playground</Link>.
        </p>
        <DialogActions action="Create" onClose={onClose} busy={busy} />
      </form>
    </Dialog>
  )
}
