/**
 * Adds a preset's system prompt to a request of each interface, always before the request's own
 * (docs/contract/presets.md#system-prompt-in-use).
 */
import type { ClientDialect } from '../canonical/call.ts'
import type { HiddenTexts } from '../canonical/hidden-prompt.ts'
import { secretsIn } from '../canonical/preset-secrets.ts'
import type { Warning } from '../canonical/warning.ts'
import type { PresetContent } from '../contract/preset.ts'
import { invalidField } from '../contract/validate.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { type JsonChanges, type JsonValue, objectsIn, textsIn } from '../lib/json/json.ts'

interface SystemPrompt {
  readonly text: string
  /** The blocks that the text came in, if they carry more than text (docs/contract/presets.md#system-prompt). */
  readonly blocks: readonly JsonValue[] | null
}

interface Addition {
  readonly changes: JsonChanges
  readonly warnings: readonly Warning[]
}

/** Returns the one member of the body that changes. Large members are spliced as text, so the request's own messages keep their bytes. */
export const addSystemPrompt = (dialect: ClientDialect, body: JsonBody, { systemPrompt, config }: PresetContent): Addition => {
  const { system } = config
  const blocks = Array.isArray(system) && system.length > 0 ? system : null
  return systemPrompt === null || systemPrompt === '' ? NOTHING : ADD[dialect](body, { text: systemPrompt, blocks })
}

/** The texts of the preset that must not be shown. Blocks of the system prompt are listed both separately and joined. */
export const hiddenTexts = ({ systemPrompt, config }: PresetContent): HiddenTexts => {
  const texts = textsIn(objectsIn(config['system']).map(({ text }) => text))
  const secrets = Map.groupBy(secretsIn(config), ({ kind }) => kind)
  const instructions = secrets.get('instructions')?.map(({ value }) => value) ?? []
  return {
    texts: longestFirst([systemPrompt ?? '', ...texts, ...instructions]),
    credentials: longestFirst(secrets.get('credential')?.map(({ value }) => value) ?? []),
  }
}

const longestFirst = (texts: readonly string[]): readonly string[] =>
  [...new Set(texts)].filter((text) => text !== '').toSorted((left, right) => right.length - left.length)

const NOTHING: Addition = { changes: {}, warnings: [] }

const ADD: Readonly<Record<ClientDialect, (body: JsonBody, prompt: SystemPrompt) => Addition>> = {
  chat: (body, { text, blocks }) => {
    const messages = body.raw('messages')
    // A request without messages gets no prompt, since the prompt alone is no conversation.
    if (messages === undefined || !/^\[\s*[^\s\]]/.test(messages)) return NOTHING
    return change('messages', prepend([{ role: 'system', content: blocks ?? text }], messages))
  },
  responses: (body, { text, blocks }) => ({
    ...change('instructions', JSON.stringify(joined(text, ownText(body, 'instructions')))),
    warnings: blocks === null ? [] : [BLOCKS_BECAME_TEXT],
  }),
  messages: (body, { text, blocks }) => {
    const own = body.raw('system') ?? 'null'
    if (own.startsWith('[')) return change('system', prepend(blocks ?? [{ type: 'text', text }], own))
    const ownSystem = ownText(body, 'system')
    if (blocks === null) return change('system', JSON.stringify(joined(text, ownSystem)))
    return change('system', JSON.stringify([...blocks, ...(ownSystem === '' ? [] : [{ type: 'text', text: ownSystem }])]))
  },
}

const BLOCKS_BECAME_TEXT: Warning = {
  code: 'mapped_field',
  field: 'instructions',
  message: "The preset's system blocks were joined to text; their cache marks and citations have no place on this interface.",
}

const change = (field: string, json: string): Addition => ({ changes: { [field]: json }, warnings: [] })

const joined = (first: string, second: string): string => (second === '' ? first : `${first}\n\n${second}`)

const ownText = (body: JsonBody, field: string): string => {
  const value = body.value(field) ?? ''
  if (typeof value !== 'string') throw invalidField(field, 'Expected a string.')
  return value
}

/** `array` is the text of a JSON array; its items are not parsed. */
const prepend = (items: readonly JsonValue[], array: string): string => {
  const front = items.map((item) => JSON.stringify(item)).join(',')
  return /^\[\s*\]/.test(array) ? `[${front}]` : `[${front},${array.slice(1)}`
}
