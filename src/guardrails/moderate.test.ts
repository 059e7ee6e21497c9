import { createHmac } from 'node:crypto'

import { describe, expect, test } from 'bun:test'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import type { Effect } from '../canonical/effect.ts'
import { GatewayError } from '../errors.ts'
import { type SafeRequest, UnsafeRequest } from '../providers/transport/safe-fetch.ts'
import type { Moderation } from './effective.ts'
import { createModerate } from './moderate.ts'
import { moderationSettings } from './moderation-settings.ts'

const origin = { guardrailId: 'guardrail-1', scope: 'member' } as const
const SECRET = 'a-secret-of-the-webhook'

const settings = (onFailure: 'block' | 'allow' = 'block') =>
  moderationSettings.parse({
    endpoints: {
      openai: { kind: 'openai', name: 'OpenAI', url: 'https://api.example/v1/moderations', api_key: 'mod-key', on_failure: onFailure },
      house: { kind: 'webhook', url: 'https://hooks.example/check', secret: SECRET, on_failure: onFailure },
    },
  })

const go = async (
  endpoint: string,
  reply: { status?: number; body?: unknown; text?: string } | Error,
  options: { texts?: readonly string[]; action?: Moderation['action']; onFailure?: 'block' | 'allow' } = {},
) => {
  const { texts = ['You are an idiot.'], action = 'block', onFailure = 'block' } = options
  const sent: SafeRequest[] = []
  const effects: Effect[] = []
  const clock = createFakeClock()
  const moderate = createModerate(
    settings(onFailure),
    async (request) => {
      sent.push(request)
      if (reply instanceof Error) throw reply
      const text = reply.text ?? JSON.stringify(reply.body)
      return { status: reply.status ?? 200, contentType: 'application/json', url: request.url, bytes: Buffer.from(text), text }
    },
    clock,
  )
  const failure = await moderate([{ endpoint, action, origin }], { texts, model: 'vendor/model' }, effects).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  return { failure: failure instanceof GatewayError ? failure : null, thrown: failure, sent, effects, clock }
}

const flagged = { results: [{ flagged: true, categories: { harassment: true, violence: false, hate: true } }] }

describe('an OpenAI-style endpoint', () => {
  test('is asked with its key and model, and what it flags is a moderation error', async () => {
    const { failure, sent, effects } = await go('openai', { body: flagged })
    expect(sent[0]).toMatchObject({
      url: 'https://api.example/v1/moderations',
      headers: { authorization: 'Bearer mod-key' },
      timeoutMs: 5000,
    })
    expect(JSON.parse(String(sent[0]?.body ?? ''))).toEqual({ model: 'omni-moderation-latest', input: ['You are an idiot.'] })
    expect(failure).toMatchObject({
      type: 'content_policy_violation',
      status: 403,
      metadata: {
        reasons: ['harassment', 'hate'],
        flagged_input: 'You are an idiot.',
        provider_name: 'OpenAI',
        model_slug: 'vendor/model',
      },
    })
    expect(effects).toMatchObject([
      {
        name: 'moderation',
        guardrail_id: 'guardrail-1',
        guardrail_scope: 'member',
        data: { action: 'blocked', engines: ['openai'], patterns: ['harassment', 'hate'] },
      },
    ])
  })

  test('passes what it does not flag, and is not asked about nothing', async () => {
    expect((await go('openai', { body: { results: [{ flagged: false, categories: {} }] } })).thrown).toBeNull()
    expect((await go('openai', { body: flagged }, { texts: [] })).sent).toEqual([])
  })

  test('that judges fewer texts than it is given is asked about the rest, and not for ever', async () => {
    const one = await go('openai', { body: { results: [{ flagged: false }] } }, { texts: ['a', 'b', 'c'] })
    expect(one.failure).toBeNull()
    expect(one.sent.map(({ body }) => (JSON.parse(String(body)) as { input: unknown }).input)).toEqual([['a', 'b', 'c'], ['b', 'c'], ['c']])
    const many = await go('openai', { body: { results: [{ flagged: false }] } }, { texts: Array.from({ length: 40 }, String) })
    expect([many.failure?.type, many.sent.length]).toEqual(['provider_overloaded', 16])
  })

  test('flag: it is reported, and the request goes on', async () => {
    const { thrown, effects } = await go('openai', { body: flagged }, { action: 'flag' })
    expect(thrown).toBeNull()
    expect(effects).toMatchObject([{ data: { action: 'flagged' } }])
  })

  test('no character is split: neither where a flagged text is cut for the client, nor where a long one is cut for the endpoint', async () => {
    const text = `${'🙂'.repeat(49)}x${'🙂'.repeat(30_000)}`
    const { failure, sent } = await go('openai', { body: { results: [{ flagged: true, categories: {} }] } }, { texts: [text] })
    expect(String(failure?.metadata['flagged_input']).isWellFormed()).toBe(true)
    const { input } = JSON.parse(String(sent[0]?.body)) as { input: string[] }
    expect(input.join('')).toBe(text)
    expect(input.every((piece) => piece.isWellFormed() && piece.length <= 30_000)).toBe(true)
  })

  test('the piece that was flagged is shown, at most 100 characters of it, without its middle', async () => {
    const long = `${'a'.repeat(200)}${'b'.repeat(200)}`
    const { failure } = await go(
      'openai',
      { body: { results: [{ flagged: false }, { flagged: true, categories: {} }] } },
      { texts: ['fine', long] },
    )
    const shown = String(failure?.metadata['flagged_input'])
    expect(shown).toHaveLength(100)
    expect(shown).toMatch(/^a+\.\.\.b+$/)
    expect(failure?.metadata['reasons']).toEqual(['flagged'])
  })
})

describe('a webhook', () => {
  test('can check that the request is ours and new, and says why', async () => {
    const { failure, sent, clock } = await go('house', { body: { flagged: true, reasons: ['house rules'] } })
    const second = Math.floor(clock.now() / 1000)
    const signature = createHmac('sha256', SECRET)
      .update(`${second}.${String(sent[0]?.body)}`)
      .digest('hex')
    expect(sent[0]?.headers['x-patchbay-signature']).toBe(`t=${second},v1=${signature}`)
    expect(failure?.metadata).toMatchObject({ reasons: ['house rules'], provider_name: 'house', flagged_input: 'You are an idiot.' })
  })

  test('needs a secret that is worth one', () => {
    for (const secret of ['', 'short']) {
      expect(moderationSettings.safeParse({ endpoints: { a: { kind: 'webhook', url: 'https://x.example/', secret } } }).success).toBe(false)
    }
    expect(moderationSettings.safeParse({ endpoints: { a: { kind: 'webhook', url: 'https://x.example/' } } }).success).toBe(false)
  })
})

describe('without a verdict', () => {
  const failures: readonly [string, Parameters<typeof go>[1]][] = [
    ['no connection', new UnsafeRequest('no answer within 5000 ms')],
    ['an error status', { status: 500, body: {} }],
    ['an error status with a verdict that flags nothing', { status: 500, body: { results: [{ flagged: false }] } }],
    ['no JSON', { text: '<html>' }],
    ['no results', { body: { results: [] } }],
    ['no verdict', { body: { results: [{}] } }],
    ['no object', { text: '[]' }],
  ]
  for (const [what, reply] of failures) {
    test(`${what}: refused, unless the operator says otherwise`, async () => {
      const { failure } = await go('openai', reply)
      expect(failure).toMatchObject({ type: 'provider_overloaded', status: 503 })
      expect(failure?.message).toContain('no verdict')
      expect((await go('openai', reply, { onFailure: 'allow' })).thrown).toBeNull()
    })
  }

  test('an endpoint that is not configured (any more) refuses, and is named', async () => {
    const { failure } = await go('gone', { body: flagged }, { onFailure: 'allow' })
    expect(failure).toMatchObject({ status: 503 })
    expect(failure?.message).toContain('"gone"')
  })

  test('what is too long to be judged as a whole is refused', async () => {
    expect((await go('openai', { body: { results: [{ flagged: false }] } }, { texts: ['x'.repeat(1_000_001)] })).failure?.status).toBe(503)
  })
})
