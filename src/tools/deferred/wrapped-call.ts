/** Unwraps a call of a withheld tool for the client, and wraps it again when the conversation comes back. */
import type { FunctionTool } from '../../canonical/prompt.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import { nearDistance } from '../../lib/text/edit-distance.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { createSchemaCheck } from '../../lib/json/json-schema.ts'
import { isObject, jsonIn, type JsonValue } from '../../lib/json/json.ts'
import { failed, type ToolResult } from '../tool.ts'
import type { Catalogue } from './catalogue.ts'

/** A call in the form that the client gets. */
export interface UnwrappedCall {
  readonly name: string
  /** JSON text of an object, as the model wrote it. */
  readonly arguments: string
  /** The parts of the tool's schema that could not be checked. */
  readonly unchecked: readonly string[]
}

/** A call whose refusal the model reads and the client never sees. */
export interface RefusedCall {
  /** The name of the intended tool; null if the model gave none. */
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

/** Returns the exact text, including numbers beyond 2^53. Models also write the arguments as a string of JSON. */
const argumentsText = (json: string, value: JsonValue | undefined): string => {
  if (value === undefined || value === null || value === '') return '{}'
  return typeof value === 'string' ? value : (JsonBody.read(json).raw('arguments') ?? '{}')
}

/** Returns the wrapper's arguments for a call of a withheld tool in the conversation. */
export const wrappedArguments = (name: string, json: string): string => {
  const text = json.trim() === '' ? '{}' : json.trim()
  return `{"name":${JSON.stringify(name)},"arguments":${jsonIn(text) === undefined ? JSON.stringify(text) : text}}`
}

const NEAREST_MAX = 3
/** A limit for name comparisons, whose cost is the product of the lengths. */
const COMPARED_UNITS = 1_000_000

const nearest = (wanted: string, tools: readonly FunctionTool[]): readonly string[] => {
  let units = 0
  const near: { readonly name: string; readonly distance: number }[] = []
  for (const { name } of tools) {
    // Names that differ so much in length cannot be similar.
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
