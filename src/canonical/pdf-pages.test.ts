import { deflateSync } from 'node:zlib'

import { expect, test } from 'bun:test'

import { atOnce } from '../lib/steps.ts'
import { isPdf, pagesOf } from './pdf-pages.ts'

const pages = (text: string): number => atOnce(pagesOf(Buffer.from(text, 'latin1').toString('base64')))
const objectStream = (objects: string): string =>
  `5 0 obj <</Type /ObjStm /N 3 /First 20 /Filter /FlateDecode>>\nstream\r\n${deflateSync(objects).toString('latin1')}\nendstream endobj\n`
const page = '1 0 obj <</Type /Page /Parent 9 0 R>> endobj\n'

test.each<[string, string, number]>([
  ['each page', `%PDF-1.4\n${page.repeat(3)}9 0 obj <</Type/Pages /Count 3>>`, 3],
  ['as many as the tree tells, where one page stands in it often', `%PDF-1.4\n${page}9 0 obj <</Type/Pages/Kids[1 0 R 1 0 R]/Count 2>>`, 2],
  ['each page among compressed objects', `%PDF-1.5\n${page}${objectStream(page)}${objectStream(page.repeat(4))}`, 6],
  ['the count of a compressed tree', `%PDF-1.5\n${page}${objectStream('<</Type/Pages /Count 40>>')}`, 40],
  ['the most that is taken, where compressed objects have no stream', `%PDF-1.5\n${page}<</Type /ObjStm>>`, 1000],
  ['the most that is taken, where one stream has several heads', `%PDF-1.5\n${page}/ObjStm ${objectStream(page)}`, 1000],
  ['the most that is taken, where there are too many of them', `%PDF-1.5\n${page}${objectStream(page).repeat(501)}`, 1000],
  ['the most that is taken, where they are compressed in another way', `%PDF-1.5\n${page}<</Type /ObjStm>>\nstream\nxyz\nendstream`, 1000],
  ['the most that is taken, where they are too long', `%PDF-1.5\n${page}${objectStream(' '.repeat(3_000_000))}`, 1000],
  ['the most that is taken, where it is encrypted', `%PDF-1.4\n${page}<</Encrypt 5 0 R>>`, 1000],
  ['the most that is taken, where none is found', '%PDF-1.4', 1000],
  ['no more than is taken', `%PDF-1.4\n${page}<</Count 999999>>`, 1000],
])('%s', (_, text, count) => {
  expect(pages(text)).toBe(count)
})

test('a PDF is recognised by its type or its first bytes', () => {
  expect([isPdf('application/pdf', ''), isPdf(null, 'JVBERi0xLjQ='), isPdf('image/png', 'iVBO')]).toEqual([true, true, false])
})
