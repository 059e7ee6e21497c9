/** Whatever an accepted request contains, on any interface: the body that reaches Google is one that its API accepts. */
import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { defined, REQUESTS } from '../support/arbitrary-requests.ts'
import { bodyFor } from '../support/body-for.ts'
import { refusedByGoogle } from '../support/strict-google.ts'

const MODELS = ['gemini-2.0-flash', 'gemini-2.5-pro', 'gemini-2.5-flash-lite', 'gemini-3-pro-preview', 'gemini-3.7-flash']

describe('before Gemini', () => {
  test.each(CLIENT_DIALECTS)('a %s request is refused here, or takes a form that the API takes', async (client) => {
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(REQUESTS[client], fc.constantFrom(...MODELS), async (given, model) => {
        const body = await bodyFor(client, { dialect: 'google', slug: 'google', model }, defined(given))
        if (body === null) return
        accepted += 1
        expect({ refused: refusedByGoogle(body, model), body }).toEqual({ refused: null, body })
      }),
      { numRuns: 400 },
    )
    expect(accepted).toBeGreaterThan(120)
  })
})
