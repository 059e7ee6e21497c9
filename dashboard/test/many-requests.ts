/** A service with a long request log. */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import type { HostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { chat } from './calls.ts'
import { countHours } from './count-hours.ts'

/** This many requests and one more, a second apart: `gen-copy-000001` is the newest. `costsNanos`: the costs of the newest ones. */
export const startWithRequests = async (
  services: HostedServices,
  rows: number,
  costsNanos: readonly number[] = [],
): Promise<RunningService> => {
  const first = await services.start()
  await chat(first, { model: 'sandbox/echo' })
  await first.stop()
  multiply(first.dataDir, rows, costsNanos)
  const { managementKey, inferenceKey } = first
  return { ...(await services.start({ dataDir: first.dataDir })), managementKey, inferenceKey }
}

/** Copies the existing requests, a second apart. */
const multiply = (dataDir: string, rows: number, costsNanos: readonly number[]): void => {
  const database = new Database(join(dataDir, 'patchbay.db'))
  const columns = (database.query(`select name from pragma_table_info('generations')`).all() as { name: string }[]).map(({ name }) => name)
  const given = costsNanos.map((cost, index) => `when number = ${index + 1} then ${cost} `).join('')
  // Only the oldest request was expensive, and no index finds it.
  const cost = `case ${given}when number = ${rows} then 5000000000 else 0 end`
  const copied: Readonly<Record<string, string>> = {
    id: `'gen-copy-' || printf('%06d', number)`,
    created_at: `strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || number || ' seconds')`,
    record: `json_set(record, '$.id', 'gen-copy-' || printf('%06d', number), '$.total_cost', (${cost}) / 1e9)`,
    cost_nanos: cost,
  }
  database.run(
    `with recursive numbers(number) as (select 1 union all select number + 1 from numbers where number < ${rows})
     insert into generations (${columns.map((name) => `"${name}"`).join(', ')})
     select ${columns.map((name) => copied[name] ?? `"${name}"`).join(', ')} from numbers, (select * from generations limit 1)`,
  )
  countHours(database)
  database.close()
}
