/**
 * An answer reports the service tier that served it, and costs what that tier costs, whatever was requested
 * (docs/contract/routing.md#service-tiers).
 */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { isObject } from '../../src/lib/json/json.ts'
import { recording, streamBytes, UPSTREAM_DIALECTS, type UpstreamDialect } from '../support/recordings.ts'
import { question, replay, typeOf } from '../support/replay.ts'

type Json = Readonly<Record<string, unknown>>

/** Each vendor's names for the ordinary and the more expensive tier. */
const WORDS: Readonly<Record<UpstreamDialect, Readonly<Record<'default' | 'priority', string>>>> = {
  'openai-chat': { default: 'default', priority: 'priority' },
  'openai-responses': { default: 'default', priority: 'priority' },
  anthropic: { default: 'standard', priority: 'priority' },
  google: { default: 'ON_DEMAND', priority: 'ON_DEMAND_PRIORITY' },
  bedrock: { default: 'default', priority: 'priority' },
}

const within = (payload: Json, member: string, more: object): Json =>
  isObject(payload[member]) ? { ...payload, [member]: { ...payload[member], ...more } } : payload

/** The payload of a vendor, with the tier in the place where the vendor puts it. */
const TELL: Readonly<Record<UpstreamDialect, (payload: Json, word: string) => Json>> = {
  'openai-chat': (payload, word) => ({ ...payload, service_tier: word }),
  'openai-responses': (payload, word) =>
    isObject(payload['response'])
      ? within(payload, 'response', { service_tier: word })
      : payload['object'] === 'response'
        ? { ...payload, service_tier: word }
        : payload,
  anthropic: (payload, word) =>
    isObject(payload['message'])
      ? { ...payload, message: within(payload['message'], 'usage', { service_tier: word }) }
      : within(payload, 'usage', payload['type'] === 'message' ? { service_tier: word } : {}),
  google: (payload, word) => within(payload, 'usageMetadata', { trafficType: word }),
  bedrock: (payload, word) =>
    isObject(payload['usage']) ? { ...payload, serviceTier: { type: word } } : within(payload, 'metadata', { serviceTier: { type: word } }),
}

interface Asked {
  readonly client: ClientDialect
  readonly dialect: UpstreamDialect
  readonly stream: boolean
  readonly fields: Json
  /** If absent, the provider does not report its tier. */
  readonly served?: 'default' | 'priority'
  /** The vendor's own word in its place. */
  readonly word?: string
}

const ask = async ({ client, dialect, stream, fields, served, word }: Asked) => {
  const told = recording(dialect, 'length', stream).payloads.map((text) => {
    const payload = JSON.parse(text) as Json
    const told = word ?? (served === undefined ? undefined : WORDS[dialect][served])
    return JSON.stringify(told === undefined ? payload : TELL[dialect](payload, told))
  })
  const bytes = stream ? streamBytes(dialect, told) : new TextEncoder().encode(told[0])
  const { run, text } = await replay({
    client,
    upstreams: [{ dialect, reply: { type: typeOf(stream), pieces: [bytes] } }],
    priorityPrices: { prompt: 10, completion: 20 },
    body: { ...question(client, stream), ...fields },
  })
  const tiers = [...text.matchAll(/"service_tier":\s*(?:"(\w+)"|null)/g)].map(([, word]) => word ?? null)
  return {
    told: tiers.findLast((word) => word !== null),
    dollars: (run?.bill.cost.totalNanos ?? 0) / 1e9,
    recorded: run?.bill.usage.servedTier,
  }
}

const ORDINARY = 0.000_021
const DEAR = 0.000_21

for (const client of CLIENT_DIALECTS) {
  const ordinary = client === 'messages' ? 'standard' : 'default'
  for (const dialect of UPSTREAM_DIALECTS) {
    describe.each([false, true])(`${client} → ${dialect}, stream %p`, (stream) => {
      test('priority that nobody asked for is told, and charged at its price', async () => {
        const answer = await ask({ client, dialect, stream, fields: {}, served: 'priority' })
        expect(answer).toEqual({ told: 'priority', dollars: DEAR, recorded: 'priority' })
      })

      test('priority that was asked for and not served is neither told nor charged', async () => {
        const answer = await ask({ client, dialect, stream, fields: { service_tier: 'priority' }, served: 'default' })
        expect([answer.told, answer.dollars]).toEqual([ordinary, ORDINARY])
      })
    })
  }

  test.each<[string, UpstreamDialect, boolean, string | undefined]>(
    [false, true].flatMap((stream) => [
      ['on_demand', 'openai-chat', stream, ordinary],
      ['on_demand', 'openai-responses', stream, ordinary],
      ['weird', 'openai-chat', stream, undefined],
      ['weird', 'openai-responses', stream, undefined],
      ['weird', 'anthropic', stream, undefined],
      ['PROVISIONED_THROUGHPUT', 'google', stream, undefined],
      ['flex', 'bedrock', stream, client === 'messages' ? undefined : 'flex'],
    ]),
  )(`${client}: typed clients read the tier %s of %s, stream %p`, async (word, dialect, stream, told) => {
    const answer = await ask({ client, dialect, stream, fields: {}, word })
    expect(answer).toMatchObject({ told, recorded: word === 'on_demand' ? 'default' : word.toLowerCase() })
  })

  test.each([false, true])(`${client} → google, stream %p: a tier that was asked for is not told where nobody knows it`, async (stream) => {
    const answer = await ask({ client, dialect: 'google', stream, fields: { service_tier: 'flex' } })
    expect([answer.told, answer.dollars]).toEqual([undefined, ORDINARY])
  })

  test.each([false, true])(
    `${client} → google, stream %p: an endpoint of a tier serves by it where the answer is silent`,
    async (stream) => {
      const answer = await ask({ client, dialect: 'google', stream, fields: { service_tier: 'priority' } })
      expect(answer).toEqual({ told: 'priority', dollars: DEAR, recorded: 'priority' })
    },
  )
}
