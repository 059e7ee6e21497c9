import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { GatewayError } from '../errors.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import { REQUEST_FIELDS } from '../request-fields/request-fields.ts'
import { atOnce } from '../lib/steps.ts'
import { FORMATS } from './formats.ts'

const word = fc.constantFrom(
  'user',
  'assistant',
  'system',
  'tool',
  'text',
  'input_text',
  'function',
  'function_call',
  'thinking',
  'auto',
  'x',
  '',
)
const member = fc.constantFrom('type', 'role', 'content', 'text', 'name', 'id', 'call_id', 'tool_calls', 'function', 'input', '__proto__')
const scalar = fc.oneof(word, fc.integer(), fc.double(), fc.boolean(), fc.constant(null))
const part = fc.dictionary(member, fc.oneof(scalar, fc.array(fc.dictionary(member, scalar, { maxKeys: 3 }), { maxLength: 2 })), {
  maxKeys: 5,
})
const value = fc.oneof(
  scalar,
  fc.jsonValue({ maxDepth: 3 }),
  fc.array(fc.oneof(part, scalar), { maxLength: 3 }),
  fc.array(fc.record({ role: word, content: fc.oneof(scalar, fc.array(part, { maxLength: 3 })) }), { maxLength: 3 }),
  part,
)

test.each(['chat', 'responses', 'messages'] as const)('property: %s: any JSON object is a call with a prompt, or is refused', (dialect) => {
  const format = FORMATS[dialect]
  const field = fc.constantFrom(...Object.keys(REQUEST_FIELDS[dialect]))
  fc.assert(
    fc.property(fc.dictionary(field, value, { maxKeys: 5 }), fc.boolean(), value, (fields, named, conversation) => {
      const body = named ? { model: 'a/b', messages: conversation, input: conversation, ...fields } : fields
      try {
        atOnce(format.parseCall(JsonBody.read(JSON.stringify(body)))).call.prompt()
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(GatewayError)
        expect(['invalid_request', 'invalid_prompt']).toContain((thrown as GatewayError).type)
      }
    }),
    { numRuns: 1000 },
  )
})
