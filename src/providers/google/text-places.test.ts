import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { growth, LINEAR } from '../../../test/support/growth.ts'
import { createTextPlaces } from './text-places.ts'

const placesOf = (...pieces: readonly string[]) => {
  const places = createTextPlaces()
  for (const piece of pieces) places.add(piece)
  return places
}

test('a place in bytes is that of the same character in the text, in whatever pieces the text came', () => {
  const character = fc.constantFrom('a', 'é', '€', '\u{1f600}', ' '.repeat(300))
  fc.assert(
    fc.property(fc.array(fc.array(character).map((all) => all.join(''))), fc.nat(), (pieces, at) => {
      const [text, places] = [pieces.join(''), placesOf(...pieces)]
      const before = [...text].slice(0, at % ([...text].length + 1)).join('')
      expect(places.offsetOf(Buffer.byteLength(before))).toBe(before.length)
      expect(places.offsetOf(Buffer.byteLength(text) + 1)).toBe(text.length)
    }),
  )
})

test('a byte within a character stands for the end of it, and half a character has the bytes of its replacement', () => {
  const places = placesOf('é\u{1f600}', '\ud800', 'z')
  expect([0, 1, 2, 3, 5, 6, 9, 10].map(places.offsetOf)).toEqual([0, 1, 1, 3, 3, 3, 4, 5])
})

test('text that came later is counted too', () => {
  const places = placesOf('é')
  expect(places.offsetOf(2)).toBe(1)
  places.add('\ud83d')
  expect(places.offsetOf(2)).toBe(1)
  places.add('\ude00b')
  expect([places.offsetOf(6), places.offsetOf(7)]).toEqual([3, 4])
})

test('a quotation is found as a whole or not at all, and not after eight million characters were searched', () => {
  const long = 'a'.repeat(70)
  const places = placesOf(`${long}b ${'x'.repeat(1_000_000)}`)
  expect([places.find(`${long}b`), places.find(`${long}c`), places.find('b x')]).toEqual([0, -1, 70])
  for (let more = 0; more < 4; more += 1) expect(places.find('x')).toBe(72)
  expect(places.find('x')).toBe(-1)
})

test('a quotation is found where its beginning also stands elsewhere', () => {
  const long = 'a'.repeat(64)
  const places = placesOf(`${long}b, `, `${long}c`)
  expect([places.find(`${long}c`), places.find(`${long}d`)]).toEqual([67, -1])
  const many = placesOf('a'.repeat(3_000_000))
  expect(many.find(`${'a'.repeat(1_000_000)}b`)).toBe(-1)
})

test('places cost no more in a longer text', () => {
  expect(
    growth((size) => {
      const places = placesOf('é'.repeat(size * 1000))
      return () => {
        for (let place = 0; place < size * 20; place += 1) places.offsetOf(size * 2000 - place)
      }
    }, 500),
  ).toBeLessThan(LINEAR)
})
