import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { ERROR_TYPES, errorRow } from '../src/errors.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../docs/contract/errors.md'), 'utf8')

/** The first two cells of each row in the table below a heading: each name in the first cell, with the second cell. */
const tableBelow = (heading: string): ReadonlyMap<string, string> => {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? ''
  const rows = [...section.matchAll(/^\| ([^|]+) \| ([^|]+) \|/gm)]
  return new Map(
    rows.flatMap(([, names = '', value = '']) => names.split(', ').map((name): [string, string] => [unquoted(name), unquoted(value)])),
  )
}

const unquoted = (cell: string): string => cell.replaceAll('`', '').trim()

const named = (heading: string, type: string): string | undefined => {
  const table = tableBelow(heading)
  return table.get(type) ?? table.get('all others')
}

test('the contract lists every type of error with its status, and no other', () => {
  const listed = [...tableBelow('Types')].filter(([, status]) => /^\d+$/.test(status))
  expect(new Map(listed)).toEqual(new Map(ERROR_TYPES.map((type) => [type, String(errorRow(type).status)])))
})

test.each(ERROR_TYPES)('the contract has the names of %s on Messages and Responses', (type) => {
  const { messagesType, responsesCode } = errorRow(type)
  expect(named('Types on Messages', type)).toBe(messagesType)
  expect(named('Codes on Responses', type)).toBe(responsesCode)
})
