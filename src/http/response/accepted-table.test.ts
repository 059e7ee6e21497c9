import { expect, test } from 'bun:test'

import { acceptedTable } from './accepted-table.ts'

const CSV = 'text/csv'
const LINES = 'application/x-ndjson'

test.each<[string | null, string | null]>([
  [null, null],
  ['', null],
  ['*/*', null],
  ['text/*', null],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', null],
  ['application/json', null],
  [CSV, CSV],
  ['TEXT/CSV', CSV],
  ['text/csv; header=present', CSV],
  ['text/csv-schema', null],
  ['text/csv, */*;q=0.1', CSV],
  ['text/csv, application/json', CSV],
  ['application/json, text/csv', CSV],
  ['application/json, text/csv;q=0.5', null],
  ['text/csv;q=.5', CSV],
  ['application/json;q=0.4, text/csv;q=0.5', CSV],
  ['text/csv;q=0', null],
  ['text/csv;q=0, */*', null],
  ['text/csv;q=0.9, */*', null],
  ['text/csv;q=0.9, application/*;q=0.8, */*', CSV],
  ['text/csv; header=present; Q = 0.5, application/json', null],
  ['text/csv;q=much', null],
  [LINES, LINES],
  [`${LINES}, ${CSV}`, CSV],
  [`${LINES}, ${CSV};q=0.5`, LINES],
  [`${'x/y,'.repeat(100_000)}${CSV}`, null],
])('Accept: %p asks for %p', (accept, expected) => {
  const headers = new Headers(accept === null ? {} : { accept })
  expect(acceptedTable(headers, [CSV, LINES])).toBe(expected)
})
