import { afterAll, expect, test } from 'bun:test'
import { lstatSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { replaceFile } from './replace-file.ts'

const directory = mkdtempSync(join(tmpdir(), 'replace-file-'))
afterAll(() => rmSync(directory, { recursive: true }))

test.each(['exists', 'does not exist yet'])('a link to a file that %s stays a link, and the file gets the text', (state) => {
  const file = join(directory, `file that ${state}`)
  const link = `${file}, by its link`
  if (state === 'exists') writeFileSync(file, 'an older and longer text', { mode: 0o600 })
  symlinkSync(file, link)
  replaceFile(link, 'new')
  expect(readFileSync(file, 'utf8')).toBe('new')
  expect(lstatSync(link).isSymbolicLink()).toBe(true)
  if (state === 'exists') expect(statSync(file).mode & 0o777).toBe(0o600)
})
