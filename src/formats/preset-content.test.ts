import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'
import { z } from 'zod'

import { CLIENT_DIALECTS } from '../canonical/call.ts'
import { GatewayError } from '../errors.ts'
import { presetContentOf as fromMessages } from './anthropic-messages/preset-config.ts'
import { presetContentOf as fromChat } from './openai-chat/preset-config.ts'
import { presetContentOf as fromResponses } from './openai-responses/preset-config.ts'
import { LOCKABLE_FIELDS, PERSISTED_FIELDS, PRESET_CONTROLS, SYSTEM_BLOCKS_KEY } from '../request-fields/preset-fields.ts'
import { REQUEST_FIELDS } from '../request-fields/request-fields.ts'
import { refusedPaths } from './refusal.test-kit.ts'

const READERS = { chat: fromChat, responses: fromResponses, messages: fromMessages }

const NEVER_PERSISTED = [
  'messages',
  'input',
  'prompt',
  'stream',
  'preset',
  'stream_options',
  'debug',
  'user',
  'safety_identifier',
  'session_id',
  'trace',
  'metadata',
  'previous_response_id',
  'conversation',
  'store',
  'background',
  'prompt_cache_key',
  'container',
]

/** Legacy fields for tools, which no new preset should store. */
const LEGACY_TOOLS = ['functions', 'function_call']

describe.each([...CLIENT_DIALECTS])('the allow-list of %s', (shape) => {
  const persisted = new Set(PERSISTED_FIELDS[shape])

  test('names fields that the interface checks, and our own controls', () => {
    const known = new Set([...Object.keys(REQUEST_FIELDS[shape]), ...Object.keys(PRESET_CONTROLS), 'strict'])
    expect([...persisted].filter((name) => !known.has(name))).toEqual([])
  })

  test('leaves out everything that belongs to one call or one caller', () => {
    expect(NEVER_PERSISTED.filter((name) => persisted.has(name))).toEqual([])
  })

  test('leaves no setting of the interface out', () => {
    const perCall = new Set([
      ...NEVER_PERSISTED,
      'instructions',
      'system',
      'transforms',
      'usage',
      'n',
      'best_of',
      'compaction',
      'thread',
      ...LEGACY_TOOLS,
    ])
    const described = Object.entries(REQUEST_FIELDS[shape]).flatMap(([name, { schema }]) => (schema === undefined ? [] : [name]))
    expect(described.filter((name) => !persisted.has(name) && !perCall.has(name))).toEqual([])
  })

  test('property: config holds only allowed keys, each with the value that was sent, or the body is refused with 400', () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      fc.array(fc.string()),
      fc.constantFrom('auto', 'fast', 'low', 'fallback', null, [], {}, [{ type: 'x', y: { z: [1, null] } }], [{ id: 'p' }]),
    )
    const name = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...persisted) }, fc.constantFrom(...NEVER_PERSISTED), fc.string())
    fc.assert(
      fc.property(fc.dictionary(name, value, { maxKeys: 4 }), (body) => {
        const sent = structuredClone(body)
        const config = configOrRefusal(shape, body)
        if (config === null) return
        for (const [key, stored] of Object.entries(config)) {
          expect(persisted.has(key) || key === SYSTEM_BLOCKS_KEY).toBe(true)
          if (persisted.has(key)) expect(stored).toEqual(sent[key])
        }
        for (const [key, wanted] of Object.entries(sent)) if (persisted.has(key) && wanted !== null) expect(config).toHaveProperty([key])
        expect(body).toEqual(sent)
      }),
      { numRuns: 500 },
    )
  })

  test('a preset may lock fields', () => {
    const controls = { locked: ['model', 'provider'], on_locked: 'reject' }
    expect(READERS[shape](controls).content.config).toEqual(controls)
  })

  test('400: a lock of a field that does not exist, or an unknown way to lock', () => {
    expect(refusedPaths(() => READERS[shape]({ locked: ['model', 'modle'], on_locked: 'explode' }))).toEqual(['locked[1]', 'on_locked'])
    expect(refusedPaths(() => READERS[shape]({ locked: 'model' }))).toEqual(['locked'])
  })
})

test('a lock may name any field that any interface keeps, but no control', () => {
  expect(LOCKABLE_FIELDS).toContain('max_output_tokens')
  expect(LOCKABLE_FIELDS).toContain('stop_sequences')
  expect(LOCKABLE_FIELDS.map(String)).not.toContain('locked')
  expect(new Set(LOCKABLE_FIELDS).size).toBe(LOCKABLE_FIELDS.length)
})

test('OpenAPI: the ids of all components are unique and every component can be told', () => {
  expect(() => z.toJSONSchema(z.globalRegistry, { target: 'draft-2020-12', io: 'input' })).not.toThrow()
})

const configOrRefusal = (shape: keyof typeof READERS, body: unknown): Record<string, unknown> | null => {
  try {
    return READERS[shape](body).content.config
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(GatewayError)
    expect((thrown as GatewayError).type).toBe('invalid_request')
    return null
  }
}

test('400: more than 2 MiB beside the system text; what is not kept does not count', () => {
  const MIB = 1024 * 1024
  const tool = (length: number): object => ({ type: 'function', name: 'f', description: 'd'.repeat(length), parameters: {} })
  const bodyWith = (length: number): object => ({
    model: 'a/b',
    instructions: 'i'.repeat(MIB),
    input: 'x'.repeat(5 * MIB),
    tools: [tool(length)],
  })
  expect(() => fromResponses(bodyWith(2 * MIB - 1000))).not.toThrow()
  expect(() => fromResponses(bodyWith(2 * MIB))).toThrow('Too long: a preset keeps at most 2 MiB beside its system text.')
})
