import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { RegexRefused } from '../lib/regex/parse.ts'
import { createWork, TooMuchWork, type Work } from '../lib/work.ts'
import { createCatalogueSearch, type Entry, wordsOf } from './catalogue-search.ts'

const tool = (name: string, description: string, properties: Record<string, unknown> = {}): Entry => ({
  name,
  description,
  parameters: { type: 'object', properties },
})

const GITHUB = [
  tool('github_issues_list', 'Lists the issues of a repository.', { state: { type: 'string', description: 'open or closed' } }),
  tool('github_pulls_list', 'Lists the pull requests of a repository.', { state: { type: 'string' } }),
  tool('github_pulls_merge', 'Merges a pull request.', { number: { type: 'integer' } }),
  tool('sendInvoice', 'Mails a bill to a customer.', { address: { type: 'string', description: 'Where the letter goes.' } }),
]
const work = (): Work => createWork(10_000_000)
const names = (found: readonly Entry[]): string[] => found.map(({ name }) => name)

test('the tool that a request names in other words comes first among a thousand', () => {
  const many = Array.from({ length: 996 }, (_, index) => tool(`service${index}_get_item`, `Gets an item of the list of service ${index}.`))
  expect(names(createCatalogueSearch([...many, ...GITHUB]).byWords('list pull requests', 3, work()))[0]).toBe('github_pulls_list')
})

test('a tool is found by the description of an argument, and by a word within its name', () => {
  const search = createCatalogueSearch(GITHUB)
  expect(names(search.byWords('letter', 5, work()))).toEqual(['sendInvoice'])
  expect(names(search.byWords('invoice', 5, work()))).toEqual(['sendInvoice'])
})

test('equal tools come in the order of the catalogue, however often they are asked for', () => {
  const search = createCatalogueSearch(['c', 'a', 'b'].map((name) => tool(`find_${name}`, 'Finds.')))
  for (let again = 0; again < 3; again += 1) expect(names(search.byWords('find', 2, work()))).toEqual(['find_c', 'find_a'])
})

test('a pattern finds by name, description and arguments, whatever the case, in the order of the catalogue', () => {
  const search = createCatalogueSearch(GITHUB)
  expect(names(search.byPattern('^GITHUB_pulls_', 5, work()))).toEqual(['github_pulls_list', 'github_pulls_merge'])
  expect(names(search.byPattern('open or', 5, work()))).toEqual(['github_issues_list'])
  expect(names(search.byPattern('.', 2, work()))).toEqual(['github_issues_list', 'github_pulls_list'])
})

test.each(['[', '(?=x)', '(a)\\1'])('the pattern %s is refused', (pattern) => {
  expect(() => createCatalogueSearch(GITHUB).byPattern(pattern, 5, work())).toThrow(RegexRefused)
})

test('words are separated at signs and at capitals', () => {
  expect(wordsOf('listPullRequests')).toEqual(['list', 'pull', 'requests'])
  expect(wordsOf('list_pull-requests.v2')).toEqual(['list', 'pull', 'requests', 'v2'])
})

test('property: no more is found than was asked for, nothing twice, and each has a word of the query', () => {
  const word = fc.constantFrom('list', 'get', 'user', 'order', 'mail', 'pull')
  const entry = fc.record({ words: fc.array(word, { minLength: 1, maxLength: 3 }), said: fc.array(word, { maxLength: 4 }) })
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 12 }),
      fc.array(word, { maxLength: 3 }),
      fc.integer({ min: 1, max: 6 }),
      (entries, query, most) => {
        const tools = entries.map(({ words, said }, index) => tool(`${words.join('_')}_${index}`, said.join(' ')))
        const found = createCatalogueSearch(tools).byWords(query.join(' '), most, work())
        expect(found.length).toBeLessThanOrEqual(most)
        expect(new Set(found).size).toBe(found.length)
        for (const { name, description } of found)
          expect(wordsOf(`${name} ${description}`).some((one) => query.includes(one as never))).toBe(true)
      },
    ),
  )
})

test('a pattern whose work grows with the catalogue and itself is given up, and so are words that every tool has', () => {
  const mixed = Array.from({ length: 20_000 }, (_, at) => (((at * 2654435761) >>> 13) % 2 === 0 ? 'a' : 'b')).join('')
  expect(() => createCatalogueSearch([tool('one', mixed)]).byPattern('a[ab]{900}c', 5, work())).toThrow(TooMuchWork)
  const common = Array.from({ length: 200 }, (_, index) => `w${index}`).join(' ')
  const many = Array.from({ length: 5000 }, (_, index) => tool(`t${index}`, common))
  expect(() => createCatalogueSearch(many).byWords(common, 5, work())).toThrow(TooMuchWork)
})
