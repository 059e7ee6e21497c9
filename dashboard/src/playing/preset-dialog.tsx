/** Saves a preset under a name: a new preset, which is live at once, or a draft version of an existing one. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useState } from 'react'

import { ApiError } from '../api/api-error.ts'
import { preset, type PresetTarget, type SavedVersion } from '../api/presets.ts'
import { Dialog } from '../parts/dialog.tsx'
import { DialogActions } from '../parts/dialog-actions.tsx'
import { messageOf } from '../parts/error-note.tsx'
import { Field } from '../parts/field.tsx'
import { toast } from '../shell/toasts.tsx'

interface PresetDialogProps {
  readonly title: string
  readonly action: string
  /** The initial name. */
  readonly name?: string
  readonly save: (target: PresetTarget) => Promise<SavedVersion>
  readonly onClose: () => void
  /** Shown above the name; says what is saved. */
  readonly explanation?: ReactNode
  /** Further fields, shown below the name. */
  readonly children?: ReactNode
}

export const PresetDialog = ({ title, action, name = '', save, onClose, explanation, children }: PresetDialogProps) => {
  const { workspace } = useSearch({ strict: false })
  const [written, setWritten] = useState(name)
  // Spaces between words are no part of an address.
  const slug = written.trim().replaceAll(/\s+/g, '-')
  const [fault, setFault] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const [tried, setTried] = useState<PresetTarget | null>(null)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const saveAndShow = async (): Promise<void> => {
    const query = { workspace_id: workspace }
    const read = async (): Promise<PresetTarget> => {
      const known = await queries.fetchQuery({ ...preset(slug, query), staleTime: 0 }).catch(nullWhereMissing)
      return { slug, base: known?.latest_version ?? null, query }
    }
    // If the answer to a save was lost, the preset may be there by now: a save on top of that would be a second version.
    const target = tried?.slug === slug ? tried : await read()
    const { base } = target
    const { version: saved, warnings } = await save(target).catch((thrown: unknown) => {
      setTried(thrown instanceof ApiError && thrown.status === 412 ? null : target)
      throw thrown
    })
    await queries.invalidateQueries({ queryKey: ['presets'] })
    const words = base === null ? `Created ${slug}. It is live now.` : `Saved ${slug} as v${saved.version}, a draft.`
    toast([words, ...warnings].join(' '), null, `preset ${slug}`)
    await navigate({ to: '/presets/$slug', params: { slug }, search: base === null ? {} : { version: String(saved.version) } })
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    setBusy(true)
    setFault(null)
    saveAndShow()
      .catch((thrown: unknown) => setFault(messageOf(thrown)))
      .finally(() => setBusy(false))
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        {explanation === undefined ? null : <p className="soft">{explanation}</p>}
        <Field
          label="Slug"
          hint={`Used as @preset/${slug || 'support-bot'}. A new preset is live at once; if there is one of this name, it gets a draft.`}
          fault={fault}
        >
          <input
            value={written}
            onChange={(event) => setWritten(event.target.value)}
            required
            spellCheck={false}
            autoComplete="off"
            maxLength={128}
            pattern="\s*[A-Za-z0-9._~\-][A-Za-z0-9._~\-\s]*"
            title="Letters from A to Z, digits, and the characters - . _ ~"
          />
        </Field>
        {children}
        <DialogActions action={action} onClose={onClose} busy={busy} />
      </form>
    </Dialog>
  )
}

const nullWhereMissing = (thrown: unknown): null => {
  if (thrown instanceof ApiError && thrown.status === 404) return null
  throw thrown
}
