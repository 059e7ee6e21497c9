/** The counted usage, and its cost. */
import type { Generation } from '../../api/generations.ts'
import { count } from '../../format.ts'
import { Money } from '../../parts/amount.tsx'
import { Table } from '../../parts/table.tsx'
import { exactMoney } from '../../units.ts'

export const CostLines = ({ record }: { record: Generation }) => {
  const tools = (record.server_tool_calls ?? []).filter(({ cost }) => cost > 0)
  const ofTools = tools.reduce((sum, { cost }) => sum + cost, 0)
  const lines = [
    { name: 'Model', amount: record.total_cost - ofTools },
    ...tools.map(({ tool, cost, step }) => ({ name: `${tool}, step ${step}`, amount: cost })),
  ]
  return (
    <div className="stack">
      <Table
        label="Tokens"
        rows={tokensOf(record)}
        rowKey={({ name }) => name}
        columns={[
          { title: 'Tokens', cell: ({ name }) => name, isHead: true },
          { title: 'Count', cell: ({ tokens }) => count(tokens), align: 'right' },
        ]}
      />
      <Table
        label="Cost"
        rows={[...lines, { name: 'Total', amount: record.total_cost }]}
        rowKey={({ name }) => name}
        columns={[
          { title: 'Cost', cell: ({ name }) => name, isHead: true },
          { title: 'Dollars', cell: ({ amount }) => (record.cost_known ? exactMoney(amount) : 'not known'), align: 'right' },
        ]}
      />
      <ul className="soft">
        {record.is_byok ? (
          <li>
            Paid with the customer’s own provider key
            {record.upstream_inference_cost === null ? null : (
              <>
                : <Money of={record.upstream_inference_cost} /> at the provider
              </>
            )}
            .
          </li>
        ) : null}
        {record.usage_estimated ? <li>The provider reported no complete usage: what is missing was estimated.</li> : null}
        {record.cache_discount === null || record.cache_discount === 0 ? null : (
          <li>
            <CacheEffect saved={record.cache_discount} />
          </li>
        )}
        {record.cost_known ? null : <li>The price of this model is not known, so this request counts as $0 in sums.</li>}
      </ul>
    </div>
  )
}

const CacheEffect = ({ saved }: { saved: number }) =>
  saved > 0 ? (
    <>
      Cached input saved <Money of={saved} />.
    </>
  ) : (
    <>
      Writing to the cache cost <Money of={-saved} /> more than it saved.
    </>
  )

const tokensOf = (record: Generation): readonly { name: string; tokens: number }[] => {
  const all: readonly (readonly [string, number | null])[] = [
    ['Input', record.native_tokens_prompt],
    ['of it read from a cache', record.native_tokens_cached],
    ['of it written to a cache', record.native_tokens_cache_write],
    ['Output', record.native_tokens_completion],
    ['of it reasoning', record.native_tokens_reasoning],
    ['of it pictures', record.native_tokens_completion_images],
  ]
  return all.flatMap(([name, tokens]) => (tokens === null || (tokens === 0 && name.startsWith('of it')) ? [] : [{ name, tokens }]))
}
