import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, expect, test } from 'bun:test'

import { pdfOf } from '../../../test/support/pdfs.ts'
import { systemClock } from '../clock.ts'
import { createReadDocument } from './read-document.ts'

const directory = mkdtempSync(join(tmpdir(), 'patchbay-documents-'))
afterAll(() => rmSync(directory, { recursive: true }))

const program = (code: string): string => {
  const file = join(directory, `${Bun.hash(code)}.ts`)
  writeFileSync(file, code)
  return file
}

const LONG = { timeoutMs: 60_000 }
const PDF = { kind: 'pdf', maxPages: 100, maxCharacters: 10_000 } as const
const PAGE = { kind: 'html', url: 'https://example.com/', charset: null, maxCharacters: 10_000 } as const
const read = createReadDocument({ clock: systemClock })

test('a page is read in its charset: that of its byte order mark, its host’s, its own, or UTF-8', async () => {
  const said = async (html: Buffer, charset: string | null) => {
    const answer = await read({ ...PAGE, charset }, html, LONG)
    return answer.fault === null ? answer.text : answer.fault
  }
  expect(await said(Buffer.from('<p>é'), null)).toBe('é')
  expect(await said(Buffer.from('<p>é', 'latin1'), 'ISO-8859-1')).toBe('é')
  expect(await said(Buffer.from('<meta charset="windows-1252"><p>é', 'latin1'), null)).toBe('é')
  expect(await said(Buffer.from('\ufeff<p>é', 'utf16le'), null)).toBe('é')
  expect(await said(Buffer.from('\ufeff<p>é'), 'ISO-8859-1')).toBe('é')
  expect(await said(Buffer.from('<p>é'), 'klingon')).toBe('é')
})

test('the text of a PDF is read page by page, as many as are wanted', async () => {
  expect(await read(PDF, pdfOf(['Hello', '', 'Bye']), LONG)).toEqual({
    fault: null,
    title: null,
    text: 'Hello\n\nBye',
    cut: false,
    pages: 3,
  })
  expect(await read({ ...PDF, maxPages: 2 }, pdfOf(['One', 'Two', 'Three']), LONG)).toMatchObject({
    text: 'One\n\nTwo',
    cut: true,
    pages: 3,
  })
  expect(await read({ ...PDF, maxCharacters: 5 }, pdfOf(['One', 'Two']), LONG)).toMatchObject({ text: 'One\n\n', cut: true })
})

test('an encrypted PDF and a broken one are distinguished', async () => {
  expect(await read(PDF, pdfOf(['Hello'], { encrypted: true }), LONG)).toEqual({ fault: 'encrypted' })
  expect(await read(PDF, Buffer.from('%PDF-1.4 nothing'), LONG)).toEqual({ fault: 'broken' })
})

test('the process that reads has no variable of the service’s environment', async () => {
  const reported = createReadDocument({
    clock: systemClock,
    program: program(
      'process.stdout.write(JSON.stringify({ fault: null, title: null, cut: false, text: Object.keys(process.env).join(" ") + process.cwd() }))',
    ),
  })
  expect(await reported(PAGE, Buffer.alloc(0), LONG)).toMatchObject({ text: '/' })
})

test('one that never ends is killed when its time is over, and others are read meanwhile', async () => {
  const stuck = createReadDocument({ clock: systemClock, program: program('for (;;);') })
  const waiting = stuck(PAGE, Buffer.alloc(0), { timeoutMs: 1000 })
  expect(await read(PAGE, Buffer.from('<p>quick'), LONG)).toMatchObject({ text: 'quick' })
  expect(await waiting).toEqual({ fault: 'too_slow' })
})

test('one that nobody waits for any more is killed', async () => {
  const controller = new AbortController()
  const stuck = createReadDocument({ clock: systemClock, program: program('for (;;);') })
  const waiting = stuck(PAGE, Buffer.alloc(0), { ...LONG, signal: controller.signal })
  controller.abort()
  expect(await waiting).toEqual({ fault: 'too_slow' })
})

test.if(process.platform === 'linux')('one that takes too much memory is killed', async () => {
  const greedy = createReadDocument({
    clock: systemClock,
    maxResidentBytes: 200 * 1024 * 1024,
    program: program('const kept = []; for (;;) kept.push(new Uint8Array(1024 * 1024).fill(1))'),
  })
  expect(await greedy(PAGE, Buffer.alloc(0), LONG)).toEqual({ fault: 'too_large' })
})

test('one that dies, one that says something else, and one that says more than is wanted, have no answer', async () => {
  const dying = createReadDocument({ clock: systemClock, program: program('process.kill(process.pid, "SIGSEGV")') })
  expect(await dying(PAGE, Buffer.alloc(100_000), LONG)).toEqual({ fault: 'broken' })
  const unclear = createReadDocument({ clock: systemClock, program: program('console.log("Warning: a font"); console.log("{}")') })
  expect(await unclear(PAGE, Buffer.alloc(0), LONG)).toEqual({ fault: 'broken' })
  const talking = createReadDocument({ clock: systemClock, program: program('for (;;) process.stdout.write("x".repeat(65536))') })
  expect(await talking(PAGE, Buffer.alloc(0), LONG)).toEqual({ fault: 'too_large' })
})

test('one holder takes three places, and leaves the fourth to others, however many wait', async () => {
  const stuck = createReadDocument({
    clock: systemClock,
    program: program('if (process.argv[2].includes("stuck")) for (;;); console.log("{}")'),
  })
  const job = (url: string) => ({ ...PAGE, url: `https://example.com/${url}` })
  const many = Array.from({ length: 40 }, () => stuck(job('stuck'), Buffer.alloc(0), { timeoutMs: 2500, holder: 'one' }))
  expect(await stuck(job('quick'), Buffer.alloc(0), { timeoutMs: 2000, holder: 'other' })).toEqual({} as never)
  expect(await stuck(job('quick'), Buffer.alloc(0), { timeoutMs: 2000, holder: 'third' })).toEqual({} as never)
  expect(await Promise.all(many)).toEqual(many.map(() => ({ fault: 'too_slow' })))
  expect(await stuck(job('quick'), Buffer.alloc(0), { ...LONG, holder: 'one' })).toEqual({} as never)
})

test('four are read at once, and the others wait their turn or until their time is over', async () => {
  const stuck = createReadDocument({ clock: systemClock, program: program('for (;;);') })
  const four = Array.from({ length: 4 }, () => stuck(PAGE, Buffer.alloc(0), { timeoutMs: 1500 }))
  const impatient = await stuck(PAGE, Buffer.alloc(0), { timeoutMs: 10 })
  expect(impatient).toEqual({ fault: 'too_slow' })
  expect(await Promise.all(four)).toEqual(four.map(() => ({ fault: 'too_slow' })))
  const next = createReadDocument({ clock: systemClock })
  expect(await next(PAGE, Buffer.from('<p>next'), LONG)).toMatchObject({ text: 'next' })
})
