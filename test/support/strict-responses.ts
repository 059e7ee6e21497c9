/**
 * The errors of OpenAI's API for the body of a Responses request, in its own words. Sources: its reference and guides, the types of its SDK,
 * and errors that people report. It uses none of our code, so that it can contradict it.
 */
import { isObject } from '../../src/lib/json/json.ts'
import { type Body, firstRefusal, list, objects, strangeIn } from './strict-body.ts'

/** The first error of the request; null if it is accepted. */
export const refusedByResponses = (body: Body): string | null => firstRefusal(RULES, body)

type Rule = (body: Body) => string | null

/** "Unknown parameter: 'x'." */
const unknownIn = (value: Body, known: string, at: string): string | null => {
  const strange = strangeIn(value, known)
  return strange === undefined ? null : `Unknown parameter: '${at}${strange}'.`
}

const fields: Rule = (body) =>
  unknownIn(
    body,
    `background context_management conversation include input instructions max_output_tokens max_tool_calls metadata model moderation
    parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier
    service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user`,
    '',
  )

const itemsOf = (body: Body): readonly Body[] =>
  typeof body['input'] === 'string' ? [{ role: 'user', content: body['input'] }] : objects(body['input'])

const MEMBERS: Readonly<Record<string, string>> = {
  message: 'type role content id status phase',
  function_call: 'type id call_id name namespace arguments status caller',
  function_call_output: 'type id call_id output status caller name',
  custom_tool_call: 'type id call_id name namespace input status caller',
  custom_tool_call_output: 'type id call_id output status caller',
  reasoning: 'type id summary encrypted_content content status',
}

const CONTENT: Readonly<Record<string, readonly string[]>> = {
  assistant: ['output_text', 'refusal'],
  user: ['input_text', 'input_image', 'input_file', 'input_audio'],
  system: ['input_text', 'input_image', 'input_file'],
  developer: ['input_text', 'input_image', 'input_file'],
}

const items: Rule = (body) => {
  if (itemsOf(body).length === 0) return "Missing required parameter: 'input'."
  for (const [place, item] of itemsOf(body).entries()) {
    const type = typeof item['type'] === 'string' ? item['type'] : 'message'
    const known = MEMBERS[type]
    if (known === undefined) continue
    const at = `input[${place}].`
    const strange = unknownIn(item, known, at)
    if (strange !== null) return strange
    if (type === 'message') {
      const { role, content } = item
      const parts = CONTENT[String(role)]
      if (parts === undefined)
        return `Invalid value: '${String(role)}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`
      if (typeof content === 'string') continue
      if (!Array.isArray(content) || content.length === 0) return `Invalid '${at}content': empty array.`
      for (const part of objects(content)) {
        if (!parts.includes(String(part['type']))) return `Invalid value: '${String(part['type'])}' at ${at}content.`
        const text = part['text'] ?? part['refusal']
        if (/text|refusal/.test(String(part['type'])) && typeof text !== 'string') return `Missing required parameter: '${at}content.text'.`
      }
      continue
    }
    if (type === 'reasoning') {
      if (!Array.isArray(item['summary'])) return `Missing required parameter: '${at}summary'.`
      if (item['id'] !== undefined && !(typeof item['id'] === 'string' && item['id'].startsWith('rs_')))
        return `Invalid '${at}id'. Expected an ID that begins with 'rs'.`
      continue
    }
    const { call_id: id, name } = item
    if (typeof id !== 'string' || id === '') return `Missing required parameter: '${at}call_id'.`
    if (id.length > 64) return `Invalid '${at}call_id': string too long. Expected a string with maximum length 64.`
    if (type === 'function_call' && typeof item['arguments'] !== 'string') return `Missing required parameter: '${at}arguments'.`
    if (type.endsWith('_call') && !isName(name)) return `Invalid '${at}name': string does not match pattern.`
    if (type.endsWith('_output') && typeof item['output'] !== 'string' && list(item['output']).length === 0)
      return `Missing required parameter: '${at}output'.`
  }
  return null
}

const isName = (name: unknown): boolean => typeof name === 'string' && /^[a-zA-Z0-9_-]{1,128}$/.test(name)

const calls: Rule = (body) => {
  const waiting = new Set<unknown>()
  const known = new Set<unknown>()
  for (const { type, call_id: id } of itemsOf(body)) {
    if (type === 'function_call' || type === 'custom_tool_call') {
      if (known.has(id)) return `Duplicate item found with id ${String(id)}.`
      known.add(id)
      waiting.add(id)
    } else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      if (!waiting.delete(id)) return `No tool call found for function call output with call_id ${String(id)}.`
    }
  }
  const [open] = waiting
  return open === undefined ? null : `No tool output found for function call ${JSON.stringify(open)}.`
}

/** "Item 'rs_…' of type 'reasoning' was provided without its required following item." */
const thinking: Rule = (body) => {
  const all = itemsOf(body)
  for (const [place, { type, id }] of all.entries()) {
    if (type !== 'reasoning') continue
    const next = all.slice(place + 1).find((item) => item['type'] !== 'reasoning')
    const leads = next?.['role'] === 'assistant' || (typeof next?.['type'] === 'string' && next['type'].endsWith('_call'))
    if (!leads) return `Item '${String(id)}' of type 'reasoning' was provided without its required following item.`
  }
  return null
}

const tools: Rule = (body) => {
  const given = objects(body['tools'])
  if (body['tools'] !== undefined && given.length === 0) return "Invalid 'tools': empty array."
  const names = new Set<unknown>()
  for (const [place, tool] of given.entries()) {
    if (tool['type'] !== 'function') continue
    const strange = unknownIn(tool, 'type name description parameters strict defer_loading async', `tools[${place}].`)
    if (strange !== null) return strange
    if (!isName(tool['name'])) return `Invalid 'tools[${place}].name': string does not match pattern.`
    names.add(tool['name'])
    const schema = tool['parameters']
    if (!isObject(schema) || schema['type'] !== 'object')
      return `Invalid schema for function '${String(tool['name'])}': schema must have type 'object'.`
    if (['anyOf', 'oneOf', 'allOf', 'enum', 'not'].some((key) => schema[key] !== undefined))
      return `Invalid schema for function '${String(tool['name'])}': schema must not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`
    if (tool['strict'] === true) {
      const fault = strictFault(schema)
      if (fault !== null) return `Invalid schema for function '${String(tool['name'])}': ${fault}`
    }
  }
  const choice = body['tool_choice']
  if (given.length === 0 && choice !== undefined && choice !== 'auto' && choice !== 'none')
    return "Tool choice is only allowed when 'tools' are specified."
  if (isObject(choice) && choice['type'] === 'function' && !names.has(choice['name']))
    return `Tool choice 'function' not found in 'tools' parameter.`
  return null
}

/** The rules for schemas that a model is held to ("Structured model outputs", "Supported schemas"). */
const strictFault = (schema: unknown): string | null => {
  if (Array.isArray(schema)) return schema.map(strictFault).find((fault) => fault !== null) ?? null
  if (!isObject(schema)) return null
  if (schema['type'] === 'object' || isObject(schema['properties'])) {
    if (schema['additionalProperties'] !== false) return "'additionalProperties' is required to be supplied and to be false."
    const names = Object.keys(isObject(schema['properties']) ? schema['properties'] : {})
    const required = list(schema['required'])
    if (names.some((name) => !required.includes(name)))
      return "'required' is required to be supplied and to be an array including every key in properties."
  }
  const inner = Object.entries(schema).flatMap(([key, value]) =>
    key === 'properties' || key === '$defs' ? Object.values(isObject(value) ? value : {}) : [value],
  )
  return inner.map(strictFault).find((fault) => fault !== null) ?? null
}

const settings: Rule = (body) => {
  const {
    max_output_tokens: most,
    temperature,
    top_p: topP,
    text,
    user,
    safety_identifier: identifier,
    prompt_cache_key: key,
    model,
  } = body
  if (most !== undefined && Number(most) < 16) return "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16."
  if (temperature !== undefined && !(Number(temperature) >= 0 && Number(temperature) <= 2)) return "Invalid 'temperature'"
  // "Using GPT-5.2": these parameters are only for the effort none.
  const thinks = !(isObject(body['reasoning']) && body['reasoning']['effort'] === 'none')
  if (/^(?:gpt-[5-9]|o\d)/.test(String(model)) && thinks && (temperature ?? topP) !== undefined)
    return `Unsupported parameter: '${temperature === undefined ? 'top_p' : 'temperature'}' is not supported with this model.`
  for (const value of [user, identifier, key])
    if (typeof value === 'string' && value.length > 64) return 'string too long. Expected a string with maximum length 64.'
  if (body['top_k'] !== undefined || body['stop'] !== undefined) return "Unknown parameter: 'stop'."
  const format = isObject(text) ? text['format'] : undefined
  if (isObject(format) && format['type'] === 'json_schema') {
    if (!isName(format['name'])) return "Invalid 'text.format.name'"
    if (!isObject(format['schema'])) return "Missing required parameter: 'text.format.schema'."
    if (format['strict'] === true) {
      if (format['schema']['type'] !== 'object') return `Invalid schema for response_format: schema must have type 'object'.`
      const fault = strictFault(format['schema'])
      if (fault !== null) return `Invalid schema for response_format: ${fault}`
    }
  }
  return null
}

const RULES: readonly Rule[] = [fields, items, calls, thinking, tools, settings]
