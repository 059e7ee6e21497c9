import { describe, expect, test } from 'bun:test'
import { z } from 'zod'

import { inSentences } from './issue-sentence.ts'

const said = (schema: z.ZodType, value: unknown): readonly string[] =>
  schema.safeParse(value, inSentences).error?.issues.map(({ message }) => message) ?? []

describe('an issue says what to send', () => {
  test.each<[string, z.ZodType, unknown, string]>([
    ['a wrong type', z.number(), 'hot', 'Expected a number, got a string.'],
    ['null', z.string(), null, 'Expected a string, got null.'],
    ['a list', z.object({}), [], 'Expected an object, got an array.'],
    ['a truth value', z.boolean(), 1, 'Expected true or false, got a number.'],
    ['a field that is missing', z.array(z.string()), undefined, 'Expected an array, but it is missing.'],
    ['a broken number', z.int(), 1.5, 'Expected a whole number.'],
    ['no number', z.number(), Number.NaN, 'Expected a finite number.'],
    ['one value', z.literal('ephemeral'), 'x', 'Must be "ephemeral".'],
    ['several values', z.enum(['a', 'b', 'c']), 'x', 'Must be one of "a", "b" or "c".'],
    ['too much', z.number().max(2), 3, 'Must be at most 2.'],
    ['too little', z.number().positive(), 0, 'Must be more than 0.'],
    ['a text that is too long', z.string().max(3), 'long', 'Must have at most 3 characters.'],
    ['a list that is too short', z.array(z.string()).min(1), [], 'Must have at least 1 item.'],
    ['a URL', z.url(), 'nope', 'Must be a URL.'],
    [
      'a name',
      z.record(z.string().max(2, 'A name has at most 2 characters.'), z.number()),
      { long: 1 },
      'A name has at most 2 characters.',
    ],
    ['a step', z.number().multipleOf(5), 7, 'Must be a multiple of 5.'],
    ['either', z.union([z.string(), z.array(z.string())]), 5, 'Expected a string or an array.'],
    ['either, one of them out of range', z.union([z.string().min(1), z.number()]), '', 'Must have at least 1 character.'],
    [
      'either, one of them with a fault inside',
      z.union([z.string(), z.object({ by: z.string() })]),
      { by: 1 },
      'by: Expected a string, got a number.',
    ],
    [
      'a kind',
      z.discriminatedUnion('type', [z.object({ type: z.literal('a') }), z.object({ type: z.literal('b') })]),
      { type: 'c' },
      'Must be one of "a" or "b".',
    ],
    ['a sentence of its own', z.string('Send text.'), 5, 'Send text.'],
  ])('%s', (_, schema, value, sentence) => {
    expect(said(schema, value)).toEqual([sentence])
  })
})
