/** The budgets of a workspace as files, one for each interval. */
import { z } from 'zod'

import { inSentences } from '../../contract/issue-sentence.ts'
import { budgetInterval, putBudgetBody, workspaceBudget } from '../../contract/budget.ts'
import { definedOnly } from '../../lib/defined-only.ts'
import type { Remote } from '../remote.ts'
import type { Document } from './document.ts'
import type { Kind } from './kind.ts'

const fileSchema = putBudgetBody.extend({ interval: budgetInterval }).strict()

export const budgetKind: Kind = {
  name: 'budgets',
  schema: fileSchema,
  folder: 'budgets',
  fileName: ({ identity }) => identity,
  async list(remote) {
    const { json } = await remote.ask('GET', await pathOf(remote))
    return z
      .array(workspaceBudget)
      .parse(json['data'])
      .map((budget) => {
        const interval = budget.reset_interval ?? 'lifetime'
        return { identity: interval, id: interval, document: documentOf({ ...budget, interval }) }
      })
  },
  read(value, stem) {
    const file = fileSchema.parse({ interval: stem, ...value }, inSentences)
    return { identity: file.interval, document: documentOf(file) }
  },
  async write(remote, document) {
    const { interval, ...budget } = fileSchema.parse(document)
    const body = { include_byok_in_budgets: false, allow_last_request: false, ...definedOnly(budget) }
    await remote.ask('PUT', `${await pathOf(remote)}/${interval}`, { body })
  },
  async remove(remote, { id }) {
    await remote.ask('DELETE', `${await pathOf(remote)}/${id}`)
  },
}

const pathOf = async (remote: Remote): Promise<string> => {
  if (remote.workspace !== undefined) return `/workspaces/${encodeURIComponent(remote.workspace)}/budgets`
  const { json } = await remote.ask('GET', '/key')
  const { workspace_id } = z.object({ workspace_id: z.string() }).parse(json['data'])
  return `/workspaces/${workspace_id}/budgets`
}

const documentOf = ({ interval, limit_usd, include_byok_in_budgets, allow_last_request }: z.output<typeof fileSchema>): Document => ({
  interval,
  limit_usd,
  ...(include_byok_in_budgets === true ? { include_byok_in_budgets } : {}),
  ...(allow_last_request === true ? { allow_last_request } : {}),
})
