import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { GatewayError } from '../errors.ts'
import { parseModelReference } from './model-reference.ts'
import type { VersionReference } from '../storage/presets/preset-store.ts'

const DESIGNATED: VersionReference = { by: 'designation' }
const version = (version: number): VersionReference => ({ by: 'number', number: version })
const label = (label: string): VersionReference => ({ by: 'label', label })

const refusal = (model: unknown, preset: unknown): GatewayError => {
  try {
    parseModelReference(model, preset)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
  throw new Error(`Accepted: ${JSON.stringify({ model, preset })}`)
}

describe('the model names', () => {
  test.each<[string, string | null, string | null, VersionReference?]>([
    ['openai/gpt-5.4', 'openai/gpt-5.4', null],
    ['~openai/gpt-latest:nitro', '~openai/gpt-latest:nitro', null],
    ['google/gemini@20260101', 'google/gemini@20260101', null],
    ['@presets/x', '@presets/x', null],
    ['@preset/support-bot', null, 'support-bot', DESIGNATED],
    ['@preset/support-bot@3', null, 'support-bot', version(3)],
    ['@preset/support-bot@staging', null, 'support-bot', label('staging')],
    ['@preset/Support.Bot~2_x', null, 'Support.Bot~2_x', DESIGNATED],
    ['@preset/...', null, '...', DESIGNATED],
    ['@preset/3@3', null, '3', version(3)],
    ['openai/gpt-5.4@preset/x', 'openai/gpt-5.4', 'x', DESIGNATED],
    ['openai/gpt-5.4:nitro@preset/x', 'openai/gpt-5.4:nitro', 'x', DESIGNATED],
    ['~openai/gpt-latest@preset/x@12', '~openai/gpt-latest', 'x', version(12)],
    ['openai/gpt-5.4@preset/x@v1.2_b-c', 'openai/gpt-5.4', 'x', label('v1.2_b-c')],
    ['google/gemini@20260101@preset/x', 'google/gemini@20260101', 'x', DESIGNATED],
    ['@preset/x@999999999', null, 'x', version(999_999_999)],
  ])('%s', (text, model, slug, pin = DESIGNATED) => {
    expect(parseModelReference(text, undefined)).toEqual({ model, preset: slug === null ? null : { slug, pin } })
  })
})

describe('the preset field names', () => {
  test.each<[string, string, VersionReference]>([
    ['support-bot', 'support-bot', DESIGNATED],
    ['support-bot@3', 'support-bot', version(3)],
    ['support-bot@staging', 'support-bot', label('staging')],
    ['@preset/support-bot', 'support-bot', DESIGNATED],
    ['@preset/support-bot@3', 'support-bot', version(3)],
  ])('%s', (field, slug, pin) => {
    expect(parseModelReference('openai/gpt-5.4', field)).toEqual({ model: 'openai/gpt-5.4', preset: { slug, pin } })
    expect(parseModelReference(null, field)).toEqual({ model: null, preset: { slug, pin } })
  })

  test('the same preset as the model does, and that is no contradiction', () => {
    expect(parseModelReference('a/b@preset/x@3', 'x@3')).toEqual({ model: 'a/b', preset: { slug: 'x', pin: version(3) } })
  })
})

test('nothing named is nothing answered, and null counts as absent', () => {
  expect(parseModelReference(undefined, undefined)).toEqual({ model: null, preset: null })
  expect(parseModelReference(null, null)).toEqual({ model: null, preset: null })
})

describe('400 invalid_request naming the field', () => {
  test.each<[unknown, unknown, string]>([
    ['', undefined, 'model'],
    [7, undefined, 'model'],
    [['a/b'], undefined, 'model'],
    ['@preset', undefined, 'model'],
    ['@preset/', undefined, 'model'],
    ['a/b@preset', undefined, 'model'],
    ['a/b@preset/', undefined, 'model'],
    ['@preset/.', undefined, 'model'],
    ['@preset/..', undefined, 'model'],
    ['@preset/a b', undefined, 'model'],
    ['@preset/a/b', undefined, 'model'],
    ['@preset/ä', undefined, 'model'],
    ['@preset/x:nitro', undefined, 'model'],
    [`@preset/${'x'.repeat(129)}`, undefined, 'model'],
    ['@preset/x@', undefined, 'model'],
    ['@preset/x@0', undefined, 'model'],
    ['@preset/x@03', undefined, 'model'],
    ['@preset/x@-1', undefined, 'model'],
    ['@preset/x@1.5', undefined, 'model'],
    ['@preset/x@1000000000', undefined, 'model'],
    ['@preset/x@3@4', undefined, 'model'],
    ['@preset/x@preset/y', undefined, 'model'],
    ['@preset/x@a b', undefined, 'model'],
    ['a/b', '', 'preset'],
    ['a/b', 3, 'preset'],
    ['a/b', {}, 'preset'],
    ['a/b', '@3', 'preset'],
    ['a/b', 'x@', 'preset'],
    ['a/b', 'openai/gpt@preset/x', 'preset'],
    ['@preset/x', 'y', 'preset'],
    ['@preset/x@3', 'x', 'preset'],
  ])('model %j, preset %j', (model, preset, path) => {
    const error = refusal(model, preset)
    expect(error.type).toBe('invalid_request')
    expect(error.metadata['issues']).toEqual([{ path, message: expect.any(String) }])
  })

  test('for a variant after the preset, the error says where it belongs', () => {
    expect(refusal('@preset/x:nitro', undefined).message).toContain('vendor/model:variant@preset/slug')
  })

  test('a hostile reference is not repeated at length', () => {
    expect(refusal(`@preset/${' '.repeat(1_000_000)}`, undefined).message.length).toBeLessThan(400)
  })
})

test('a well-formed reference is read back as it was written', () => {
  const slug = fc.stringMatching(/^[A-Za-z0-9._~-]{1,40}$/).filter((text) => text !== '.' && text !== '..')
  const model = fc.option(fc.stringMatching(/^~?[a-z]{1,8}\/[a-z0-9.-]{1,20}(:[a-z]{1,8})?$/))
  const pin = fc.oneof(
    fc.constant(DESIGNATED),
    fc.integer({ min: 1, max: 999_999_999 }).map(version),
    fc.stringMatching(/^[A-Za-z_][A-Za-z0-9._-]{0,20}$/).map(label),
  )
  fc.assert(
    fc.property(model, slug, pin, (model, slug, pin) => {
      const suffix = pin.by === 'number' ? `@${pin.number}` : pin.by === 'label' ? `@${pin.label}` : ''
      expect(parseModelReference(`${model ?? ''}@preset/${slug}${suffix}`, null)).toEqual({ model, preset: { slug, pin } })
    }),
  )
})

test('any text is read or refused with invalid_request, never anything else', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (model, preset) => {
      try {
        parseModelReference(`${model}@preset/${preset}`, preset)
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(GatewayError)
        expect((thrown as GatewayError).type).toBe('invalid_request')
      }
    }),
  )
})

test('400: a model or a preset of more than 1024 characters', () => {
  const longest = `vendor/${'m'.repeat(1017)}`
  expect(parseModelReference(longest, null).model).toBe(longest)
  for (const [model, preset] of [
    [`${longest}m`, null],
    ['a/b', 'p'.repeat(1025)],
    [`@preset/${'p'.repeat(20_000_000)}`, null],
  ]) {
    expect(() => parseModelReference(model, preset)).toThrow('Too long: at most 1024 characters.')
  }
})
