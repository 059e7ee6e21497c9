/** The settings that models of the sandbox heed, and those that they refuse, on all interfaces. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { type Answer, infer } from '../support/calls.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
let service: StartedService

beforeAll(async () => {
  service = await services.start()
})

type Json = Readonly<Record<string, unknown>>
type Dialect = 'chat' | 'responses' | 'messages'

const PATHS: Readonly<Record<Dialect, string>> = { chat: '/chat/completions', responses: '/responses', messages: '/messages' }
const DIALECTS = ['chat', 'responses', 'messages'] as const

const ask = (dialect: Dialect, model: string, fields: Json, text = 'One two STOP three'): Promise<Answer> => {
  const conversation = dialect === 'responses' ? { input: text } : { messages: [{ role: 'user', content: text }] }
  const limit = dialect === 'messages' ? { max_tokens: 500 } : {}
  return infer(service, { model: `sandbox/${model}`, ...conversation, ...limit, ...fields }, { path: PATHS[dialect] })
}

describe.each(DIALECTS)('%s', (dialect) => {
  test.each([
    ['sandbox.tokens', { tokens: 0 }],
    ['sandbox', 'x'],
    ['sandbox.script[0].fail', { script: [{ fail: 'nothing' }] }],
  ])('400, as our own check, for a fault of the field at %s, streamed and whole', async (path, sandbox) => {
    for (const stream of [false, true]) {
      const { status, text } = await ask(dialect, 'lorem', { sandbox, stream })
      expect(status).toBe(400)
      expect(text).toContain(path)
      expect(text).not.toContain('data:')
    }
  })
})
