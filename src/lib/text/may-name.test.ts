import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { mayName } from './may-name.ts'

const escaped = (character: string): string => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`

test('a name is found with any of its characters written as an escape', () => {
  const written = fc.tuple(
    fc.constantFrom('file_id', 'item_reference', 'service:web_search'),
    fc.array(fc.boolean(), { minLength: 1 }),
    fc.boolean(),
  )
  fc.assert(
    fc.property(written, ([name, spelt, upper]) => {
      const text = [...name].map((character, at) => (spelt[at % spelt.length] === true ? escaped(character) : character)).join('')
      const json = `{"${upper ? text.replaceAll(/(?<=\\u)[0-9a-f]{4}/g, (digits) => digits.toUpperCase()) : text}":1}`
      expect(Object.keys(JSON.parse(json) as object)).toEqual([name])
      expect(mayName(name, json)).toBe(true)
      expect(mayName(new RegExp(`"${name}"`), json)).toBe(true)
    }),
  )
})

test('escapes of what is no part of a name are passed over', () => {
  expect(mayName('file_id', String.raw`{"text":"caf\u00e9 \u003cb\u003e \u0026 \u0000 file-id"}`)).toBe(false)
})
