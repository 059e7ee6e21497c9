import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'

import { ApiError } from '../../api/api-error.ts'
import { patchPreset, preset } from '../../api/presets.ts'
import { changeWorkspace, workspaceOf } from '../../api/workspaces.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { messageOf } from '../../parts/error-note.tsx'
import { Field } from '../../parts/field.tsx'
import { takeBack } from '../../shell/take-back.ts'
import { toast } from '../../shell/toasts.tsx'
import { VersionSelect } from './version-select.tsx'
import type { PresetParts } from './preset-parts.ts'

interface Move {
  readonly label: string
  readonly to: number | null
}

export const Labels = ({ preset: { slug, labels, latest_version: latest, workspace_id: owner }, versions }: PresetParts) => {
  const { workspace } = useSearch({ strict: false })
  const queries = useQueryClient()
  const { protected_labels: guarded = [] } = useQuery(workspaceOf(owner)).data ?? {}
  const [asking, setAsking] = useState<Move | null>(null)
  const [name, setName] = useState('')
  const reload = (): Promise<void> => queries.invalidateQueries({ queryKey: ['presets', slug] })
  const move = async ({ label, to }: Move, confirm: boolean): Promise<void> => {
    const change = { labels: { [label]: to }, ...(confirm ? { confirm } : {}) }
    const { warnings } = await patchPreset(slug, change, { query: { workspace_id: workspace } })
    // A name stays in its field until it is a label: it may be refused.
    setName((now) => (now.trim() === label ? '' : now))
    const before = labels[label] ?? null
    const undo = (): void =>
      void takeBack({
        what: `The label ${label}`,
        read: () => queries.fetchQuery({ ...preset(slug, { workspace_id: workspace }), staleTime: 0 }),
        isAsLeft: ({ labels: now }) => (now[label] ?? null) === to,
        putBack: (now) =>
          patchPreset(slug, { labels: { [label]: before }, confirm: true }, { query: { workspace_id: workspace }, since: now }).then(
            reload,
          ),
      })
    toast(
      [to === null ? `Removed the label ${label}.` : `${label} is v${to} now.`, ...warnings].join(' '),
      undo,
      `label ${label} of ${slug}`,
    )
    await reload()
  }
  /** Moving a protected label needs a confirmation. */
  const begin = (change: Move): void => {
    move(change, false).catch((thrown: unknown) => {
      if (thrown instanceof ApiError && 'protected_labels' in thrown.metadata) setAsking(change)
      else toast(messageOf(thrown))
    })
  }
  /** The protection of a label applies to every preset of the workspace. */
  const protect = async (label: string, isGuarded: boolean): Promise<void> => {
    // The list is saved as a whole, and somebody else may have protected another label meanwhile.
    const { protected_labels: all } = await queries.fetchQuery({ ...workspaceOf(owner), staleTime: 0 })
    const others = all.filter((one) => one !== label)
    await changeWorkspace(owner, { protected_labels: isGuarded ? [...others, label] : others })
    toast(isGuarded ? `Whoever moves ${label} is asked first, in every preset.` : `${label} moves without a question again.`)
  }
  const add = (event: FormEvent): void => {
    event.preventDefault()
    begin({ label: name.trim(), to: latest })
  }
  return (
    <div className="stack">
      <ul className="labels">
        {Object.entries(labels).map(([label, version]) => (
          <li key={label} className="row">
            <code>{label}</code>
            <VersionSelect
              label={`Version of ${label}`}
              versions={versions}
              value={version}
              onChange={(to) => begin({ label, to: Number(to) })}
            />
            <Button kind="quiet" onClick={() => begin({ label, to: null })}>
              Remove
            </Button>
            <label className="check">
              <input
                type="checkbox"
                aria-label={`Protect ${label}`}
                checked={guarded.includes(label)}
                onChange={(event) => void protect(label, event.target.checked).catch((thrown: unknown) => toast(messageOf(thrown)))}
              />
              Protected
            </label>
          </li>
        ))}
      </ul>
      <form className="row fields" onSubmit={add}>
        <Field label="New label" hint={`Used as @preset/${slug}@${name || 'staging'}`}>
          <input
            value={name}
            onChange={(event) => setName(event.target.value)}
            required
            pattern="[A-Za-z_][A-Za-z0-9._\-]*"
            title="Letters from A to Z, digits, and the characters - . _, with a letter or _ first"
            spellCheck={false}
            autoComplete="off"
          />
        </Field>
        <Button type="submit">Add label</Button>
      </form>
      {asking === null ? null : (
        <Confirm
          title={`Move the protected label ${asking.label}`}
          action={asking.to === null ? `Remove ${asking.label}` : `Move ${asking.label} to v${asking.to}`}
          onConfirm={() => move(asking, true)}
          onClose={() => setAsking(null)}
        >
          <p>
            Whoever uses <code>{`@preset/${slug}@${asking.label}`}</code> gets {asking.to === null ? 'nothing' : `v${asking.to}`} from now
            on.
          </p>
        </Confirm>
      )}
    </div>
  )
}
