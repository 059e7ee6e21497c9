/** Builds a snippet from a client, a key and a model; the page then waits for the first request made with it. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'

import { createKey } from '../../api/keys.ts'
import { firstRequest, namedModels } from '../../api/setup.ts'
import { currentSession } from '../../api/session.ts'
import { Button } from '../../parts/button.tsx'
import { ClientSnippet } from '../../parts/client-snippet.tsx'
import { messageOf } from '../../parts/error-note.tsx'
import { Field } from '../../parts/field.tsx'
import { NameOptions } from '../../parts/name-options.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ScreenHead } from '../../parts/screen-head.tsx'
import { Status } from '../../parts/status.tsx'
import { snippetOf } from '../../snippets.ts'

interface ChosenKey {
  readonly text: string
  /** Null for a key that was pasted, which does not leave this page. */
  readonly hash: string | null
}

/** The one that is sure to answer, where there is no preset to connect a client with. */
const SANDBOX_MODEL = 'sandbox/echo'

export const SetupScreen = () => {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const [key, setKey] = useState<ChosenKey | null>(null)
  const named = useQuery(namedModels)
  // The field may be empty while somebody types, which the address cannot express.
  const [chosenModel, setModel] = useState(search['model'])
  const model = chosenModel ?? named.data?.find(({ id }) => id.startsWith('@'))?.id ?? SANDBOX_MODEL
  const choose = (name: string, value: string): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, [name]: value }), replace: true, resetScroll: false })
  return (
    <>
      <ScreenHead title="Set up" />
      <div className="setup">
        <Panel title="1 Key">
          <KeyChoice chosen={key} client={search['client']} onKey={setKey} />
        </Panel>
        <Panel title="2 Model">
          <ModelChoice
            model={model}
            onModel={(chosen) => {
              setModel(chosen)
              choose('model', chosen)
            }}
          />
        </Panel>
        <Panel title="3 Client">
          <ClientSnippet
            client={search['client']}
            onClient={(client) => choose('client', client)}
            apiKey={key?.text ?? 'INFERENCE_KEY'}
            model={model}
          />
        </Panel>
        <Panel title="4 First request">
          <Waiting keyHash={key?.hash ?? null} client={search['client']} />
        </Panel>
      </div>
    </>
  )
}

const KeyChoice = ({
  chosen,
  client,
  onKey,
}: {
  chosen: ChosenKey | null
  client: string | undefined
  onKey: (key: ChosenKey) => void
}) => {
  const session = useQuery(currentSession)
  const isMember = session.data?.role === 'member'
  const { workspace } = useSearch({ strict: false })
  const suggested = `${session.data?.user_name ?? session.data?.user_id ?? 'my'} ${snippetOf(client).name}`
  const [name, setName] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const make = (): void => {
    setBusy(true)
    setFault(null)
    const person = session.data?.user_id
    createKey({
      name: name ?? suggested,
      limit: null,
      limit_reset: null,
      ...(person === undefined ? {} : { creator_user_id: person }),
      ...(workspace === undefined ? {} : { workspace_id: workspace }),
    })
      .then(({ key, data }) => onKey({ text: key, hash: data.hash }))
      .catch((thrown: unknown) => setFault(messageOf(thrown)))
      .finally(() => setBusy(false))
  }
  if (chosen !== null && chosen.hash !== null)
    return <p className="note">The key stands in the snippet below. It is shown on this page alone, and is gone when you leave it.</p>
  return (
    <div className="row fields">
      {isMember ? null : (
        <>
          <Field label="New key" fault={fault}>
            <input value={name ?? suggested} onChange={(event) => setName(event.target.value)} autoComplete="off" />
          </Field>
          <Button kind="primary" onClick={make} busy={busy}>
            Create
          </Button>
        </>
      )}
      <Field
        label={isMember ? 'Paste your key' : 'or paste yours'}
        hint={isMember ? 'It stays in this page. An admin of the workspace makes keys.' : 'It stays in this page.'}
      >
        <input
          type="password"
          autoComplete="off"
          value={chosen?.text ?? ''}
          onChange={(event) => onKey({ text: event.target.value.trim() || 'INFERENCE_KEY', hash: null })}
        />
      </Field>
    </div>
  )
}

const ModelChoice = ({ model, onModel }: { model: string; onModel: (model: string) => void }) => {
  const models = useQuery(namedModels)
  const names = useMemo(() => (models.data ?? []).map(({ id }) => id), [models.data])
  return (
    <Field label="Model or preset" hint="Any name of the list; what is typed goes into the snippet as it is.">
      <ModelInput model={model} onModel={onModel} names={names} />
    </Field>
  )
}

interface ModelInputProps {
  readonly id?: string
  readonly 'aria-describedby'?: string
  readonly model: string
  readonly names: readonly string[]
  readonly onModel: (model: string) => void
}

const ModelInput = ({ model, names, onModel, ...field }: ModelInputProps) => (
  <>
    <input {...field} list="models" value={model} onChange={(event) => onModel(event.target.value)} autoComplete="off" spellCheck={false} />
    <NameOptions id="models" names={names} typed={model} />
  </>
)

const Waiting = ({ keyHash, client }: { keyHash: string | null; client: string | undefined }) => {
  const [since] = useState(() => new Date().toISOString())
  const first = useQuery(firstRequest(keyHash, since))
  return (
    <div role="status" aria-live="polite">
      {first.data === null || first.data === undefined ? (
        <p className="waiting">
          <Status mark="none">Waiting for the first request…</Status>
          <span className="faint">Run the snippet of {snippetOf(client).name}; this turns green by itself.</span>
        </p>
      ) : (
        <p className="waiting seen">
          <Status mark="ok">First request seen</Status>
          <Link to="/requests/$id" params={{ id: first.data.id }}>
            {first.data.model}: open it
          </Link>
        </p>
      )}
    </div>
  )
}
