import { expect, test } from 'bun:test'

import { openCatalogueImports } from './catalogue-imports.ts'

const row = (kind: 'litellm' | 'models.dev', models: string) => ({
  kind,
  asOf: '2026-11-18',
  importedAt: '2026-11-20T00:00:00.000Z',
  models,
})

test('a list that cannot be read any more stays as it was until the process ends; one that never could be is left out', async () => {
  const rows = [row('litellm', '{}'), row('models.dev', '{')]
  const said: string[] = []
  const store = { revision: async () => rows.map(({ models }) => models).join(), list: async () => rows }
  const imports = await openCatalogueImports(store, (sentence) => void said.push(sentence))
  expect(imports.current().map(({ kind }) => kind)).toEqual(['litellm'])
  expect(said).toEqual([expect.stringContaining('"models.dev" in the database cannot be read')])

  rows[0] = row('litellm', '{"openai/gpt-5.4": 1}')
  expect(await imports.refresh()).toBe(true)
  expect(imports.current().map(({ kind }) => kind)).toEqual(['litellm'])
  expect(said[1]).toContain('so the list of before holds until the next start')

  rows.length = 0
  await imports.refresh()
  expect(imports.current()).toEqual([])
})
