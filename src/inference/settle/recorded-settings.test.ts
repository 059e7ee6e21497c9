import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import type { CarriedSettings } from '../../canonical/call.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { recordedSettings } from './recorded-settings.ts'

const of = (body: object, carried?: CarriedSettings) =>
  recordedSettings({ dialect: 'chat', body: JsonBody.read(JSON.stringify(body)), ...(carried === undefined ? {} : { carried }) })

describe('the settings that a record keeps', () => {
  test('are the fields of a preset in their order; the conversation and who asks are none of them', () => {
    const body = { model: 'm/one', user: 'ada', temperature: 0.5, messages: [{ role: 'user', content: 'hi' }], stop: ['END'], seed: null }
    expect(of(body)).toEqual({ settings: { model: 'm/one', temperature: 0.5, stop: ['END'] }, carried: {}, leftOut: [] })
  })

  test('have no tools, no texts and no secrets, and say which fields those were', () => {
    const body = {
      model: 'm/one',
      tools: [{ type: 'function', function: { name: 'find', description: 'finds' } }],
      plugins: [{ id: 'web', api_key: 'top-secret' }],
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { description: 'w '.repeat(200) } } },
    }
    expect(of(body)).toEqual({ settings: { model: 'm/one' }, carried: {}, leftOut: ['tools', 'plugins', 'response_format'] })
  })

  test('have no seed that was rounded, since no preset keeps it', () => {
    expect(of({ model: 'm/one', seed: 2 ** 63 })).toEqual({ settings: { model: 'm/one' }, carried: {}, leftOut: ['seed'] })
  })

  test('have those of the preset that the body could not have beside them, within the same bounds', () => {
    const written = { seed: 7, 'text.format': { type: 'json_object' }, stop: ['w'.repeat(129)] }
    expect(of({ model: 'm/one' }, { shape: 'responses', written, settings: {} })).toEqual({
      settings: { model: 'm/one' },
      carried: { seed: 7, 'text.format': { type: 'json_object' } },
      leftOut: ['stop'],
    })
    const models = Array.from({ length: 30 }, () => 'n'.repeat(60))
    expect(
      of({ models }, { shape: 'chat', written: { logit_bias: Object.fromEntries(models.map((_, at) => [at, 1])) }, settings: {} }),
    ).toEqual({
      settings: { models },
      carried: {},
      leftOut: ['logit_bias'],
    })
  })

  test('take no more than 2 KB, whatever a client sends', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('stop', 'models', 'logit_bias', 'provider', 'reasoning'), fc.json({ stringUnit: 'binary' })),
        (fields) => {
          const body = Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, JSON.parse(text) as unknown]))
          expect(Buffer.byteLength(JSON.stringify(of(body).settings))).toBeLessThanOrEqual(2048)
        },
      ),
      { numRuns: 500 },
    )
    const many = { models: Array.from({ length: 70 }, () => '€'.repeat(20)), temperature: 1 }
    expect(of(many)).toEqual({ settings: { temperature: 1 }, carried: {}, leftOut: ['models'] })
    const wide = { models: Array.from({ length: 500 }, () => '€€€€€€€€€€'), temperature: 1 }
    expect(of(wide)).toEqual({ settings: { temperature: 1 }, carried: {}, leftOut: ['models'] })
  })

  test('of a large body are found without the rest of it', () => {
    const body = JsonBody.ofBytes(
      Buffer.from(JSON.stringify({ model: 'm/ä', messages: [{ role: 'user', content: 'é'.repeat(50_000) }], top_p: 0.25 })),
    )
    expect(recordedSettings({ dialect: 'chat', body })).toEqual({ settings: { model: 'm/ä', top_p: 0.25 }, carried: {}, leftOut: [] })
  })
})
