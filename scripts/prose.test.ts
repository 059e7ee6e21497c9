import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { fragmentsIn, vagueWordsIn } from './prose.ts'

const ROOT = join(import.meta.dirname, '..')
const FOLDERS = ['bench', 'bin', 'dashboard/src', 'dashboard/test', 'scripts', 'src', 'test']

const filesIn = (folders: readonly string[], ending: RegExp): string[] =>
  folders
    .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)))
    .filter((path) => ending.test(path) && path !== join('scripts', 'prose.test.ts'))

const findIn = (paths: readonly string[], find: (path: string, text: string) => string[]): string[] =>
  paths.flatMap((path) => find(path, readFileSync(join(ROOT, path), 'utf8')))

test('no block of comments begins with a fragment', () => {
  expect(findIn(filesIn(FOLDERS, /\.tsx?$/), fragmentsIn)).toEqual([])
})

test('code and pages say who gets, shows or reports a thing, not that it is told of', () => {
  // A released migration never changes, so neither do its comments.
  const paths = filesIn([...FOLDERS, 'docs', 'decisions'], /\.(?:tsx?|md)$/).filter((path) => !path.includes('/migrations/'))
  expect(findIn(paths, vagueWordsIn)).toEqual([])
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

test.each(['/** Told of the end. */', 'It is told of once.', 'an event that tells of it'])('vague words are found: %p', (text) => {
  expect(vagueWordsIn('one.ts', text)).toEqual(['one.ts:1'])
})
