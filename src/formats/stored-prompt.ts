/**
 * Serves `prompt: {id, version, variables}` of OpenAI's interfaces from a preset, if the operator enables it
 * (docs/contract/responses.md#stored-prompts). A variable's value stays one text or one part: it is inserted into a parsed
 * template, is never searched for placeholders, and cannot begin a message or another part.
 */
import { z } from 'zod'

import type { ClientDialect } from '../canonical/call.ts'
import { type PresetContent } from '../contract/preset.ts'
import { presetSlug } from '../contract/preset-name.ts'
import { invalidRequest, validate } from '../contract/validate.ts'
import { cutText } from '../lib/text/cut-text.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { isObject } from '../lib/json/json.ts'
import {
  PLACEHOLDER,
  promptPart,
  promptTemplate,
  type PromptMessage,
  type PromptPart,
  type PromptTemplate,
  type PromptVariable,
} from '../request-fields/schemas/prompt-template.ts'

const promptReference = z
  .strictObject({
    id: presetSlug.optional(),
    prompt_id: presetSlug.optional(),
    version: z.string().min(1).max(64).nullish(),
    variables: z
      .record(z.string(), z.union([z.string(), promptPart], 'Use a text, or a part of type input_text, input_image or input_file.'))
      .nullish(),
  })
  .refine(({ id, prompt_id }) => (id === undefined) !== (prompt_id === undefined), { path: ['id'], message: 'Name the prompt.' })

export interface StoredPrompt {
  readonly id: string
  readonly version: string | null
  readonly variables: Readonly<Record<string, string | PromptPart>>
}

/** Returns null if the request names no stored prompt. Throws `invalid_request`. */
export const readStoredPrompt = (dialect: ClientDialect, body: JsonBody): StoredPrompt | null => {
  const prompt = dialect === 'messages' ? null : (body.value('prompt') ?? null)
  // Old clients of Chat Completions send a string in this field. It names no preset and is refused as if the feature were off
  // (decisions/0142).
  if (prompt === null || (dialect === 'chat' && !isObject(prompt))) return null
  const { id, prompt_id, version, variables } = validate(promptReference, prompt, ['prompt'])
  return { id: id ?? prompt_id ?? '', version: version ?? null, variables: variables ?? {} }
}

/**
 * Returns the preset with its variables filled in, and the request with the prompt's messages before its own. Throws
 * `invalid_request` naming each faulty variable.
 */
export const fillStoredPrompt = (
  dialect: ClientDialect,
  body: JsonBody,
  content: PresetContent,
  { variables }: StoredPrompt,
): { readonly body: JsonBody; readonly content: PresetContent } => {
  const { [TEMPLATE]: kept, ...config } = content.config
  const template = promptTemplate.parse(kept ?? {})
  const values = readValues(template, content.systemPrompt, variables)
  const systemPrompt = content.systemPrompt === null ? null : fillText(content.systemPrompt, values)
  const messages = template.messages.map((message) => ({ ...message, content: fillContent(message.content, values) }))
  return { body: withMessages(dialect, body, messages), content: { ...content, config, systemPrompt } }
}

const TEMPLATE = 'prompt_template'

type Values = ReadonlyMap<string, string | PromptPart>

/** The maximum total length of the inserted values, because the service holds all of them in memory. */
const FILLED_MAX = 10_000_000

const readValues = (template: PromptTemplate, systemPrompt: string | null, given: StoredPrompt['variables']): Values => {
  const places = placesOf(template, systemPrompt)
  const names = new Set([...Object.keys(template.variables), ...places.keys()])
  const faults: { path: string; message: string }[] = []
  const fault = (name: string, message: string): void => void faults.push({ path: `prompt.variables.${cutText(name, 64)}`, message })
  const values = new Map<string, string | PromptPart>()
  for (const name of Object.keys(given))
    if (!names.has(name)) fault(name, `The prompt has no such variable; it has ${[...names].join(', ') || 'none'}.`)
  for (const name of names) {
    const declared = Object.hasOwn(template.variables, name) ? template.variables[name] : undefined
    const value = Object.hasOwn(given, name) ? given[name] : declared?.default
    if (value == null) {
      if (places.has(name)) fault(name, 'The prompt needs this variable.')
      continue
    }
    const plain = typeof value === 'string' || value.type !== 'input_text' ? value : value.text
    const wrong = wrongType(plain, declared, places.get(name))
    if (wrong !== null) fault(name, wrong)
    values.set(name, plain)
  }
  let filled = 0
  for (const [name, { count }] of places) {
    const value = values.get(name)
    filled += count * (typeof value === 'string' ? value.length : JSON.stringify(value ?? '').length)
    if (filled > FILLED_MAX && faults.length === 0)
      fault(name, `Too long: the filled prompt would have more than ${FILLED_MAX} characters.`)
  }
  if (faults.length > 0) throw invalidRequest(faults.slice(0, FAULTS_MAX))
  return values
}

const FAULTS_MAX = 8

interface Places {
  readonly count: number
  /** The variable occurs where no image and no file is possible. */
  readonly textOnly: boolean
}

const placesOf = (template: PromptTemplate, systemPrompt: string | null): ReadonlyMap<string, Places> => {
  const places = new Map<string, Places>()
  const add = (text: string, textOnly: boolean): void => {
    for (const [, name = ''] of text.matchAll(PLACEHOLDER)) {
      const known = places.get(name)
      places.set(name, { count: (known?.count ?? 0) + 1, textOnly: textOnly || known?.textOnly === true })
    }
  }
  add(systemPrompt ?? '', true)
  for (const { role, content } of template.messages) {
    for (const part of typeof content === 'string' ? [{ type: 'input_text' as const, text: content }] : content)
      if (part.type === 'input_text') add(part.text, role !== 'user')
  }
  return places
}

const wrongType = (value: string | PromptPart, declared: PromptVariable | undefined, places: Places | undefined): string | null => {
  const type = typeof value === 'string' ? 'text' : value.type === 'input_image' ? 'image' : 'file'
  if (declared !== undefined && declared.type !== type) return `The prompt takes ${WORDS[declared.type]} here.`
  return type !== 'text' && places?.textOnly === true ? 'It is used in a message that takes only text.' : null
}

const WORDS = { text: 'a text', image: 'a part of type input_image', file: 'a part of type input_file' } as const

/** Fills each placeholder once; placeholders within a value are not filled. */
const fillText = (text: string, values: Values): string =>
  text.replace(PLACEHOLDER, (written, name: string) => {
    const value = values.get(name)
    return typeof value === 'string' ? value : written
  })

const fillContent = (content: PromptMessage['content'], values: Values): PromptMessage['content'] => {
  if (typeof content !== 'string') return content.flatMap((part) => (part.type === 'input_text' ? splitAtMedia(part.text, values) : [part]))
  const parts = splitAtMedia(content, values)
  const [only] = parts
  return parts.length === 1 && only?.type === 'input_text' ? only.text : parts
}

/** Splits the text so that an image or a file becomes a part of its own between the texts around it. */
const splitAtMedia = (text: string, values: Values): PromptPart[] => {
  const parts: PromptPart[] = []
  let from = 0
  const addText = (piece: string): void => {
    if (piece !== '') parts.push({ type: 'input_text', text: fillText(piece, values) })
  }
  for (const match of text.matchAll(PLACEHOLDER)) {
    const value = values.get(match[1] ?? '')
    if (value === undefined || typeof value === 'string') continue
    addText(text.slice(from, match.index))
    parts.push(value)
    from = match.index + match[0].length
  }
  addText(text.slice(from))
  return parts.length === 0 ? [{ type: 'input_text', text: '' }] : parts
}

const withMessages = (dialect: ClientDialect, body: JsonBody, messages: readonly PromptMessage[]): JsonBody => {
  const field = dialect === 'chat' ? 'messages' : 'input'
  const own = body.raw(field) ?? 'null'
  if (messages.length === 0) return own === 'null' && dialect === 'responses' ? body.with({ input: '""' }) : body
  const written = messages.map(({ role, content }) =>
    JSON.stringify({ role, content: dialect === 'chat' && typeof content !== 'string' ? content.map(chatPart) : content }),
  )
  return body.with({ [field]: `[${[...written, ...elementsOf(own)].join(',')}]` })
}

/** JSON text of the request's own messages, as written: the elements of a list, in one piece. */
const elementsOf = (own: string): readonly string[] => {
  if (own === 'null') return []
  if (own.startsWith('"')) return [`{"role":"user","content":${own}}`]
  if (!own.startsWith('[')) return [own]
  const elements = own.slice(1, -1).trim()
  return elements === '' ? [] : [elements]
}

const chatPart = (part: PromptPart): object => {
  if (part.type === 'input_text') return { type: 'text', text: part.text }
  if (part.type === 'input_image')
    return { type: 'image_url', image_url: { url: part.image_url ?? '', ...(part.detail == null ? {} : { detail: part.detail }) } }
  const { file_id, file_data, file_url, filename } = part
  return {
    type: 'file',
    file: Object.fromEntries(Object.entries({ file_id, file_data: file_data ?? file_url, filename }).filter(([, value]) => value != null)),
  }
}
