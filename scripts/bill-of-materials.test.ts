import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { billOfMaterials, licencesOf } from './bill-of-materials.ts'

const ROOT = join(import.meta.dirname, '..')
const BUNDLED = ['src/main.ts', 'node_modules/pg/lib/index.js', 'node_modules/@smithy/core/dist-es/index.js']

interface Bill {
  readonly components: readonly {
    readonly name: string
    readonly version: string
    readonly licenses?: readonly { readonly license: { readonly id: string } }[]
    readonly hashes?: readonly { readonly content: string }[]
    readonly properties: readonly { readonly value: string }[]
  }[]
}
const bill = billOfMaterials(ROOT, BUNDLED) as Bill

test('every package that an installation gets is in the bill of materials, with its version and its digest', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
    'dependencies' | 'devDependencies',
    Record<string, string>
  >
  const versions = Object.fromEntries(bill.components.map(({ name, version }) => [name, version]))
  expect(versions).toMatchObject(dependencies)
  expect(Object.keys(devDependencies).filter((name) => name in versions)).toEqual([])
  for (const { name, hashes } of bill.components)
    expect([name, hashes?.[0]?.content]).toEqual([name, expect.stringMatching(/^[0-9a-f]{128}$/)])
})

test('whose code is in the bundle is told apart', () => {
  const bundled = bill.components.filter(({ properties }) => properties[0]?.value === 'true').map(({ name }) => name)
  expect(bundled).toEqual(['@smithy/core', 'pg'])
})

/** A licence that requires more than including its text needs a decision, not only an update. */
const PERMISSIVE = ['Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'ISC', 'MIT']

test('every licence is one that asks for no more than its text', () => {
  const others = bill.components.filter(({ licenses }) => !PERMISSIVE.includes(licenses?.[0]?.license.id ?? 'none'))
  expect(others.map(({ name }) => name)).toEqual([])
})

test('the licences of the bundle are there as text, each below its package', () => {
  const text = licencesOf(ROOT, BUNDLED)
  for (const line of ['(MIT)', '@smithy/core', 'Apache License']) expect(text).toContain(line)
})

test('the same sources make the same files', () => {
  expect(billOfMaterials(ROOT, BUNDLED)).toEqual(bill)
})
