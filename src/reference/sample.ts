/** Creates a value that fits a schema, for an example that the document lacks. */
import type { JsonObject, JsonValue } from '../lib/json/json.ts'
import type { DocumentReader } from './document-reader.ts'
import { entriesOf, isEmpty, listAt, objectAt, textAt } from './read-json.ts'
import { alternatives, typesOf } from './schema-text.ts'

/** Deeper than any of our responses; the limit is needed because a schema may contain itself. */
const DEPTH_MAX = 8

/** The field of the named schema that is being filled. */
interface Place {
  readonly owner: string
  readonly name: string
  readonly depth: number
}

export const sampleOf = (reader: DocumentReader, schema: JsonObject, at: Place = { owner: '', name: '', depth: 0 }): JsonValue => {
  const { name: owner, value: target } = reader.resolve(schema)
  const reported = target['const'] ?? listAt(target, 'examples')[0] ?? target['default']
  if (reported !== undefined) return reported
  const values = listAt(target, 'enum')
  if (values[0] !== undefined) return values[0]
  const choice = alternatives(target)[0]
  if (choice !== undefined && at.depth < DEPTH_MAX) return sampleOf(reader, choice, { ...at, depth: at.depth + 1 })
  const hint = STRINGS[textAt(target, 'format')] ?? HINTS[`${at.owner}.${at.name}`] ?? HINTS[at.name]
  const types = typesOf(target)
  if (hint !== undefined && (types.length === 0 || types.some((type) => fits(hint, type)))) return hint
  if (types.includes('null') && !types.includes('array')) return null
  return ofType(reader, target, types[0] ?? 'object', { ...at, owner: owner ?? at.owner })
}

const ofType = (reader: DocumentReader, target: JsonObject, type: string, at: Place): JsonValue => {
  switch (type) {
    case 'string':
      return 'text'
    case 'integer':
    case 'number':
      return Number(target['minimum'] ?? 0)
    case 'boolean':
      return false
    case 'array': {
      const items = objectAt(target, 'items')
      return at.depth >= DEPTH_MAX || isEmpty(items) ? [] : [sampleOf(reader, items, { ...at, depth: at.depth + 1 })]
    }
    case 'object':
      if (at.depth >= DEPTH_MAX) return {}
      return Object.fromEntries(
        entriesOf(objectAt(target, 'properties')).map(([member, field]) => [
          member,
          sampleOf(reader, field, { owner: at.owner, name: member, depth: at.depth + 1 }),
        ]),
      )
    default:
      return null
  }
}

const fits = (value: JsonValue, type: string): boolean => {
  if (type === 'integer') return typeof value === 'number'
  if (type === 'array') return Array.isArray(value)
  return typeof value === type && !Array.isArray(value)
}

const UUID = '8c5e2b1a-4f0d-4a57-9f3e-6d1b7c2a9e40'
const INSTANT = '2026-01-31T09:30:00Z'

const STRINGS: Readonly<Record<string, string>> = { uuid: UUID, 'date-time': INSTANT, uri: '/' }

/** Values by field name, which tell a reader more than "string". */
const HINTS: Readonly<Record<string, JsonValue>> = {
  slug: 'support-bot',
  name: 'support-bot',
  status: 'live',
  version: 3,
  description: 'Answers customers.',
  config: { model: 'openai/gpt-5.4', temperature: 0.3 },
  system_prompt: 'You answer questions of our customers, in two sentences at most.',
  labels: { staging: 4 },
  creator_user_id: 'user_2bQnXcT9',
  creator_id: 'user_2bQnXcT9',
  workspace_id: UUID,
  hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  label: 'pb_inf_4f0…9e4',
  key: 'pb_inf_…',
  'Model.id': 'openai/gpt-5.4',
  'Model.description': 'A general model.',
  'Model.name': 'GPT-5.4',
  'Generation.id': 'gen-4Qd1bVnT0uYkXw7sHc2LmR9p',
  request_id: 'req-1795392000-9sYk2LmVnR0bT4dQ1xHc7wUp',
  model: 'openai/gpt-5.4',
  canonical_slug: 'openai/gpt-5.4',
  provider_name: 'OpenAI',
  pricing: { prompt: '0.00000125', completion: '0.00001' },
  context_length: 400_000,
  limit: 25,
  limit_usd: 25,
  limit_remaining: 21.5,
  spend_usd: 3.5,
  remaining_usd: 21.5,
  usage: 3.5,
  total_count: 1,
  count: 1,
  created: 1_767_225_600,
  expires_at: null,
}
