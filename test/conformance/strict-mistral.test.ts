/** Whatever an accepted request contains, on any interface: the body that reaches Mistral is one that its API accepts. */
import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { defined, REQUESTS } from '../support/arbitrary-requests.ts'
import { bodyFor } from '../support/body-for.ts'
import { refusedByMistral } from '../support/strict-mistral.ts'

const MODELS = ['mistral-large-4', 'mistral-medium-3-5', 'mistral-large-2512', 'codestral-2508']

describe('before Mistral', () => {
  test.each(CLIENT_DIALECTS)('a %s request is refused here, or takes a form that the API takes', async (client) => {
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(REQUESTS[client], fc.constantFrom(...MODELS), async (given, model) => {
        const body = await bodyFor(client, { dialect: 'openai-chat', slug: 'mistral', model }, defined(given))
        if (body === null) return
        accepted += 1
        expect({ refused: refusedByMistral(body), body }).toEqual({ refused: null, body })
      }),
      { numRuns: 400 },
    )
    expect(accepted).toBeGreaterThan(120)
  })
})
