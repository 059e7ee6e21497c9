/** Switches the storage of contents on or off. It is off by default, and a change applies to later requests only. */
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'

import { queryClient } from '../../api/query-client.ts'
import { changeWorkspace, type Workspace, workspaceOf } from '../../api/workspaces.ts'
import { Button } from '../../parts/button.tsx'
import { messageOf } from '../../parts/error-note.tsx'
import { Field } from '../../parts/field.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { SavedMeanwhile } from '../../parts/saved-meanwhile.tsx'
import { Unsaved } from '../../parts/unsaved.tsx'
import { LoggedKeys } from './logged-keys.tsx'
import { toast } from '../../shell/toasts.tsx'
import { readCount, readNumber, writeNumber } from '../../typed-number.ts'
import { useEdited } from '../../use-edited.ts'

export const LoggingSettings = ({ workspaceId }: { workspaceId: string }) => {
  const workspace = useQuery(workspaceOf(workspaceId))
  return (
    <Loaded query={workspace} rows={10}>
      {(data) => <LoggingForm of={data} key={data.id} />}
    </Loaded>
  )
}

const DAYS_MAX = 3650

const LoggingForm = ({ of: workspace }: { of: Workspace }) => {
  const form = useEdited(formOf(workspace))
  const { on, share, days, keys } = form.value
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const save = async (edits: Readonly<Record<string, unknown>>): Promise<void> => {
    const before = await queryClient.fetchQuery({ ...workspaceOf(workspace.id), staleTime: 0 })
    if (form.isOvertakenBy(formOf(before))) return
    const { data: stored } = await changeWorkspace(workspace.id, edits)
    form.saved(form.value, formOf(stored))
    toast(
      stored.is_observability_io_logging_enabled
        ? 'Contents of new requests are kept: in force now.'
        : 'Contents are not kept any more: in force now.',
    )
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const rate = (readNumber(share) ?? 0) / 100
    if (!(rate > 0 && rate <= 1)) {
      setFault('Write a share from 0.01 to 100 per cent.')
      return
    }
    const kept = readCount(days)
    if (kept === null || kept > DAYS_MAX) {
      setFault(`Write a whole number of days from 1 to ${DAYS_MAX}.`)
      return
    }
    setBusy(true)
    setFault(null)
    save({
      ...('on' in form.edits ? { is_observability_io_logging_enabled: on } : {}),
      ...('share' in form.edits ? { io_logging_sampling_rate: rate } : {}),
      ...('days' in form.edits ? { io_logging_retention_days: kept } : {}),
      ...('keys' in form.edits ? { io_logging_api_key_ids: keys } : {}),
    })
      .catch((thrown: unknown) => setFault(messageOf(thrown)))
      .finally(() => setBusy(false))
  }
  return (
    <form className="stack" onSubmit={submit}>
      <label className="check">
        <input type="checkbox" checked={on} onChange={(event) => form.change({ on: event.target.checked })} />
        Keep requests and answers of {workspace.name}
      </label>
      <p className="soft">
        They are sealed in the database, deleted after their days, read by admins alone, and each reading is an entry of the audit log.
        Figures, errors and attempts are kept in any case.
      </p>
      {on ? (
        <>
          <div className="row fields">
            <Field label="Share of the requests, in per cent">
              <input
                value={share}
                onChange={(event) => form.change({ share: event.target.value })}
                inputMode="decimal"
                className="short"
                autoComplete="off"
              />
            </Field>
            <Field label="Deleted after days">
              <input
                value={days}
                onChange={(event) => form.change({ days: event.target.value })}
                inputMode="numeric"
                className="short"
                autoComplete="off"
              />
            </Field>
          </div>
          <LoggedKeys workspaceId={workspace.id} chosen={keys} onChange={(next) => form.change({ keys: next })} />
        </>
      ) : null}
      {fault === null ? null : (
        <p className="note bad" role="alert">
          {fault}
        </p>
      )}
      <SavedMeanwhile what={`The logging of ${workspace.name}`} form={form} isSaving={busy} />
      <div className="row">
        <Button type="submit" kind="primary" busy={busy}>
          Save
        </Button>
        <Unsaved form={form} />
      </div>
    </form>
  )
}

const formOf = (workspace: Workspace) => ({
  on: workspace.is_observability_io_logging_enabled,
  share: writeNumber(workspace.io_logging_sampling_rate * 100),
  days: String(workspace.io_logging_retention_days),
  keys: workspace.io_logging_api_key_ids,
})
