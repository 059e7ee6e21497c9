/**
 * How a request names a preset (docs/contract/presets.md#use): as the model, by `@preset/slug` or `vendor/model@preset/slug`, or in a
 * `preset` field; each with an optional pin, `@3` for a version or `@staging` for a label.
 */
import { presetLabel, presetSlug } from '../contract/preset-name.ts'
import { invalidField } from '../contract/validate.ts'
import { MODEL_NAME_MAX } from '../request-fields/schemas/routing.ts'
import { cutText } from '../lib/text/cut-text.ts'
import type { VersionReference } from '../storage/presets/preset-store.ts'

export interface ModelReference {
  /** The model that the request itself names, without its preset; null if it leaves the model to the preset. */
  readonly model: string | null
  readonly preset: PresetReference | null
}

export interface PresetReference {
  readonly slug: string
  readonly pin: VersionReference
}

/** How a used version is named: `slug@3`. */
export const presetName = ({ slug, version }: { readonly slug: string; readonly version: number }): string => `${slug}@${version}`

/** `model` and `preset` are the raw fields of the body; null counts as absent. Throws `invalid_request`. */
export const parseModelReference = (model: unknown, preset: unknown): ModelReference => {
  const named = parseModel(readText(model, 'model'))
  const field = readText(preset, 'preset')
  if (field === null) return named
  const fromField = parsePreset(field.startsWith(MARK) ? field.slice(MARK.length) : field, 'preset')
  if (named.preset !== null && !samePreset(named.preset, fromField)) {
    throw invalidField('preset', 'It contradicts the preset that model names.')
  }
  return { model: named.model, preset: fromField }
}

/**
 * The slug that a plain model name may be, for clients that can set only a name: a preset of that name comes before models
 * (docs/contract/routing.md#vendor-names).
 */
export const bareSlug = (model: unknown): string | null =>
  // Nearly every name has a slash, and failing the schema costs more than searching for one.
  typeof model === 'string' && !model.includes('/') ? (presetSlug.safeParse(model).data ?? null) : null

const MARK = '@preset/'

/** Model names may contain an `@` of their own (a provider's dated versions); only `@preset` introduces a preset. */
const parseModel = (text: string | null): ModelReference => {
  if (text === null) return { model: null, preset: null }
  const at = text.indexOf(MARK)
  if (at >= 0) return { model: at === 0 ? null : text.slice(0, at), preset: parsePreset(text.slice(at + MARK.length), 'model') }
  if (text.endsWith('@preset')) throw invalidField('model', 'Name the preset after "@preset/".')
  return { model: text, preset: null }
}

const parsePreset = (text: string, field: string): PresetReference => {
  const [slug = '', pin, ...more] = text.split('@')
  if (more.length > 0) throw invalidField(field, `A preset has one pin at most: "${shown(text)}".`)
  if (!presetSlug.safeParse(slug).success) {
    throw invalidField(
      field,
      slug.includes(':')
        ? `Write the variant before the preset, as in vendor/model:variant@preset/slug: "${shown(text)}".`
        : `"${shown(slug)}" is not a preset slug: use 1 to 128 of the characters A-Z a-z 0-9 . _ ~ - (not "." or "..").`,
    )
  }
  return { slug, pin: pin === undefined ? { by: 'designation' } : parsePin(pin, field) }
}

/** More digits than any counter reaches, but few enough for the integers of every database engine. */
export const VERSION_NUMBER = /^[1-9]\d{0,8}$/

const parsePin = (pin: string, field: string): VersionReference => {
  if (VERSION_NUMBER.test(pin)) return { by: 'number', number: Number(pin) }
  if (presetLabel.safeParse(pin).success) return { by: 'label', label: pin }
  throw invalidField(field, `"${shown(pin)}" is neither a version number nor a label of a preset.`)
}

const samePreset = (one: PresetReference, other: PresetReference): boolean =>
  one.slug === other.slug && JSON.stringify(one.pin) === JSON.stringify(other.pin)

const readText = (value: unknown, field: string): string | null => {
  if (value === undefined || value === null) return null
  if (typeof value !== 'string' || value === '') throw invalidField(field, 'Expected a string that is not empty.')
  if (value.length > MODEL_NAME_MAX) throw invalidField(field, `Too long: at most ${MODEL_NAME_MAX} characters.`)
  return value
}

const SHOWN_MAX = 80
const shown = (text: string): string => (text.length > SHOWN_MAX ? `${cutText(text, SHOWN_MAX)}...` : text)
