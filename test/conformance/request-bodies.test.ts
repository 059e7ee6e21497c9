/** A provider of the client's own dialect gets the client's own bytes: order, spaces, spelling of numbers, unknown fields. */
import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { sealProof } from '../../src/canonical/reasoning.ts'
import { SERVICE_FIELDS } from '../../src/request-fields/service-fields.ts'
import { recording } from '../support/recordings.ts'
import { MODEL, OWN_DIALECT, replay } from '../support/replay.ts'

/** Whole answers, whose contents are not checked. */
const ANSWERS = {
  chat: ['openai-chat', 'openai-text'],
  responses: ['openai-responses', 'length'],
  messages: ['anthropic', 'anthropic-text'],
} as const

const sentFor = async (client: ClientDialect, body: string): Promise<string> => {
  const { bytes } = recording(ANSWERS[client][0], ANSWERS[client][1], false)
  const reply = { type: 'application/json', pieces: [bytes] } as const
  const { sent, text } = await replay({ client, upstreams: [{ dialect: OWN_DIALECT[client], reply }], body })
  const [request] = sent
  if (request === undefined) throw new Error(`Nothing was sent: ${text}`)
  return request.body
}

type Member = readonly [key: string, value: string]

/** The members of the outermost object, as they are written. */
const membersOf = (json: string): Member[] => {
  const members: Member[] = []
  let depth = 0
  let from = json.indexOf('{') + 1
  let colon = -1
  for (let at = from; at < json.length; at += 1) {
    const sign = json[at] ?? ''
    if (sign === '"') {
      for (at += 1; json[at] !== '"'; at += 1) if (json[at] === '\\') at += 1
      continue
    }
    if (sign === ':' && depth === 0 && colon < 0) colon = at
    if (depth === 0 && (sign === ',' || sign === '}')) {
      if (colon >= 0) members.push([JSON.parse(json.slice(from, colon)) as string, json.slice(colon + 1, at).trim()])
      from = at + 1
      colon = -1
    }
    if (sign === '{' || sign === '[') depth += 1
    if (sign === '}' || sign === ']') depth -= 1
  }
  return members
}

const ODD_NUMBERS = ['1.0', '1e2', '-0', '12345678901234567890', '0.1000', '1E-7', '6.02e+23', '9007199254740993']
const space = fc.constantFrom('', ' ', '\n  ', '\t')

/** JSON as other programs write it, with their spaces, escapes and numbers. */
const oddJson: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...ODD_NUMBERS, 'null', 'true', '""', '"\\u00e9\\/\\ud83e\\udd8a"', '[]', '{}'),
    fc.string({ unit: 'binary', maxLength: 6 }).map((text) => JSON.stringify(text)),
    fc.tuple(fc.array(tie('value'), { maxLength: 3 }), space).map(([values, gap]) => `[${gap}${values.join(`,${gap}`)}${gap}]`),
    fc
      .tuple(fc.array(tie('value'), { maxLength: 3 }), space)
      .map(([values, gap]) => `{${gap}${values.map((value, index) => `"k${index}"${gap}:${gap}${value}`).join(`${gap},`)}${gap}}`),
  ),
})).value

/** The fields that each dialect requires, with odd numbers in likely places: tools and their arguments. */
const NEEDED: Readonly<Record<ClientDialect, readonly Member[]>> = {
  chat: [
    ['model', JSON.stringify(MODEL)],
    ['messages', '[ {"role":"user","content":"Hi \\u00e9","x_mark":1.0} ,{"content":[{"type":"text","text":"b","x":1e2}],"role":"user"}]'],
    ['temperature', '1.0'],
    [
      'tools',
      '[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"n":{"type":"integer","maximum":12345678901234567890}}}}}]',
    ],
    ['metadata', '{"a":"b"}'],
  ],
  responses: [
    ['model', JSON.stringify(MODEL)],
    [
      'input',
      '[ {"role":"user","content":"Hi \\u00e9"} ,{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"1.0"}]',
    ],
    ['temperature', '1.0'],
    [
      'tools',
      '[{"type":"function","name":"f","strict":false,"parameters":{"type":"object","properties":{"n":{"maximum":12345678901234567890}}}}]',
    ],
  ],
  messages: [
    ['model', JSON.stringify(MODEL)],
    ['max_tokens', '1e2'],
    [
      'messages',
      '[ {"role":"user","content":"Hi \\u00e9"} ,{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{"n":12345678901234567890}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}]',
    ],
    ['tools', '[{"name":"f","input_schema":{"type":"object","properties":{"n":{"maximum":1.0}}},"cache_control":{"type":"ephemeral"}}]'],
  ],
}

/** Fields that the service always writes itself. */
const OWNED: ReadonlySet<string> = new Set(['model', 'store', 'stream', 'stream_options', ...SERVICE_FIELDS])

const bodies = (client: ClientDialect): fc.Arbitrary<{ readonly text: string; readonly members: readonly Member[] }> =>
  fc
    .record({
      unknown: fc.array(fc.tuple(fc.string({ unit: fc.constantFrom(...'abé_-. "'), maxLength: 5 }), oddJson), { maxLength: 5 }),
      owned: fc.subarray([...SERVICE_FIELDS].filter((name) => HARMLESS[name] !== undefined)),
      order: fc.array(fc.nat(), { minLength: 30, maxLength: 30 }),
      gap: space,
    })
    .map(({ unknown, owned, order, gap }) => {
      const members: Member[] = [
        ...NEEDED[client],
        ...unknown.filter(([, value]) => value !== 'null').map(([name, value], index): Member => [`x${index}_${name}`, value]),
        ...owned.map((name): Member => [name, HARMLESS[name] ?? 'null']),
      ]
      const shuffled = members.map((member, index) => ({ member, rank: order[index] ?? 0 })).toSorted((a, b) => a.rank - b.rank)
      const written = shuffled.map(({ member: [key, value] }) => `${gap}${JSON.stringify(key)}${gap}:${gap}${value}`)
      return { text: `${gap}{${written.join(`${gap},`)}${gap}}${gap}`, members: shuffled.map(({ member }) => member) }
    })

/** Fields for this service that change nothing in a request for the only model. */
const HARMLESS: Readonly<Record<string, string>> = {
  session_id: '"s-1"',
  trace: '{"x":1}',
  usage: '{"include":true}',
  api_key: '"stolen"',
  api_base: '"https://elsewhere.example"',
  base_url: '"https://elsewhere.example"',
  user_config: '{}',
  extra_headers: '{"x-a":"b"}',
  extra_body: '{"model":"other"}',
  context_window_fallbacks: '[{"one":["other"]}]',
  content_policy_fallbacks: '[{"one":["other"]}]',
  router_settings_override: '{}',
  custom_llm_provider: '"other"',
  litellm_credential_name: '"other"',
  provider: '{"allow_fallbacks":true}',
}

describe('request bodies', () => {
  for (const client of CLIENT_DIALECTS) {
    test(`${client}: the upstream reads the client's own bytes, but for what the service owns`, async () => {
      await fc.assert(
        fc.asyncProperty(bodies(client), async ({ text, members }) => {
          const sent = membersOf(await sentFor(client, text))
          const foreign = (all: readonly Member[]): Member[] => all.filter(([key]) => !OWNED.has(key))
          expect(foreign(sent)).toEqual(foreign(members))
          expect(sent.find(([key]) => key === 'model')?.[1]).toBe('"upstream-0"')
          for (const [key] of sent) expect(SERVICE_FIELDS).not.toContain(key as 'models')
        }),
        { numRuns: 150 },
      )
    })
  }

  test('messages: numbers of a history from which foreign thinking was taken are spelled as the client spelled them', async () => {
    const proof = sealProof({ format: 'openai-responses-v1', kind: 'encrypted', data: 'gAAAA' })
    const kept = '{"type":"tool_use","id":"t1","name":"f","input":{"n":12345678901234567890,"m":1.0}}'
    const result = '{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}'
    const history = `[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"redacted_thinking","data":"${proof}"},${kept}]},${result}]`
    const sent = await sentFor('messages', `{"model":"${MODEL}","max_tokens":100,"messages":${history}}`)
    expect(sent).not.toContain(proof)
    expect(sent).toContain('12345678901234567890')
  })

  test('responses: the same', async () => {
    const proof = sealProof({ format: 'anthropic-claude-v1', kind: 'signature', data: 'c2ln' })
    const foreign = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"${proof}"}`
    const call =
      '{"type":"function_call","call_id":"c1","name":"f","arguments":"{\\"n\\":12345678901234567890}","x_number":12345678901234567890}'
    const input = `[{"role":"user","content":"Hi"},${foreign},${call},{"type":"function_call_output","call_id":"c1","output":"x"}]`
    const sent = await sentFor('responses', `{"model":"${MODEL}","input":${input}}`)
    expect(sent).not.toContain(proof)
    expect(sent).toContain('"x_number":12345678901234567890')
  })
})
