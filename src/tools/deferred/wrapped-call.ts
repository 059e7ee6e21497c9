/** A call of a withheld tool: what the model wrote around it is taken off, and put on again when the conversation comes back. */
import type { FunctionTool } from '../../canonical/prompt.ts'
import { cutText } from '../../lib/cut-text.ts'
import { nearDistance } from '../../lib/edit-distance.ts'
import { JsonBody } from '../../lib/json-body.ts'
import { createSchemaCheck } from '../../lib/json-schema.ts'
import { isObject, jsonIn, type JsonValue } from '../../lib/json.ts'
import { failed, type ToolResult } from '../tool.ts'
import type { Catalogue } from './catalogue.ts'

/** A call as the client gets it. */
export interface UnwrappedCall {
  readonly name: string
  /** JSON text of an object, as the model wrote it. */
  readonly arguments: string
  /** The parts of the tool's schema that could not be checked. */
  readonly unchecked: readonly string[]
}

/** The model reads the result, and the client never sees it. */
export interface RefusedCall {
  /** The tool that was meant; null where the model named none. */
  readonly name: string | null
  readonly refusal: ToolResult
}

/** `json`: the arguments of the wrapper. */
export const unwrapCall = (json: string, catalogue: Catalogue): UnwrappedCall | RefusedCall => {
  const outer = jsonIn(json)
  const name = isObject(outer) && typeof outer['name'] === 'string' ? outer['name'] : null
  const read = name === null || !isObject(outer) ? NO_CALL : unwrapNamed(name, argumentsText(json, outer['arguments']), catalogue)
  return 'fault' in read ? { name, refusal: read } : read
}

const NO_CALL = failed(
  'invalid_tool_input',
  'The arguments must be one JSON object: {"name": the name of the tool, "arguments": its arguments}.',
)

const unwrapNamed = (name: string, text: string, catalogue: Catalogue): UnwrappedCall | ToolResult => {
  const tool = catalogue.byName.get(name)
  if (tool === undefined)
    return failed('unknown_tool', `There is no tool ${JSON.stringify(cutText(name, 256))}.`, { nearest: nearest(name, catalogue.tools) })
  const value = jsonIn(text)
  if (!isObject(value)) return failed('invalid_tool_input', `The arguments of ${name} must be a JSON object.`)
  const { faults, unchecked } = createSchemaCheck(tool.parameters)(value)
  if (faults.length === 0) return { name, arguments: text, unchecked }
  return failed('invalid_tool_input', `The arguments do not match the parameters of ${name}.`, {
    issues: faults.slice(0, ISSUES_MAX).map(({ path, message }) => ({ path, message })),
  })
}

const ISSUES_MAX = 5

/** The exact text, numbers beyond 2^53 too. Models also write arguments as a text that is JSON. */
const argumentsText = (json: string, value: JsonValue | undefined): string => {
  if (value === undefined || value === null || value === '') return '{}'
  return typeof value === 'string' ? value : (JsonBody.read(json).raw('arguments') ?? '{}')
}

/** The wrapper's arguments for a call of a withheld tool, as it stands in the conversation. */
export const wrappedArguments = (name: string, json: string): string => {
  const text = json.trim() === '' ? '{}' : json.trim()
  return `{"name":${JSON.stringify(name)},"arguments":${jsonIn(text) === undefined ? JSON.stringify(text) : text}}`
}

const NEAREST_MAX = 3
/** Comparisons of names cost the product of their lengths. */
const COMPARED_UNITS = 1_000_000

const nearest = (wanted: string, tools: readonly FunctionTool[]): readonly string[] => {
  let units = 0
  const near: { readonly name: string; readonly distance: number }[] = []
  for (const { name } of tools) {
    // No text that differs so much in length is near.
    if (Math.abs(name.length - wanted.length) > Math.max(2, wanted.length / 3)) continue
    units += name.length * wanted.length
    if (units > COMPARED_UNITS) break
    const distance = nearDistance(wanted, name)
    if (distance < Number.POSITIVE_INFINITY) near.push({ name, distance })
  }
  return near
    .sort((one, other) => one.distance - other.distance)
    .slice(0, NEAREST_MAX)
    .map(({ name }) => name)
}
