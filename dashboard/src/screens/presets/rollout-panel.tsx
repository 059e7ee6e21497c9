/** A rollout: a share of the callers gets another version, and the figures of each version show when to go on and when to stop. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'

import type { VersionFigures } from '../../../../src/contract/rollout.ts'
import { endRollout, presetRollout, type Rollout, startRollout, STICKY } from '../../api/presets.ts'
import { count } from '../../format.ts'
import { Money } from '../../parts/amount.tsx'
import { Button } from '../../parts/button.tsx'
import { messageOf } from '../../parts/error-note.tsx'
import { Field } from '../../parts/field.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Meter } from '../../parts/meter.tsx'
import { Table } from '../../parts/table.tsx'
import { toast } from '../../shell/toasts.tsx'
import { readCount } from '../../typed-number.ts'
import { shareOf } from './served-versions.ts'
import { VersionSelect } from './version-select.tsx'
import type { PresetParts } from './preset-parts.ts'
import { duration, percent } from '../../units.ts'

export const RolloutPanel = (parts: PresetParts) => {
  const { slug } = parts.preset
  const { workspace } = useSearch({ strict: false })
  const scope = { workspace_id: workspace }
  const rollout = useQuery({ ...presetRollout(slug, scope), refetchInterval: 10_000 })
  const queries = useQueryClient()
  const reload = (): Promise<void> => queries.invalidateQueries({ queryKey: ['presets', slug] })
  const start = async (next: Rollout): Promise<void> => {
    const now = await queries.fetchQuery({ ...presetRollout(slug, scope), staleTime: 0 })
    // The page shows it in place of the form.
    if (now?.state === 'running') {
      toast('Somebody else has started a rollout meanwhile: it goes on.')
      return
    }
    const warnings = await startRollout(slug, next, scope)
    await reload()
    if (warnings.length > 0) toast(['The rollout runs.', ...warnings].join(' '), null, `preset ${slug}`)
  }
  const end = async (): Promise<void> => {
    await endRollout(slug, scope)
    await reload()
    toast(`All callers of ${slug} get v${parts.preset.designated_version.version}.`, null, `preset ${slug}`)
  }
  return (
    <Loaded query={rollout} rows={3}>
      {(known) => (
        <div className="stack">
          {known?.state === 'running' ? (
            <>
              <ul className="splits">
                {known.splits.map(({ version, weight }) => (
                  <li key={version} className="row">
                    <span>v{version}</span>
                    <Meter isLimit={false} label={`Share of v${version}`} used={weight} limit={sumOf(known)} />
                    <span className="number">{shareOf(weight, known.splits)}</span>
                  </li>
                ))}
              </ul>
              <p className="soft">
                A caller keeps its version by {known.sticky}. Where a version is worse than the live one, the rollout halts by itself.
              </p>
              <div>
                <Button onClick={end}>End: all to v{parts.preset.designated_version.version}</Button>
              </div>
            </>
          ) : (
            <>
              {known === null ? null : (
                <p className={known.state === 'halted' ? 'note warn' : 'note'}>
                  The last rollout {known.state === 'halted' ? 'was halted' : 'has ended'}
                  {known.reason === null ? '.' : `: ${known.reason}`}
                </p>
              )}
              <NewRollout {...parts} onStart={start} />
            </>
          )}
          {known === null ? null : <RolloutFigures versions={known.versions} />}
        </div>
      )}
    </Loaded>
  )
}

const RolloutFigures = ({ versions }: { versions: readonly VersionFigures[] }) => (
  <Table
    label="Figures of the versions"
    rows={versions}
    rowKey={({ version }) => String(version)}
    columns={[
      { title: 'Version', isHead: true, cell: ({ version }) => `v${version}` },
      { title: 'Requests', align: 'right', cell: ({ requests }) => count(requests) },
      { title: 'Errors', align: 'right', cell: ({ error_rate: rate }) => percent(rate) },
      { title: 'First token, p50', align: 'right', cell: ({ ttft_p50: p50 }) => duration(p50) },
      { title: 'Cost a request', align: 'right', cell: ({ cost_per_request: cost }) => <Money of={cost} /> },
      { title: 'Guardrail hits', align: 'right', wideOnly: true, cell: ({ guardrail_hits: hits }) => count(hits) },
    ]}
  />
)

const sumOf = ({ splits }: Rollout): number => splits.reduce((sum, { weight }) => sum + weight, 0) || 1

const NewRollout = ({ preset, versions, onStart }: PresetParts & { onStart: (rollout: Rollout) => Promise<unknown> }) => {
  const live = preset.designated_version.version
  const [version, setVersion] = useState(versions.find((one) => one.version !== live)?.version ?? null)
  const [share, setShare] = useState('10')
  const [sticky, setSticky] = useState<Rollout['sticky']>('session')
  const [fault, setFault] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  if (version === null) return <p className="soft">A rollout needs a second version: save a draft first.</p>
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const weight = readCount(share)
    if (weight === null || weight >= 100) {
      setFault('Write the share as a whole number from 1 to 99.')
      return
    }
    setFault(null)
    setBusy(true)
    onStart({
      splits: [
        { version: live, weight: 100 - weight },
        { version, weight },
      ],
      sticky,
    })
      .catch((thrown: unknown) => setFault(messageOf(thrown)))
      .finally(() => setBusy(false))
  }
  return (
    <form className="row fields" onSubmit={submit}>
      <Field label="Version">
        <VersionSelectField versions={versions.filter((one) => one.version !== live)} value={version} onChange={setVersion} />
      </Field>
      <Field label="Share in per cent" hint={`The rest gets v${live}, which is live.`} fault={fault}>
        <input value={share} onChange={(event) => setShare(event.target.value)} inputMode="numeric" autoComplete="off" />
      </Field>
      <Field label="Keep a caller on one version by">
        <select value={sticky} onChange={(event) => setSticky(STICKY.find((one) => one === event.target.value) ?? 'session')}>
          {STICKY.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </Field>
      <Button type="submit" busy={busy}>
        Start rollout
      </Button>
    </form>
  )
}

const VersionSelectField = ({
  versions,
  value,
  onChange,
}: {
  versions: PresetParts['versions']
  value: number
  onChange: (version: number) => void
}) => <VersionSelect label="Version" versions={versions} value={value} onChange={(next) => onChange(Number(next))} />
