/**
 * UTF-8 as a string with one character for each byte. JSON's own characters are ASCII, so such a string can be searched and spliced like
 * the text, its positions are byte offsets, and it costs a fraction of decoding.
 */
import type { JsonChanges } from './json/json.ts'

/** How a held string represents text: as the text itself or as its octets. */
export interface TextForm {
  text(held: string): string
  /** The length of the text in UTF-8. */
  byteLength(held: string): number
  /** The text in UTF-8. */
  bytes(held: string): Uint8Array
  /** The changes in the form in which the string is held. */
  changes(changes: JsonChanges): JsonChanges
}

/** The string is the text itself. */
export const asIs: TextForm = {
  text: (held) => held,
  byteLength: (held) => Buffer.byteLength(held),
  bytes: (held) => Buffer.from(held),
  changes: (changes) => changes,
}

export const octetsOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

/** The string holds the octets of the text. */
export const ofOctets: TextForm = {
  text: (octets) => textOf(Buffer.from(octets, 'latin1')),
  byteLength: (octets) => octets.length,
  bytes: (octets) => Buffer.from(octets, 'latin1'),
  changes: (changes) =>
    Object.fromEntries(Object.entries(changes).map(([key, put]) => [encoded(key), typeof put === 'string' ? encoded(put) : put])),
}

/**
 * Any other character takes more than one byte in UTF-8: the engine counts bytes ten times as fast
 * as a regular expression finds such a character.
 */
export const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

const encoded = (text: string): string => (isAscii(text) ? text : octetsOf(Buffer.from(text)))

/** Decodes bytes that are valid UTF-8. */
export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes)

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
