/** Whatever an accepted request contains, on any interface: the body that reaches Bedrock's other models is one that Converse accepts. */
import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { defined, REQUESTS } from '../support/arbitrary-requests.ts'
import { bodyFor } from '../support/body-for.ts'
import { refusedByConverse } from '../support/strict-converse.ts'

const MODELS = [
  'amazon.nova-pro-v1:0',
  'meta.llama3-3-70b-instruct-v1:0',
  'mistral.mistral-large-2407-v1:0',
  'openai.gpt-oss-120b-1:0',
  'deepseek.v3-v1:0',
  'moonshot.kimi-k2-thinking',
]

describe('before Bedrock', () => {
  test.each(CLIENT_DIALECTS)('a %s request is refused here, or takes a form that the API takes', async (client) => {
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(REQUESTS[client], fc.constantFrom(...MODELS), async (given, model) => {
        const body = await bodyFor(client, { dialect: 'bedrock', slug: 'bedrock', model }, defined(given))
        if (body === null) return
        accepted += 1
        expect({ refused: refusedByConverse(body), body }).toEqual({ refused: null, body })
      }),
      { numRuns: 400 },
    )
    expect(accepted).toBeGreaterThan(120)
  })
})
