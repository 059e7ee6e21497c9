/**
 * UTF-8 as a string of one character for each byte. JSON's own signs are ASCII, so such a string can be searched and
 * spliced like the text, its positions are those of the bytes, and it costs a fraction of decoding.
 */
import type { JsonChanges } from './json.ts'

/** The characters that a string stands for. */
export interface TextForm {
  text(held: string): string
  /** In UTF-8. */
  byteLength(held: string): number
  /** Its UTF-8. */
  bytes(held: string): Uint8Array
  /** As they have to stand in it. */
  changes(changes: JsonChanges): JsonChanges
}

/** The string is the text. */
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
  changes: (changes) => Object.fromEntries(Object.entries(changes).map(([key, put]) => [encoded(key), put === null ? null : encoded(put)])),
}

/** Other characters take more bytes than one: the engine counts them ten times as fast as an expression finds one. */
export const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

const encoded = (text: string): string => (isAscii(text) ? text : octetsOf(Buffer.from(text)))

/** The text of valid UTF-8. */
export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes)

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
