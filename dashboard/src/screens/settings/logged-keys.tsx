import type { Workspace } from '../../api/workspaces.ts'
import { count } from '../../format.ts'
import { KeyName } from '../../parts/key-name.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { useKeySearch } from '../../parts/use-key-search.tsx'

type Chosen = Workspace['io_logging_api_key_ids']

interface LoggedKeysProps {
  readonly workspaceId: string
  /** Null means every key. */
  readonly chosen: Chosen
  readonly onChange: (chosen: Chosen) => void
}

/** Chooses whether the requests of all keys are stored, or only those of some. */
export const LoggedKeys = ({ workspaceId, chosen, onChange }: LoggedKeysProps) => (
  <fieldset className="stack">
    <legend>Keys</legend>
    <label className="check">
      <input type="checkbox" checked={chosen === null} onChange={(event) => onChange(event.target.checked ? null : [])} />
      Every key, also those that are made later
    </label>
    {chosen === null ? null : <KeyChoice workspaceId={workspaceId} chosen={chosen} onChange={onChange} />}
  </fieldset>
)

const KeyChoice = ({ workspaceId, chosen, onChange }: LoggedKeysProps & { chosen: NonNullable<Chosen> }) => {
  const keys = useKeySearch({ workspace_id: workspaceId })
  return (
    <Loaded query={keys.query} rows={3}>
      {(found) => (
        <>
          {keys.field}
          {found.map(({ hash, name, label }) => (
            <label className="check" key={hash}>
              <input
                type="checkbox"
                checked={chosen.includes(hash)}
                onChange={(event) => onChange(event.target.checked ? [...chosen, hash] : chosen.filter((one) => one !== hash))}
              />
              <KeyName name={name} /> <span className="faint">{label}</span>
            </label>
          ))}
          {keys.more}
          {keys.field === null ? null : <p className="faint">{count(chosen.length)} chosen in all.</p>}
        </>
      )}
    </Loaded>
  )
}
