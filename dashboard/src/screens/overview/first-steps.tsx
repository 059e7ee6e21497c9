/** The steps that a new installation still needs; hidden once all are done. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import { hasConnectedClient } from '../../api/keys.ts'
import { modelList } from '../../api/models.ts'
import { presetNames } from '../../api/presets.ts'
import { Panel } from '../../parts/panel.tsx'

interface Step {
  readonly title: string
  readonly to: '/models' | '/presets' | '/setup'
  readonly isDone: boolean
}

/** Undefined until they are known; empty if all are done, or if one of them cannot be told. Members only connect clients. */
export const useFirstSteps = (workspace: string | undefined, isAdmin: boolean): readonly Step[] | undefined => {
  const models = useQuery(modelList)
  const presets = useQuery(presetNames({ workspace_id: workspace, limit: 1, status: undefined }))
  const connected = useQuery(hasConnectedClient(workspace))
  if (models.data === undefined || presets.data === undefined || connected.data === undefined) {
    return [models, presets, connected].some(({ error }) => error !== null) ? [] : undefined
  }
  const steps: readonly Step[] = [
    { title: 'Add a provider', to: '/models', isDone: models.data.some(({ id }) => !id.startsWith('sandbox/') && !id.startsWith('@')) },
    { title: 'Make a preset', to: '/presets', isDone: presets.data.length > 0 },
    { title: 'Connect a client', to: '/setup', isDone: connected.data },
  ]
  const own = isAdmin ? steps : steps.slice(-1)
  return own.every(({ isDone }) => isDone) ? [] : own
}

export const FirstSteps = ({ steps }: { steps: readonly Step[] }) => {
  if (steps.length === 0) return null
  return (
    <Panel title={steps.length === 1 ? 'First step' : 'First steps'}>
      <ol className="steps">
        {steps.map(({ title, to, isDone }, index) => (
          <li key={title}>
            <Link to={to} className={isDone ? 'step done' : 'step'}>
              {steps.length === 1 ? null : <span aria-hidden="true">{isDone ? '✓' : index + 1}</span>} {title}
              {isDone ? <span className="hidden-text"> (done)</span> : null}
            </Link>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
