/**
 * Stored prompts of OpenAI. There is no export, so a file contains what people have: answers of the Responses API to a request that names
 * the prompt, whose `instructions` are the prompt's messages; or prompts written down by hand, with id, messages and settings.
 */
import { SettingError } from '../../config.ts'
import { definedOnly } from '../../lib/defined-only.ts'
import { isList, isObject, type JsonObject, type JsonValue, listOf, membersOf, textOrNull } from '../../lib/json/json.ts'
import { PERSISTED_FIELDS } from '../../request-fields/preset-fields.ts'
import { PLACEHOLDER, promptTemplate, type PromptMessage, VARIABLE_TYPES } from '../../request-fields/schemas/prompt-template.ts'
import { wordIn } from './members.ts'
import type { ImportReader, Place, PlannedPreset, PlannedVersion } from './import-plan.ts'
import { isServed, modelIdOf, slugOf, unserved } from './names.ts'
import { wordSet } from '../../lib/text/word-set.ts'

export const readOpenaiPrompts: ImportReader = (value, root) => {
  const found = new Map<string, Found[]>()
  for (const { entry, place } of entriesOf(value, root)) {
    const id = idOf(entry)
    if (id === null) {
      place.cannot('names no prompt: expected "id" or "prompt.id", such as pmpt_…')
      continue
    }
    const version = versionOf(entry, id, place)
    if (version !== null) found.set(id, [...(found.get(id) ?? []), version])
  }
  if (found.size === 0) throw new SettingError('the file holds no stored prompt of OpenAI.')
  return { presets: [...found].map(([id, versions]) => presetOf(id, versions)) }
}

interface Found {
  readonly number: number | null
  readonly isDefault: boolean
  readonly name: string | null
  readonly planned: PlannedVersion
}

interface Entry {
  readonly entry: JsonObject
  readonly place: Place
}

/** One prompt, a list of them, or a list under `data` or `prompts`, each with its versions inside or as separate entries. */
const entriesOf = (value: unknown, place: Place): readonly Entry[] => {
  if (Array.isArray(value)) return value.flatMap((item: unknown, at) => entriesOf(item, place.at(at)))
  if (!isObject(value)) return []
  for (const list of ['data', 'prompts']) if (Array.isArray(value[list])) return entriesOf(value[list], place.at(list))
  const { versions, ...shared } = value as JsonObject
  if (!Array.isArray(versions)) return [{ entry: value as JsonObject, place }]
  return versions.flatMap((version: JsonValue, at) =>
    isObject(version) ? [{ entry: { ...shared, ...version, id: shared['id'] ?? null }, place: place.at('versions', at) }] : [],
  )
}

/** An answer also has an id of its own, so the prompt's id comes first. */
const idOf = (entry: JsonObject): string | null => {
  const { prompt } = entry
  if (isObject(prompt)) return textOrNull(prompt['id']) ?? textOrNull(prompt['prompt_id'])
  return textOrNull(entry['prompt_id']) ?? textOrNull(entry['id'])
}

const presetOf = (id: string, found: readonly Found[]): PlannedPreset => {
  const versions = found.toSorted((a, b) => (a.number ?? 0) - (b.number ?? 0))
  const marked = versions.findIndex(({ isDefault }) => isDefault)
  const name = versions.findLast((version) => version.name !== null)?.name
  return {
    slug: slugOf(id),
    ...(name == null ? {} : { name }),
    description: `Stored prompt ${id} of OpenAI.`,
    versions: versions.map(({ planned }) => planned),
    ...(marked < 0 ? {} : { designated: marked }),
  }
}

const versionOf = (entry: JsonObject, id: string, place: Place): Found | null => {
  const { prompt } = entry
  const number = Number(entry['version'] ?? (isObject(prompt) ? prompt['version'] : null) ?? Number.NaN)
  const isAnswer = entry['object'] === 'response'
  const messages = messagesOf(entry, isAnswer, place)
  if (messages === null) return null
  const leading = messages.findIndex(({ role, content }) => (role !== 'system' && role !== 'developer') || typeof content !== 'string')
  const system = messages
    .slice(0, leading < 0 ? messages.length : leading)
    .flatMap(({ content }) => (typeof content === 'string' ? [content] : []))
  const further = leading < 0 ? [] : messages.slice(leading)
  const variables = variablesOf(entry, messages, place)
  const config = settingsOf(entry, isAnswer, place)
  const template =
    further.length === 0 && Object.keys(variables).length === 0 ? {} : { prompt_template: { messages: further, variables } as JsonObject }
  const names = Object.keys(variables)
  place.taken(
    `prompt ${id}${Number.isNaN(number) ? '' : ` version ${number}`}${names.length > 0 ? ` with the variables ${names.join(', ')}` : ''}`,
  )
  return {
    number: Number.isSafeInteger(number) ? number : null,
    isDefault: entry['is_default'] === true,
    name: textOrNull(entry['name']),
    planned: {
      shape: 'responses',
      systemPrompt: system.length === 0 ? null : system.join('\n\n'),
      config: { ...config, ...template },
      ...(Number.isSafeInteger(number) ? { label: `v${number}` } : {}),
    },
  }
}

/** Null if the entry contains no messages that a prompt could have. */
const messagesOf = (entry: JsonObject, isAnswer: boolean, place: Place): readonly PromptMessage[] | null => {
  const source = ['messages', 'instructions', 'input', 'prompt', 'content'].find(
    (name) => !(isAnswer && name !== 'instructions') && (typeof entry[name] === 'string' || Array.isArray(entry[name])),
  )
  const value = source === undefined ? null : entry[source]
  if (source === undefined || value == null) {
    return place.cannot(
      isAnswer ? 'the answer has no instructions: was it asked with the prompt?' : 'has neither messages nor instructions',
    )
  }
  if (typeof value === 'string') return [{ role: 'developer', content: value }]
  const messages: PromptMessage[] = []
  for (const [at, item] of (value as readonly JsonValue[]).entries()) {
    const parsed = promptTemplate.shape.messages.unwrap().element.safeParse(plainMessage(item))
    if (parsed.success) messages.push(parsed.data)
    else place.at(source, at).cannot('this item is no message of text, pictures and files')
  }
  return messages
}

/** Ids and statuses belong to an answer and are dropped; all types of text become the same type. */
const plainMessage = (item: JsonValue): JsonValue => {
  if (!isObject(item)) return item
  const { role = 'user', content = null } = item
  if (!Array.isArray(content)) return { role, content }
  const parts = (content as readonly JsonValue[]).map(plainPart)
  const texts = parts.flatMap((part) =>
    isObject(part) && part['type'] === 'input_text' && typeof part['text'] === 'string' ? [part['text']] : [],
  )
  return { role, content: texts.length === parts.length ? texts.join('\n') : parts }
}

const plainPart = (part: JsonValue): JsonValue => {
  if (!isObject(part)) return part
  const { type, text: words } = part
  if (type === 'text' || type === 'output_text' || type === 'input_text') return { type: 'input_text', text: words ?? null }
  return definedOnly(Object.fromEntries(Object.entries(part).filter(([, value]) => value !== null))) as JsonObject
}

/** An answer contains the text with the values of its variables filled in, unless a variable was given its own placeholder as value. */
const reportFilledIn = ({ prompt }: JsonObject, found: JsonObject, place: Place): void => {
  const given = isObject(prompt) && isObject(prompt['variables']) ? Object.keys(prompt['variables']) : []
  for (const name of given.filter((one) => found[one] === undefined))
    place.at('prompt').changed(`the value of ${name} is filled in for good: ask with "{{${name}}}" as its value to keep the variable`)
}

/** Declared variables, and those that the texts name. */
const variablesOf = (entry: JsonObject, messages: readonly PromptMessage[], place: Place): JsonObject => {
  const variables: Record<string, JsonValue> = {}
  for (const { content } of messages)
    for (const part of typeof content === 'string' ? [content] : content.map((one) => (one.type === 'input_text' ? one.text : '')))
      for (const [, name = ''] of part.matchAll(PLACEHOLDER)) variables[name] ??= { type: 'text' }
  reportFilledIn(entry, variables, place)
  for (const [name, value] of declaredIn(entry['variables'])) {
    const type = isObject(value) ? (VARIABLE_TYPES.find((known) => known === value['type']) ?? 'text') : 'text'
    const fallback = isObject(value) ? textOrNull(value['default']) : null
    if (variables[name] === undefined)
      place.at('variables').changed(`the variable ${name} is declared and stands nowhere; it may be given all the same`)
    variables[name] = { type, ...(fallback === null || type !== 'text' ? {} : { default: fallback }) }
  }
  return variables
}

/** The values that an answer reports for settings that were not set. */
const DEFAULTS: Readonly<Record<string, string>> = {
  temperature: '1',
  top_p: '1',
  tool_choice: '"auto"',
  tools: '[]',
  parallel_tool_calls: 'true',
  truncation: '"disabled"',
  service_tier: '"default"',
  top_logprobs: '0',
  frequency_penalty: '0',
  presence_penalty: '0',
}

const settingsOf = (entry: JsonObject, isAnswer: boolean, place: Place): JsonObject => {
  const config: Record<string, JsonValue> = {}
  for (const [name, value] of Object.entries({ ...entry, ...membersOf(entry['config']) })) {
    if (value === null || SAID.has(name) || (isAnswer && JSON.stringify(value) === DEFAULTS[name])) continue
    if (name === 'model' && typeof value === 'string') {
      const id = value.includes('/') ? value : modelIdOf('openai', value)
      if (id !== value) place.at('model').changed(`the model ${value} is called ${id} here`)
      if (!value.includes('/') && !isServed('openai', id)) place.at('model').changed(unserved(id))
      config['model'] = id
    } else if (name === 'text' && isObject(value)) {
      const plain = definedOnly({
        format: isPlainText(value['format']) ? undefined : value['format'],
        verbosity: value['verbosity'] === 'medium' ? undefined : value['verbosity'],
      })
      if (Object.keys(plain).length > 0) config['text'] = plain
    } else if (name === 'reasoning' && isObject(value)) {
      const kept = Object.fromEntries(
        Object.entries(value).filter(([member, one]) => one !== null && (member === 'effort' || member === 'summary')),
      )
      if (Object.keys(kept).length > 0) config['reasoning'] = kept
    } else if (PERSISTED.has(name)) config[name] = value
    else if (!isAnswer) place.at(name).cannot(`${name} is no setting that a preset keeps`)
  }
  reportHosted(config['tools'], place)
  return config
}

const isPlainText = (format: JsonValue | undefined): boolean => format == null || (isObject(format) && format['type'] === 'text')

const PERSISTED: ReadonlySet<string> = new Set(PERSISTED_FIELDS.responses.filter((name) => name !== 'prompt_template'))

/** Members that other functions read, or that do not affect requests. */
const SAID: ReadonlySet<string> = wordSet(`
  id prompt_id object version is_default name description messages instructions input prompt content variables config
  created_at updated_at status url metadata project_id organization_id created_by
`)

const HOSTED: ReadonlySet<string> = new Set(['file_search', 'code_interpreter', 'computer_use_preview', 'image_generation'])

const reportHosted = (tools: JsonValue | undefined, place: Place): void => {
  for (const [at, tool] of listOf(tools).entries())
    if (isObject(tool) && HOSTED.has(wordIn(tool['type'])))
      place.at('tools', at).changed(`the tool ${wordIn(tool['type'])} runs at OpenAI: it works with OpenAI's own models alone`)
}

/** A list names its variables, or objects that have a name; an object has them by name. */
const declaredIn = (declared: JsonValue | undefined): readonly (readonly [string, JsonValue])[] => {
  if (isList(declared)) return declared.map((item) => (isObject(item) ? [wordIn(item['name']), item] : [wordIn(item), null]))
  return isObject(declared) ? Object.entries(declared) : []
}
