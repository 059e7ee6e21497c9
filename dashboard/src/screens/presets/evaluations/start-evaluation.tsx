/** Starts an evaluation: the version, the items, the checks, and an estimate of the cost before any model is called. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useState } from 'react'

import { type EvaluationEstimate, type EvaluationRequest, estimateEvaluation, startEvaluation } from '../../../api/evaluations.ts'
import { count, numbered } from '../../../format.ts'
import { Money } from '../../../parts/amount.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { DialogActions } from '../../../parts/dialog-actions.tsx'
import { messageOf } from '../../../parts/error-note.tsx'
import { Field } from '../../../parts/field.tsx'
import { useSettled } from '../../../parts/use-settled.ts'
import { toast } from '../../../shell/toasts.tsx'
import { VersionSelect } from '../version-select.tsx'
import type { PresetParts } from '../preset-parts.ts'
import { ChecksForm } from './checks-form.tsx'
import { bodyOf, type EvaluationForm, newForm } from './evaluation-form.ts'
import { ItemsSource } from './items-source.tsx'

interface StartEvaluationProps extends PresetParts {
  /** The version that is selected first. */
  readonly version: number
  readonly onClose: () => void
}

export const StartEvaluation = ({ preset, versions, version, onClose }: StartEvaluationProps) => {
  const { slug, designated_version: live } = preset
  const { workspace } = useSearch({ strict: false })
  const [form, setForm] = useState<EvaluationForm>(() => newForm(version, live.version))
  const [fault, setFault] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const change = (changes: Partial<EvaluationForm>): void => {
    setFault(null)
    // The next change may come before this one is shown.
    setForm((now) => ({ ...now, ...changes }))
  }
  const body = bodyOf(form)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (typeof body === 'string') {
      setFault(body)
      return
    }
    setBusy(true)
    setFault(null)
    startEvaluation(slug, body, { workspace_id: workspace })
      .then(async ({ id, items_total: total }) => {
        await queries.invalidateQueries({ queryKey: ['presets', slug, 'evaluations'] })
        toast(`The evaluation of v${form.version} runs over ${count(total)} ${total === 1 ? 'item' : 'items'}.`)
        await navigate({ to: '.', search: (before) => ({ ...before, start: undefined, with: undefined, evaluation: id }) })
      })
      .catch((thrown: unknown) => {
        setFault(messageOf(thrown))
        setBusy(false)
      })
  }
  return (
    <Dialog title={`New evaluation of ${slug}`} onClose={onClose}>
      <form className="stack" onSubmit={submit} noValidate>
        <div className="row fields">
          <Field label="Version">
            <VersionSelect versions={versions} value={form.version} onChange={(next) => change({ version: Number(next) })} />
          </Field>
          <Field label="Beside it">
            <select
              value={form.baseline ?? ''}
              onChange={(event) => change({ baseline: event.target.value === '' ? null : Number(event.target.value) })}
            >
              <option value="">no other version</option>
              {versions.map(({ version: other }) => (
                <option key={other} value={other}>
                  v{other}
                  {other === live.version ? ', live' : ''}
                </option>
              ))}
            </select>
          </Field>
        </div>
        <ItemsSource slug={slug} form={form} onChange={change} />
        <ChecksForm rows={form.checks} onRows={(checks) => change({ checks })} />
        <div className="row fields">
          <Field label="Items that must pass, in %">
            <input
              inputMode="decimal"
              className="short"
              value={form.passShare}
              onChange={(event) => change({ passShare: event.target.value })}
            />
          </Field>
          <Field label="Budget in dollars">
            <input
              inputMode="decimal"
              placeholder="no limit"
              className="short"
              value={form.budget}
              onChange={(event) => change({ budget: event.target.value })}
            />
          </Field>
        </div>
        <Field label="Name" hint="To find it again; may stay empty.">
          <input value={form.name} maxLength={200} autoComplete="off" onChange={(event) => change({ name: event.target.value })} />
        </Field>
        <Estimate slug={slug} body={body} />
        <DialogActions action="Start" onClose={onClose} busy={busy} fault={fault} />
      </form>
    </Dialog>
  )
}

const SETTLED_MS = 300

/** The service estimates the cost after the form has not changed for a moment. It calls no model for that. */
const Estimate = ({ slug, body }: { readonly slug: string; readonly body: EvaluationRequest | string }) => {
  const { workspace } = useSearch({ strict: false })
  const settled = useSettled(typeof body === 'string' ? body : JSON.stringify(body), SETTLED_MS)
  const isWhole = typeof body !== 'string' && settled === JSON.stringify(body)
  const found = useQuery({ ...estimateEvaluation(slug, settled, { workspace_id: workspace }), enabled: isWhole })
  const estimated = (): ReactNode => {
    if (typeof body === 'string') return body
    if (!isWhole || found.isPending) return 'Working out what it may cost …'
    return found.error === null ? <EstimateText {...found.data} /> : messageOf(found.error)
  }
  return (
    <p className="soft" role="status">
      {estimated()}
    </p>
  )
}

const EstimateText = ({ items, requests, judge_requests: judged, min_usd: least, max_usd: most }: EvaluationEstimate) => (
  <>
    {numbered(items, 'item')}, {numbered(requests, 'request')}
    {judged === 0 ? '' : ` and ${count(judged)} to the judge`}
    {least === null || most === null ? (
      '. What it costs is not known: a price is missing.'
    ) : (
      <>
        . It costs{' '}
        {least === most ? null : (
          <>
            <Money of={least} /> to{' '}
          </>
        )}
        <Money of={most} />.
      </>
    )}
  </>
)
