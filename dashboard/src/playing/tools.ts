/** The tools of a request as text: parsed, checked against the format of the interface, and with an example for each interface. */
import type { PresetShape } from '../api/presets.ts'
import { isObject } from '../loose.ts'
import { readJson } from '../read-json.ts'

type Tool = Readonly<Record<string, unknown>>
type Tools = readonly Tool[]

/** The value is undefined if the text is empty. */
export const parseTools = (text: string): { readonly value: Tools | undefined } | { readonly fault: string } => {
  if (text.trim() === '') return { value: undefined }
  const read = readJson(text)
  if ('fault' in read) return read
  const { value } = read
  if (!Array.isArray(value) || !value.every(isObject)) return { fault: 'Write a list of tools: [ { … } ]' }
  return { value: value.length === 0 ? undefined : value }
}

/** Returns null if each tool has the format of the interface. A provider's own tools have many formats, which only the service knows. */
export const formFault = (tools: unknown, shape: PresetShape): string | null => {
  if (!Array.isArray(tools)) return null
  const at = tools.findIndex((tool) => isObject(tool) && isFunction(tool) && !FORMS[shape].holds(tool))
  return at === -1 ? null : `Tool ${at + 1} lacks ${FORMS[shape].words}, as ${FORMS[shape].title} has it.`
}

export const exampleTools = (shape: PresetShape): Tools => [FORMS[shape].example]

/** In Messages such tools have no type; in the others they have one that Messages does not have. */
const isFunction = ({ type }: Tool): boolean => type === undefined || type === 'function' || type === 'custom'

const NAME = 'find_parcel'
const DESCRIPTION = 'Tells where a parcel is.'
const PARAMETERS = { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] }

const FORMS = {
  chat: {
    title: 'Chat Completions',
    words: '"type" and "function" with a "name"',
    holds: ({ type, function: own, custom }: Tool): boolean =>
      type === 'custom' ? isObject(custom) : type === 'function' && isObject(own) && typeof own['name'] === 'string',
    example: { type: 'function', function: { name: NAME, description: DESCRIPTION, parameters: PARAMETERS } },
  },
  responses: {
    title: 'Responses',
    words: '"type" and "name"',
    holds: ({ type, name }: Tool): boolean => type !== undefined && typeof name === 'string',
    example: { type: 'function', name: NAME, description: DESCRIPTION, parameters: PARAMETERS },
  },
  messages: {
    title: 'Messages',
    words: '"name" and "input_schema"',
    holds: ({ type, name, input_schema: schema }: Tool): boolean => type !== 'function' && typeof name === 'string' && isObject(schema),
    example: { name: NAME, description: DESCRIPTION, input_schema: PARAMETERS },
  },
} as const
