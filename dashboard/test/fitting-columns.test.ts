import { expect, test } from 'bun:test'

import { columnsThatFit, tracksOf } from '../src/parts/fitting-columns.ts'

const COLUMNS = [
  { title: 'Time', width: 6 },
  { title: 'Model', width: 10, grows: true },
  { title: 'Preset', width: 6, grows: true, rank: 3 },
  { title: 'Tries', width: 2, rank: 4 },
  { title: 'Total', width: 3, rank: 1 },
  { title: 'Cost', width: 5, rank: 2 },
]

const shownIn = (space: number, columns = COLUMNS): readonly string[] => columnsThatFit(columns, space).map(({ title }) => title)

test('a list that is too narrow for all of its columns keeps those that matter most, in their order', () => {
  expect(shownIn(36)).toEqual(['Time', 'Model', 'Preset', 'Tries', 'Total', 'Cost'])
  expect(shownIn(33)).toEqual(['Time', 'Model', 'Preset', 'Total', 'Cost'])
  // Where one does not fit, a narrower one that matters less may.
  expect(shownIn(28.5)).toEqual(['Time', 'Model', 'Tries', 'Total', 'Cost'])
  expect(shownIn(28.4)).toEqual(['Time', 'Model', 'Total', 'Cost'])
  expect(shownIn(21)).toEqual(['Time', 'Model', 'Total'])
  expect(shownIn(0)).toEqual(['Time', 'Model'])
})

test('a column that a person hid leaves its space to another', () => {
  expect(
    shownIn(
      25,
      COLUMNS.filter(({ title }) => title !== 'Cost' && title !== 'Total'),
    ),
  ).toEqual(['Time', 'Model', 'Preset'])
})

test('columns that grow share the rest of the row by the space that they need', () => {
  expect(tracksOf(columnsThatFit(COLUMNS, 33))).toBe('6rem minmax(0, 10fr) minmax(0, 6fr) 3rem 5rem')
})
