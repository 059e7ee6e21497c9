import type { SelectQueryBuilder } from 'kysely'

import type { Schema } from '../tables/schema.ts'

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly totalCount: number
}

/** One page of the rows of a sorted query, and how many rows it has in all. */
export const readPage = async <Table extends keyof Schema, Row, Item>(
  sorted: SelectQueryBuilder<Schema, Table, Row>,
  { offset, limit }: { readonly offset: number; readonly limit: number },
  toItem: (row: Row) => Item,
): Promise<Page<Item>> => {
  const rows = await sorted.offset(offset).limit(limit).execute()
  const { count } = await sorted
    .clearSelect()
    .clearOrderBy()
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return { items: rows.map(toItem), totalCount: count }
}
