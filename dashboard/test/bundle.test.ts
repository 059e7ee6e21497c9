import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { buildDashboard } from '../../scripts/build-dashboard.ts'

const directory = mkdtempSync(join(tmpdir(), 'patchbay-dashboard-build-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const built = buildDashboard(directory)

const read = async (ending: string): Promise<readonly { name: string; text: string }[]> => {
  await built
  return readdirSync(join(directory, 'assets'))
    .filter((name) => name.endsWith(ending))
    .map((name) => ({ name, text: readFileSync(join(directory, 'assets', name), 'utf8') }))
}

describe('the bundle of the dashboard', () => {
  test('is within its budget: 200 KB compressed before the first screen is whole', async () => {
    expect((await built).firstLoadBytes).toBeLessThanOrEqual(200 * 1024)
  })

  test('has types of the contract alone: no schema and no library of them is in it', async () => {
    for (const { name, text } of await read('.js'))
      expect({ name, found: /ZodError|safeParse|_zod\b/.exec(text)?.[0] }).toEqual({ name, found: undefined })
  })

  test('every style sheet that it made is named by its page, and no other', async () => {
    const html = readFileSync(join(directory, 'index.html'), 'utf8')
    expect((await read('.css')).map(({ name }) => name)).toEqual([/assets\/([\w-]+\.css)/.exec(html)?.[1] ?? ''])
  })

  test('names no other origin to load from, and turns no text into code', async () => {
    for (const { name, text } of await read('.css'))
      expect({ name, found: /url\((?!\.\/)[^)]*\)/.exec(text)?.[0] }).toEqual({ name, found: undefined })
    for (const { name, text } of await read('.js'))
      expect({ name, found: /\beval\(|new Function\(/.exec(text)?.[0] }).toEqual({ name, found: undefined })
  })

  test('the licence of each library in it ships with it', async () => {
    await built
    const licences = readFileSync(join(directory, 'licences.txt'), 'utf8')
    for (const name of ['react', 'react-dom', '@tanstack/react-router', 'cmdk', '@codemirror/view', '@fontsource-variable/inter']) {
      expect(licences).toMatch(new RegExp(`^${name.replaceAll('/', '\\/')} \\d[\\w.]* \\(.+\\)$`, 'm'))
    }
  })
})
