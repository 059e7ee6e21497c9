import { useState } from 'react'

import { queryClient } from '../../api/query-client.ts'
import { type Budget, budgetsOf, putBudget } from '../../api/workspaces.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Field } from '../../parts/field.tsx'
import { NOT_SAVED, SavedMeanwhile } from '../../parts/saved-meanwhile.tsx'
import { toast } from '../../shell/toasts.tsx'
import { noAmount, readNumber, writeNumber } from '../../typed-number.ts'
import { useEdited } from '../../use-edited.ts'
import { INTERVALS } from './intervals.ts'
import { budgetNote, undoBudget } from './undo-budget.ts'
import { exactMoney } from '../../units.ts'

interface BudgetDialogProps {
  /** The workspace. */
  readonly id: string
  readonly budgets: readonly Budget[]
  readonly onClose: () => void
}

/** Sets the budget of one interval; the budget that it has already is where the form begins. */
export const BudgetDialog = ({ id, budgets, onClose }: BudgetDialogProps) => {
  const [interval, setBudgetInterval] = useState<Interval>('monthly')
  const saved = limitsOf(budgets)
  const form = useEdited(saved)
  const limit = form.value[interval]
  const phrase = INTERVALS[interval]
  /** A limit that was typed already is meant for the interval that is chosen after it. */
  const choose = (next: Interval): void => {
    if (interval in form.edits) form.change({ [interval]: saved[interval], [next]: limit })
    setBudgetInterval(next)
  }
  return (
    <Confirm
      title="Budget of the workspace"
      action="Set budget"
      onClose={onClose}
      onConfirm={async () => {
        const amount = readNumber(limit)
        if (amount === null || amount === 0) throw new Error(noAmount(limit))
        const known = limitsOf(await queryClient.fetchQuery({ ...budgetsOf(id), staleTime: 0 }))
        if (known[interval] !== saved[interval]) throw new Error(NOT_SAVED)
        if (!form.isChanged) return
        await putBudget(id, interval, amount)
        const before = readNumber(known[interval])
        toast(
          `The workspace may spend ${exactMoney(amount)} ${phrase}: in force now.`,
          () => undoBudget(id, interval, { before, left: amount }),
          budgetNote(id, interval),
        )
      }}
    >
      <SavedMeanwhile
        what={`The budget ${phrase}`}
        form={form}
        isSaving={false}
        theirs={saved[interval] === '' ? 'none' : `${exactMoney(Number(saved[interval]))} ${phrase}`}
      />
      <Field label="Limit in dollars">
        <input
          value={limit}
          onChange={(event) => form.change({ [interval]: event.target.value })}
          inputMode="decimal"
          autoFocus
          autoComplete="off"
        />
      </Field>
      <Field label="For">
        <select value={interval} onChange={(event) => choose(event.target.value as Interval)}>
          <option value="daily">a day</option>
          <option value="weekly">a week</option>
          <option value="monthly">a month</option>
          <option value="lifetime">its whole life</option>
        </select>
      </Field>
    </Confirm>
  )
}

type Interval = keyof typeof INTERVALS

/** As the field shows them: empty for an interval without a budget. */
const limitsOf = (budgets: readonly Budget[]): Readonly<Record<Interval, string>> => ({
  daily: '',
  weekly: '',
  monthly: '',
  lifetime: '',
  ...Object.fromEntries(budgets.map(({ reset_interval: reset, limit_usd: limit }) => [reset ?? 'lifetime', writeNumber(limit)])),
})
