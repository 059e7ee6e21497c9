import { expect, test } from 'bun:test'

import { isPdf, pagesOf } from './pdf-pages.ts'

const pages = (text: string): number => pagesOf(Buffer.from(text).toString('base64'))
const page = '1 0 obj <</Type /Page /Parent 9 0 R>> endobj\n'

test.each<[string, string, number]>([
  ['each page', `%PDF-1.4\n${page.repeat(3)}9 0 obj <</Type/Pages /Count 3>>`, 3],
  ['as many as the tree tells, where one page stands in it often', `%PDF-1.4\n${page}9 0 obj <</Type/Pages/Kids[1 0 R 1 0 R]/Count 2>>`, 2],
  ['the most that is taken, where its objects are compressed', `%PDF-1.5\n${page}<</Type /ObjStm>>`, 1000],
  ['the most that is taken, where it is encrypted', `%PDF-1.4\n${page}<</Encrypt 5 0 R>>`, 1000],
  ['the most that is taken, where none is found', '%PDF-1.4', 1000],
  ['no more than is taken', `%PDF-1.4\n${page}<</Count 999999>>`, 1000],
])('%s', (_, text, count) => {
  expect(pages(text)).toBe(count)
})

test('a PDF is told by its type or its first bytes', () => {
  expect([isPdf('application/pdf', ''), isPdf(null, 'JVBERi0xLjQ='), isPdf('image/png', 'iVBO')]).toEqual([true, true, false])
})
