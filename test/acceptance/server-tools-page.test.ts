/** The examples of docs/server-tools.md do what the page says. */
import { readFileSync } from 'node:fs'

import { beforeAll, expect, test } from 'bun:test'

import { infer } from '../support/calls.ts'
import { useServices, type StartedService } from '../support/started-service.ts'

const services = useServices()
let service: StartedService

beforeAll(async () => {
  service = await services.start()
})

const page = readFileSync(new URL('../../docs/server-tools.md', import.meta.url), 'utf8')
const EXAMPLES = [...page.matchAll(/curl "\$PATCHBAY\/api\/v1(\/[^"]+)"[^']*'Content-Type: application\/json' -d '([^']+)'/g)].map(
  ([, path = '', body = '']) => [path, body] as const,
)

test('there is one for each interface', () => {
  expect(EXAMPLES.map(([path]) => path)).toEqual(['/chat/completions', '/responses', '/messages'])
})

test.each(EXAMPLES)('%s answers behind its tool', async (path, body) => {
  const { status, text } = await infer(service, body, { path })
  expect(status).toBe(200)
  expect(text).toContain('It is late.')
  expect(text).toContain('+09:00')
})
