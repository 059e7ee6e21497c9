/**
 * The condition that a column has one of many values, as one parameter: a list of parameters would make another statement for each
 * number of values, to be built and compiled anew for each batch of requests.
 */
import { type RawBuilder, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const oneOf = (engine: Engine, column: string, values: readonly string[]): RawBuilder<boolean> =>
  engine === 'sqlite'
    ? sql`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`
    : sql`${sql.ref(column)} = any(${values})`
