/**
 * Amounts and counts that are shortened where they are shown. A pointer gets the exact value in a tooltip, a screen reader always, and
 * everybody once they have chosen exact figures, by a key or in Settings.
 */
import { change, compact, count, exactChange, money } from '../format.ts'
import { figures } from '../figures.ts'
import { useStore } from '../store.ts'
import { exactMoney } from '../units.ts'

/** Dollars; `–` if the amount is not known. */
export const Money = ({ of: amount }: { of: number | null | undefined }) =>
  amount === null || amount === undefined ? '–' : <Figure short={money(amount)} exact={exactMoney(amount)} />

/** `from` is null if it is not known. */
export const MoneyChange = ({ to, from }: { to: number; from: number | null }) => (
  <Figure short={change(to, from)} exact={exactChange(to, from)} />
)

export const Compact = ({ of: value }: { of: number }) => <Figure short={compact(value)} exact={count(value)} />

export const Figure = ({ short, exact }: { short: string; exact: string }) => {
  const isExact = useStore(figures) === 'exact'
  if (isExact || short === exact) return exact
  return (
    <span title={exact}>
      <span aria-hidden="true">{short}</span>
      <span className="hidden-text">{exact}</span>
    </span>
  )
}
