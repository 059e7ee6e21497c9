/**
 * Reads bytes in the places where dialects allow them instead of text: images, sound, files, proofs of thinking. If the bytes of a
 * file are text, a model may read them, whatever their declared type; a value that is not even base64 is examined as text.
 */
import { isUtf8 } from 'node:buffer'

import { percentDecoded } from '../lib/text/percent-text.ts'
import type { Scan } from './scan.ts'

/** Null means that there is nothing a filter can read. `write` encodes a changed text for its position. */
export type Payload = null | { readonly text: string; readonly write: (text: string) => string }

/** `mediaType`: the type stated beside the value. */
export function* payloadOf(value: string, mediaType: string | null): Scan<Payload> {
  const head = readsAsDataUrl(value) ? value.slice(0, value.slice(0, HEAD_MAX).indexOf(',') + 1) : ''
  if (head === '') return yield* bytesIn(value, '', mediaType)
  const data = value.slice(head.length)
  const [, type = '', parameters = ''] = /^[^:]*:([^,;]*)([^]*),$/.exec(head) ?? []
  // Readers of a data URL decode percent escapes before base64 (https://fetch.spec.whatwg.org/#data-urls).
  if (/;\s*base64\s*$/i.test(parameters)) return yield* bytesIn(data.includes('%') ? yield* unescaped(data) : data, head, type.trim())
  return { text: yield* unescaped(data), write: (text) => head + encodeURIComponent(text) }
}

/** Allows for the white space and control characters that URL parsers skip. */
export const readsAsDataUrl = (value: string): boolean => DATA_SCHEME.test(value)

const DATA_SCHEME = /^[\p{Cc} ]*d[\t\n\r]*a[\t\n\r]*t[\t\n\r]*a[\t\n\r]*:/iu

/** A longer head is not genuine, so the value with everything after it counts as text. */
const HEAD_MAX = 1000

/** Shorter values are examined as text, because no image is so small. */
const OPAQUE_MIN = 64

function* bytesIn(base64: string, prefix: string, mediaType: string | null): Scan<Payload> {
  const plain: Payload = { text: prefix + base64, write: (text) => text }
  if (!(yield* isBase64(base64))) return plain
  const declared = mediaType !== null && TEXT_TYPE.test(mediaType)
  if (!declared && !spellsText(Buffer.from(base64.slice(0, SAMPLE), 'base64'))) return base64.length >= OPAQUE_MIN ? null : plain
  return { text: yield* decoded(base64), write: (text) => prefix + Buffer.from(text, 'utf8').toString('base64') }
}

/** Characters decoded per step; a multiple of 4, so that no byte is split. */
const STEP = 65_536
const SAMPLE = 4096

function* isBase64(text: string): Scan<boolean> {
  for (let at = 0; at < text.length; at += STEP) {
    const end = at + STEP
    if (!(end >= text.length ? LAST_BASE64 : BASE64).test(text.slice(at, end))) return false
    yield
  }
  return true
}

const BASE64 = /^[A-Za-z0-9+/_\s-]*$/
const LAST_BASE64 = /^[A-Za-z0-9+/_\s-]*={0,2}\s*$/

const TEXT_TYPE = /^\s*(?:text\/|image\/svg|application\/(?:[\w.+-]*\+)?(?:json|xml|yaml|x-yaml|javascript|x-ndjson|csv|rtf|sql|toml)\b)/i

/** Judges by the beginning of a file. */
const spellsText = (bytes: Uint8Array): boolean => {
  if (encodingOf(bytes) !== 'utf-8') return true
  if (bytes.length === 0 || Buffer.from(bytes.subarray(0, 5)).toString('latin1') === '%PDF-') return false
  // The sample may end within a character.
  const whole = [0, 1, 2, 3].some((cut) => isUtf8(bytes.subarray(0, bytes.length - cut)))
  return whole && bytes.every((byte) => byte >= 32 || (byte >= 8 && byte <= 13) || byte === 27)
}

const encodingOf = ([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' => {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}

function* decoded(base64: string): Scan<string> {
  const start = Buffer.from(base64.slice(0, 8), 'base64')
  const decoder = new TextDecoder(encodingOf(start))
  // White space would shift the groups of four at which the text is split.
  const solid =
    base64.includes('\n') || base64.includes(' ') || base64.includes('\r') || base64.includes('\t') ? base64.replaceAll(/\s/g, '') : base64
  const pieces: string[] = []
  for (let at = 0; at < solid.length; at += STEP) {
    pieces.push(decoder.decode(Buffer.from(solid.slice(at, at + STEP), 'base64'), { stream: true }))
    yield
  }
  return pieces.join('') + decoder.decode()
}

/** Returns text with a stray percent sign unchanged. */
function* unescaped(text: string): Scan<string> {
  return (yield* percentDecoded(text)) ?? text
}
