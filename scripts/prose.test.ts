import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { fragmentsIn } from './prose.ts'

const ROOT = join(import.meta.dirname, '..')
const FOLDERS = ['bench', 'bin', 'dashboard/src', 'dashboard/test', 'scripts', 'src', 'test']

test('no block of comments begins with a fragment', () => {
  const paths = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((path) => join(folder, path))
      .filter((path) => /\.tsx?$/.test(path) && path !== join('scripts', 'prose.test.ts')),
  )
  expect(paths.flatMap((path) => fragmentsIn(path, readFileSync(join(ROOT, path), 'utf8')))).toEqual([])
})

test.each([
  '/** Of the request. */',
  '/**\n * Told of each body.\n */',
  'const a = 1\n  // Whoever is free first is free then.\n',
  '/** The same, to be sent. */',
  '/** What a filter looks for. */',
  '// Whether it is kept.',
])('a fragment is found: %p', (text) => {
  expect(fragmentsIn('one.ts', text)).toHaveLength(1)
})

test.each([
  '/** Offers a tool. */',
  '/** The same messages where none of them changes. */',
  '// The first line ends with a kind\n// Of the next one nothing is asked.',
  "const text = 'Of course'",
])('a sentence is none: %p', (text) => {
  expect(fragmentsIn('one.ts', text)).toEqual([])
})
