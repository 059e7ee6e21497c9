/** The options of a save beside its body: whether the preset is served at once, the author's note, and the version it was based on. */
import { isUtf8 } from 'node:buffer'

import { z } from 'zod'

import { oneLine } from './stored-text.ts'
import { invalidRequest, validate } from './validate.ts'

export interface SaveOptions {
  readonly note: string | null
  /** If false, the preset continues to serve its current version. The first version of a preset is always served. */
  readonly designate: boolean
  readonly expectedLatest: ExpectedLatest
}

/** The number that the newest version must have, 0 if there must be none; null accepts any. */
export type ExpectedLatest = number | null

const NOTE_MAX = 500

const designate = z
  .enum(['true', 'false'])
  .optional()
  .meta({ description: 'false: save the version without serving it. The first version of a preset is served in any case.' })

const note = oneLine
  .max(NOTE_MAX, `Use at most ${NOTE_MAX} characters.`)
  .optional()
  .meta({ description: 'What changed and why, kept with the version. UTF-8, or percent-encoded UTF-8.', examples: ['shorter answers'] })

const ifMatch = z
  .string()
  .regex(/^"(?:0|[1-9]\d{0,8})"$/, 'Use the number of a version in double quotes, as in "3", or "0" for a preset that is not there yet.')
  .optional()
  .meta({
    description: 'The newest version that the change was made from, in double quotes: 412 where another is the newest.',
    examples: ['"3"'],
  })

const ifNoneMatch = z
  .string()
  .regex(/^\*$/, 'Use * for a preset that is not there yet, or If-Match.')
  .optional()
  .meta({ description: 'With *: 412 where there is such a preset already, as with `If-Match: "0"`.' })

export const saveQuery = { designate }
export const changeHeaders = { 'If-Match': ifMatch }
export const saveHeaders = { 'X-Preset-Note': note, ...changeHeaders, 'If-None-Match': ifNoneMatch }

/** Throws `invalid_request`. */
export const readSaveOptions = (query: URLSearchParams, headers: Headers): SaveOptions => {
  const noted = validate(note, noteText(headers.get('x-preset-note')), ['X-Preset-Note'])
  return {
    note: noted === undefined || noted === '' ? null : noted,
    designate: validate(designate, query.get('designate') || undefined, ['designate']) !== 'false',
    expectedLatest: readExpectedAbsence(headers) ?? readExpectedLatest(headers),
  }
}

/** Returns null if the client expects nothing. Throws `invalid_request`. */
export const readExpectedLatest = (headers: Headers): ExpectedLatest => {
  const expected = validate(ifMatch, headers.get('if-match') ?? undefined, ['If-Match'])
  return expected === undefined ? null : Number(expected.slice(1, -1))
}

/** Throws `invalid_request`. */
const readExpectedAbsence = (headers: Headers): ExpectedLatest => {
  const expected = validate(ifNoneMatch, headers.get('if-none-match') ?? undefined, ['If-None-Match'])
  if (expected !== undefined && headers.has('if-match'))
    throw invalidRequest([{ path: 'If-None-Match', message: 'It cannot be combined with If-Match.' }])
  return expected === undefined ? null : 0
}

/** A header arrives as bytes, one per character. Clients that can write only ASCII percent-encode other characters. */
const noteText = (header: string | null): string | undefined => {
  if (header === null) return undefined
  const bytes = Buffer.from(header, 'latin1')
  const text = header === bytes.toString('latin1') && isUtf8(bytes) ? bytes.toString('utf8') : header
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    // A literal percent sign, as in "50 % shorter".
    if (cause instanceof URIError) return text
    throw cause
  }
}
