import { expect, test } from 'bun:test'

import { type ConfigFile, configFileSchema } from '../config-file.ts'
import { composeModels } from './models.ts'

const composed = (written: object, path: string | null, env: Record<string, string>) => (): unknown =>
  composeModels(configFileSchema.parse(written) satisfies ConfigFile, path, env, [])

test.each([
  ['of the named file', 'a.yaml', 'a.yaml: providers: "mine" needs a base_url'],
  ['of the default file', null, './patchbay.yaml: providers: "mine" needs a base_url'],
])('a fault %s names the file', (_, path, sentence) => {
  expect(composed({ providers: { mine: {} } }, path, {})).toThrow(sentence)
})

test('a fault of a variable names the variable, and no file', () => {
  expect(composed({}, 'a.yaml', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'nowhere' })).toThrow(/^OPENAI_BASE_URL: the address /)
})
