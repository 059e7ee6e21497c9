/** Whatever the client's dialect, a known vendor gets only fields that it accepts, and both lanes carry the same settings. */
import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { FORMATS } from '../../src/formats/formats.ts'
import { atOnce } from '../../src/lib/steps.ts'
import type { Call, ClientDialect } from '../../src/canonical/call.ts'
import { SETTING_SAMPLES } from '../../src/canonical/setting-samples.test-kit.ts'
import type { SettingName } from '../../src/canonical/settings.ts'
import { GatewayError } from '../../src/errors.ts'
import { JsonBody } from '../../src/lib/json/json-body.ts'
import { encodeAnthropicRequest } from '../../src/providers/anthropic/encode.ts'
import { SETTING_OUTCOMES } from '../../src/providers/losses/loss-table.ts'
import { encodeChatRequest } from '../../src/providers/openai-chat/encode.ts'
import { acceptsField, openAiModelOf } from '../../src/providers/vendors/openai-model.ts'
import { encodeResponsesRequest } from '../../src/providers/openai-responses/encode.ts'
import type { Attempt, Target } from '../../src/providers/provider.ts'
import { vendorOf, vendorsOf } from '../../src/providers/vendors/vendors.ts'
import { fieldOf, meaningsOf, settingFields } from '../../src/request-fields/request-fields.ts'

const ENCODERS = { chat: encodeChatRequest, responses: encodeResponsesRequest, messages: encodeAnthropicRequest } as const

const MODELS = ['gpt-4o', 'gpt-5', 'gpt-5.2', 'gpt-5.6-sol', 'gpt-6-sol', 'o3', 'claude-haiku-4-5', 'claude-opus-4-8', 'some-model']

/** The vendors that have a row in the table, by the dialect that they are spoken to in. */
const VENDORS: Readonly<Record<ClientDialect, readonly string[]>> = {
  chat: vendorsOf('chat'),
  responses: vendorsOf('responses'),
  messages: vendorsOf('messages'),
}

const QUESTION: Readonly<Record<ClientDialect, object>> = {
  chat: {
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }],
  },
  responses: { input: 'Hi', tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }] },
  messages: {
    messages: [{ role: 'user', content: 'Hi' }],
    max_tokens: 9000,
    tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
  },
}

/** Fields of an interface that express a setting, with a value that has an effect. */
const samplesOf = (client: ClientDialect): readonly (readonly [string, unknown])[] =>
  [...settingFields(client)].flatMap(([name, fields]: [SettingName, readonly string[]]) =>
    // Each field has its own format for thinking.
    name === 'reasoning' ? [] : fields.map((field) => [field, SETTING_SAMPLES[name]] as const),
  )

const targetOf = (provider: string, upstreamModel: string): Target => ({
  provider,
  providerName: provider,
  baseUrl: 'https://vendor.example/v1',
  apiKey: 'k',
  modelId: `acme/${upstreamModel}`,
  upstreamModel,
  maxCompletionTokens: 8000,
})

interface Sent {
  readonly fields: Readonly<Record<string, unknown>>
  readonly reported: number
}

/** Returns null if the request is refused. */
const send = (call: Call, upstream: ClientDialect, target: Target): Sent | null => {
  let reported = 0
  const attempt: Attempt = { call, target, number: 0, warn: () => void (reported += 1), connection: new AbortController() }
  try {
    return { fields: JSON.parse(atOnce(ENCODERS[upstream](attempt))) as Sent['fields'], reported }
  } catch (thrown) {
    if (thrown instanceof GatewayError) return null
    throw thrown
  }
}

const callOf = (client: ClientDialect, fields: object): Call | null => {
  const body = JsonBody.read(JSON.stringify({ model: 'a/b', ...QUESTION[client], ...fields }))
  try {
    return atOnce(FORMATS[client].parseCall(body)).call
  } catch (thrown) {
    if (thrown instanceof GatewayError) return null
    throw thrown
  }
}

/** Fields of the upstream's dialect that were sent although neither the vendor nor its model accepts them. */
const unasked = ({ fields }: Sent, upstream: ClientDialect, target: Target): string[] => {
  const { accepts, openAiModels } = vendorOf(target.provider)
  if (accepts === 'everything') throw new Error(`${target.provider} is not known.`)
  const reasoning = fields['reasoning'] as { effort?: string } | undefined
  const effort = (fields['reasoning_effort'] as string | undefined) ?? reasoning?.effort ?? null
  return Object.keys(fields).filter((field) => {
    const row = fieldOf(upstream, field)
    const meanings = row === undefined ? [] : meaningsOf(row)
    if (meanings.every((meaning) => OWN_RULES.has(meaning))) return false
    return accepts[upstream]?.has(field) !== true && !(openAiModels && acceptsField(openAiModelOf(target), field, effort))
  })
}

const OWN_RULES: ReadonlySet<string> = new Set(['conversation', 'written', 'maxOutputTokens', 'reasoning'])

for (const upstream of ['chat', 'responses', 'messages'] as const) {
  describe(`vendors of ${upstream}`, () => {
    for (const client of ['chat', 'responses', 'messages'] as const) {
      test(`a ${client} client’s fields, in any company, are accepted there, or reported, or refused`, () => {
        fc.assert(
          fc.property(
            fc.constantFrom(...VENDORS[upstream]),
            fc.constantFrom(...MODELS),
            fc.subarray([...samplesOf(client)], { minLength: 1 }),
            (vendor, model, samples) => {
              const call = callOf(client, Object.fromEntries(samples))
              const target = targetOf(vendor, model)
              const sent = call === null ? null : send(call, upstream, target)
              if (sent === null) return
              expect({ vendor, model, unasked: unasked(sent, upstream, target) }).toEqual({ vendor, model, unasked: [] })
              // At most one output limit is sent, and within what the model allows.
              const limits = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'].filter((name) => name in sent.fields)
              expect(limits.length).toBeLessThanOrEqual(1)
              for (const name of limits) expect(sent.fields[name] as number).toBeLessThanOrEqual(8000)
            },
          ),
          { numRuns: 150 },
        )
      })
    }

    test.each(VENDORS[upstream])('%s: what is relayed and what is translated carry the same settings', (vendor) => {
      // The same settings from a client of another interface, with this request's prompt.
      const other = upstream === 'chat' ? 'responses' : 'chat'
      for (const [field, value] of samplesOf(upstream)) {
        const call = callOf(upstream, { [field]: value })
        // A field that the dialect itself lacks cannot be translated.
        if (call === null || outcomeOf(field, upstream) !== 'carried') continue
        for (const model of MODELS) {
          const target = targetOf(vendor, model)
          const [relayed, translated] = [send(call, upstream, target), send({ ...call, dialect: other }, upstream, target)]
          const has = (sent: Sent | null): boolean => sent !== null && namesOf(field, upstream).some((name) => name in sent.fields)
          expect({ vendor, model, field, carried: has(translated) }).toEqual({ vendor, model, field, carried: has(relayed) })
        }
      }
    })
  })
}

const outcomeOf = (field: string, upstream: ClientDialect): 'carried' | 'lost' => {
  const meanings = meaningsOf(fieldOf(upstream, field) ?? {}).filter((meaning) => Object.hasOwn(SETTING_OUTCOMES, meaning))
  const outcomes = meanings.map((meaning) => SETTING_OUTCOMES[meaning as SettingName][DIALECTS[upstream]])
  return outcomes.every((outcome) => outcome === 'kept' || outcome === 'mapped') ? 'carried' : 'lost'
}

const DIALECTS = { chat: 'openai-chat', responses: 'openai-responses', messages: 'anthropic' } as const

/** The names under which a vendor may get the field. */
const namesOf = (field: string, upstream: ClientDialect): readonly string[] => {
  const meanings = meaningsOf(fieldOf(upstream, field) ?? {})
  if (meanings.includes('maxOutputTokens')) return ['max_tokens', 'max_completion_tokens', 'max_output_tokens']
  if (meanings.includes('user') || meanings.includes('safetyIdentifier')) return ['user', 'safety_identifier', 'metadata']
  if (field === 'seed') return ['seed', 'random_seed']
  if (field === 'repetition_penalty') return ['repetition_penalty', 'repeat_penalty']
  return [field]
}
