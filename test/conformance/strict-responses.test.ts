/** Whatever an accepted request of another interface contains: the body that reaches OpenAI's Responses is one that its API accepts. */
import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { defined, REQUESTS } from '../support/arbitrary-requests.ts'
import { bodyFor } from '../support/body-for.ts'
import { at } from '../support/json-at.ts'
import { refusedByResponses } from '../support/strict-responses.ts'

const MODELS = ['gpt-4.1', 'gpt-5.2', 'gpt-6-sol', 'o3']

describe('before OpenAI’s Responses', () => {
  test.each(['chat', 'messages'] as const)('a %s request is refused here, or takes a form that the API takes', async (client) => {
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(REQUESTS[client], fc.constantFrom(...MODELS), async (given, model) => {
        // A chat client that wants to be strict has OpenAI's own rules for schemas, and gets OpenAI's own error.
        const asked = client === 'chat' ? withoutStrict(defined(given)) : defined(given)
        const body = await bodyFor(client, { dialect: 'openai-responses', slug: 'openai', model }, asked)
        if (body === null) return
        accepted += 1
        expect({ refused: refusedByResponses(body), body }).toEqual({ refused: null, body })
      }),
      { numRuns: 400 },
    )
    expect(accepted).toBeGreaterThan(120)
  })
})

describe.each(['openai-chat', 'openai-responses'] as const)('%s: a strict tool of a Messages client', (dialect) => {
  const sent = async (schema: object): Promise<unknown> => {
    const asked = {
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ name: 'f', strict: true, input_schema: schema }],
    }
    const body = await bodyFor('messages', { dialect, slug: 'openai', model: 'gpt-4.1' }, asked)
    const tool = at(body, 'tools', 0)
    return dialect === 'openai-chat' ? at(tool, 'function') : tool
  }
  const TEXT = { type: 'string' }

  test('is strict, and closed, if it requires all its properties', async () => {
    const open = { type: 'object', properties: { a: { type: 'object', properties: { b: TEXT }, required: ['b'] } }, required: ['a'] }
    expect(await sent(open)).toMatchObject({
      strict: true,
      parameters: { ...open, properties: { a: { ...open.properties.a, additionalProperties: false } }, additionalProperties: false },
    })
  })

  test('is not strict if a property may be left out, which OpenAI refuses', async () => {
    const closed = { type: 'object', properties: { a: TEXT, b: TEXT }, required: ['a'], additionalProperties: false }
    const tool = await sent(closed)
    expect(tool).toMatchObject({ name: 'f', parameters: closed })
    expect(at(tool, 'strict') ?? false).toBe(false)
  })
})

const withoutStrict = (body: object): object =>
  JSON.parse(JSON.stringify(body, (key, value: unknown) => (key === 'strict' ? undefined : value))) as object
