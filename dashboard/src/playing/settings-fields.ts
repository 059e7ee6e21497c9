/** Settings that have a field in the form, under their names in each interface. All others are edited as JSON. */
import type { PresetShape } from '../api/presets.ts'
import { readJson } from '../read-json.ts'

interface NumberField {
  readonly title: string
  readonly names: Readonly<Record<PresetShape, string>>
}

const everywhere = (name: string): Readonly<Record<PresetShape, string>> => ({ chat: name, responses: name, messages: name })

export const NUMBER_FIELDS: readonly NumberField[] = [
  { title: 'Temperature', names: everywhere('temperature') },
  { title: 'Max tokens', names: { chat: 'max_tokens', responses: 'max_output_tokens', messages: 'max_tokens' } },
  { title: 'Top p', names: everywhere('top_p') },
]

type Settings = Readonly<Record<string, unknown>>

/** Sets the field, or removes it if the value is undefined. */
export const withSetting = (settings: Settings, name: string, value: unknown): Settings => {
  const { [name]: _before, ...rest } = settings
  return value === undefined ? rest : { ...rest, [name]: value }
}

/** Returns the JSON object, or what is wrong with the text. */
export const parseSettings = (text: string): { readonly value: Settings } | { readonly fault: string } => {
  const read = readJson(text.trim() === '' ? '{}' : text)
  if ('fault' in read) return read
  const { value } = read
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { value: value as Settings }
    : { fault: 'Write an object: { "temperature": 0.4 }' }
}
