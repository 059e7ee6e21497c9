/** Whatever an accepted request contains, on any interface: the messages that reach a vendor of Chat Completions are ones that it accepts. */
import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { defined, REQUESTS } from '../support/arbitrary-requests.ts'
import { bodyFor } from '../support/body-for.ts'
import { CHAT_VENDORS, refusedByVendor } from '../support/strict-chat.ts'

const MODELS: Readonly<Record<string, string>> = {
  openai: 'gpt-4.1',
  groq: 'openai/gpt-oss-120b',
  cerebras: 'gpt-oss-120b',
  xai: 'grok-4.7',
  deepseek: 'deepseek-v4-pro',
  moonshot: 'kimi-k3',
  zai: 'glm-5.3',
}

describe.each(CLIENT_DIALECTS)('a %s request', (client) => {
  test.each(Object.keys(CHAT_VENDORS))('before %s is refused here, or takes a form that the API takes', async (slug) => {
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(REQUESTS[client], async (given) => {
        const body = await bodyFor(client, { dialect: 'openai-chat', slug, model: MODELS[slug] ?? '' }, defined(given))
        if (body === null) return
        accepted += 1
        expect({ refused: refusedByVendor(body, slug), body }).toEqual({ refused: null, body })
      }),
      { numRuns: 120 },
    )
    expect(accepted).toBeGreaterThan(30)
  })
})
