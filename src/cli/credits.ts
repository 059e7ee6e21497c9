/** `patchbay credits …`: prepaid credit of a workspace, with the service running or not. */
import { addCreditsBody } from '../contract/budget.ts'
import { validate } from '../contract/validate.ts'
import { readConfigFile } from '../config-file.ts'
import { environment, SettingError, type StorageSettings } from '../config.ts'
import { createCredits } from '../ledger/credits.ts'
import { decimalNumber } from '../lib/decimal.ts'
import { systemClock } from '../lib/clock.ts'
import { systemIds } from '../lib/id.ts'
import { dollars, nanosOf } from '../lib/money.ts'
import { fromShell } from './from-shell.ts'
import { namedWorkspace } from './named-workspace.ts'
import { withStorage } from './with-storage.ts'

interface CreditFlags {
  readonly workspace?: string
  readonly json?: boolean
}

export const addCreditsVerb = async (settings: StorageSettings, amount: string, flags: CreditFlags & { note?: string }): Promise<void> => {
  const usd = decimalNumber(amount)
  if (usd === null) throw new SettingError('the amount must be a number of US dollars, such as 25 or -2.5.')
  const body = validate(addCreditsBody, { amount_usd: usd, note: flags.note ?? '' })
  await withCredits(settings, flags, async ({ credits, workspaceId, userId, show }) => {
    const amountNanos = Math.sign(usd) * nanosOf(Math.abs(usd))
    await credits.add({ workspaceId, amountNanos, note: body.note }, fromShell(userId))
    await show()
  })
}

export const showCreditsVerb = (settings: StorageSettings, flags: CreditFlags): Promise<void> =>
  withCredits(settings, flags, ({ show }) => show())

interface Opened {
  readonly credits: ReturnType<typeof createCredits>
  readonly workspaceId: string
  readonly userId: string
  readonly show: () => Promise<void>
}

const withCredits = (settings: StorageSettings, flags: CreditFlags, work: (opened: Opened) => Promise<void>): Promise<void> =>
  withStorage(settings, async ({ database, owner }) => {
    const workspaceId = flags.workspace === undefined ? owner.workspaceId : await namedWorkspace(database, flags.workspace)
    const credits = createCredits({ database, clock: systemClock, ids: systemIds })
    const show = async (): Promise<void> => {
      const total = await credits.total(workspaceId)
      const spent = await credits.spent(workspaceId)
      const answer = { total_credits: dollars(total), total_usage: dollars(spent) }
      const text = `prepaid ${amountText(total)}, spent ${amountText(spent)}, left ${amountText(total - spent)}`
      process.stdout.write(`${flags.json === true ? JSON.stringify(answer) : text}\n`)
      if (!readConfigFile(settings.config, environment()).budgets.credits)
        process.stderr.write('No request is held to it: the configuration file does not say budgets.credits: true.\n')
    }
    await work({ credits, workspaceId, userId: owner.userId, show })
  })

const amountText = (nanos: number): string => (nanos < 0 ? `-$${dollars(-nanos)}` : `$${dollars(nanos)}`)
