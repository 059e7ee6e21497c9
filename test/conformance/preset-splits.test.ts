/** A body means the same however it is divided between a preset and a request, and on whichever interface its preset is used. */
import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import type { Call, ClientDialect } from '../../src/canonical/call.ts'
import type { PresetContent } from '../../src/contract/preset.ts'
import { applyPreset } from '../../src/formats/apply-preset.ts'
import { FORMATS } from '../../src/formats/formats.ts'
import { withCarried } from '../../src/inference/read-call.ts'
import { JsonBody } from '../../src/lib/json/json-body.ts'
import { atOnce } from '../../src/lib/steps.ts'

type Fields = Readonly<Record<string, unknown>>

const share = fc.integer({ min: 1, max: 9 }).map((tenths) => tenths / 10)
const schema = fc.constantFrom({ type: 'object', properties: { a: { type: 'integer', maximum: 3 } }, required: ['a'] }, { type: 'object' })
const stops = fc.uniqueArray(fc.constantFrom('END', '###', '\n\n'), { minLength: 1, maxLength: 3 })
const tools = (of: (name: string) => unknown) =>
  fc.uniqueArray(fc.constantFrom('f', 'g', 'h'), { minLength: 1 }).map((names) => names.map(of))

const SHARED = {
  temperature: share,
  top_p: share,
  top_k: fc.integer({ min: 1, max: 40 }),
  service_tier: fc.constantFrom('flex', 'priority'),
  provider: fc.constantFrom({ sort: 'price' }, { only: ['a'], allow_fallbacks: false }),
  models: fc.uniqueArray(fc.constantFrom('c/d', 'e/f'), { minLength: 1 }),
}
const effort = fc.constantFrom('low', 'medium', 'high')
const parameters = { type: 'object', properties: {} }

const BODIES: Readonly<Record<ClientDialect, Readonly<Record<string, fc.Arbitrary<unknown>>>>> = {
  chat: {
    ...SHARED,
    max_tokens: fc.integer({ min: 1, max: 9999 }),
    seed: fc.integer({ min: 0, max: 9 }),
    stop: fc.oneof(stops, fc.constant('END')),
    min_p: share,
    frequency_penalty: share,
    logit_bias: fc.dictionary(fc.constantFrom('1', '22'), fc.integer({ min: -100, max: 100 })),
    verbosity: fc.constantFrom('low', 'high'),
    reasoning: effort.map((effort) => ({ effort })),
    response_format: fc.oneof(
      fc.constant({ type: 'json_object' }),
      schema.map((schema) => ({ type: 'json_schema', json_schema: { name: 'response', strict: true, schema } })),
    ),
    parallel_tool_calls: fc.constant(false),
    tools: tools((name) => ({ type: 'function', function: { name, parameters } })),
  },
  responses: {
    ...SHARED,
    max_output_tokens: fc.integer({ min: 1, max: 9999 }),
    presence_penalty: share,
    text: fc.record({
      format: fc.oneof(
        fc.constant({ type: 'json_object' }),
        schema.map((schema) => ({ type: 'json_schema', name: 'response', strict: true, schema })),
      ),
      verbosity: fc.constantFrom('low', 'high'),
    }),
    reasoning: effort.map((effort) => ({ effort })),
    parallel_tool_calls: fc.constant(false),
    tools: tools((name) => ({ type: 'function', name, parameters })),
  },
  messages: {
    ...SHARED,
    max_tokens: fc.integer({ min: 1, max: 9999 }),
    stop_sequences: stops,
    output_config: fc.record({ format: schema.map((schema) => ({ type: 'json_schema', schema })), effort }),
    tool_choice: fc.constant({ type: 'auto', disable_parallel_tool_use: true }),
    tools: tools((name) => ({ name, input_schema: parameters })),
  },
}

const bodies = (dialect: ClientDialect): fc.Arbitrary<Fields> => fc.record(BODIES[dialect], { requiredKeys: [], noNullPrototype: true })

const TALK = {
  chat: { messages: [{ role: 'user', content: 'Hi' }] },
  responses: { input: 'Hi' },
  messages: { messages: [{ role: 'user', content: 'Hi' }] },
}

const save = (dialect: ClientDialect, fields: Fields): PresetContent => FORMATS[dialect].presetContent({ model: 'a/b', ...fields }).content

const parse = (dialect: ClientDialect, body: JsonBody): Call => atOnce(FORMATS[dialect].parseCall(body)).call

const use = (dialect: ClientDialect, content: PresetContent, fields: Fields) => {
  const applied = atOnce(applyPreset(dialect, JsonBody.read(JSON.stringify({ ...TALK[dialect], ...fields })), content, null))
  return { call: withCarried(parse(dialect, applied.body), applied.carried), warned: applied.warnings.map(({ field }) => field) }
}

const alone = (dialect: ClientDialect, fields: Fields): Call =>
  parse(dialect, JsonBody.read(JSON.stringify({ model: 'a/b', ...TALK[dialect], ...fields })))

/**
 * The settings without the fields in which they stood, and everything else that a preset decides. Messages says nothing of `strict`, which
 * its formats always are, and turns thinking on beside an effort.
 */
const meaningOf = (call: Call): Fields => {
  const { settings, outputFormat: given, toolChoice, tools } = call.prompt()
  const values = Object.fromEntries(Object.entries(settings).map(([name, { value }]) => [name, value]))
  const outputFormat = { ...given, strict: null }
  if (settings.reasoning !== undefined) values['reasoning'] = { ...settings.reasoning.value, enabled: true }
  const names = tools.flatMap((tool) => (tool.type === 'function' ? [tool.name] : [])).toSorted()
  return { ...values, outputFormat, toolChoice, tools: names, models: call.models, maxOutputTokens: call.maxOutputTokens ?? undefined }
}

describe.each(['chat', 'responses', 'messages'] as const)('%s', (dialect) => {
  test('a body means the same however it is divided between a preset and a request', () => {
    fc.assert(
      fc.property(bodies(dialect), fc.infiniteStream(fc.boolean()), (fields, draws) => {
        const parts = Object.entries(fields).map((entry) => ({ entry, kept: draws.next().value === true }))
        const part = (wanted: boolean): Fields => Object.fromEntries(parts.flatMap(({ entry, kept }) => (kept === wanted ? [entry] : [])))
        const { call, warned } = use(dialect, save(dialect, part(true)), part(false))
        expect(warned).toEqual([])
        expect(meaningOf(call)).toEqual(meaningOf(alone(dialect, fields)))
        for (const [name, value] of Object.entries(fields)) expect(call.body.value(name)).toEqual(value as never)
      }),
      { numRuns: 60 },
    )
  })

  test('of two values the request’s counts, but tools are united', () => {
    fc.assert(
      fc.property(bodies(dialect), bodies(dialect), (preset, request) => {
        const { body } = use(dialect, save(dialect, preset), request).call
        for (const [name, value] of Object.entries({ ...preset, ...request }))
          if (name !== 'tools') expect(body.value(name)).toEqual(value as never)
        const named = (tools: unknown): string[] => JSON.stringify(tools ?? []).match(/"name":"."/g) ?? []
        expect(named(body.value('tools')).toSorted()).toEqual(
          [...new Set([...named(preset['tools']), ...named(request['tools'])])].toSorted(),
        )
      }),
      { numRuns: 60 },
    )
  })

  test.each((['chat', 'responses', 'messages'] as const).filter((other) => other !== dialect))('a preset means the same on %s', (other) => {
    fc.assert(
      fc.property(bodies(dialect), (fields) => {
        const { call, warned } = use(other, save(dialect, fields), {})
        expect(warned).toEqual([])
        expect(meaningOf(call)).toEqual(meaningOf(alone(dialect, fields)))
      }),
      { numRuns: 60 },
    )
  })
})
