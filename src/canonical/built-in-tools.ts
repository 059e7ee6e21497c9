/**
 * Tools of the Responses dialect that the client runs and that have no schema of their own, because OpenAI's models are trained on
 * them. Any other model is offered each one as a function, and its calls are converted back to the items that the client expects.
 * The arguments of the function are the content of the item without the members that are the same in every item
 * (docs/contract/tools.md#built-in-tools). Source: the types of the `openai` package, `responses.ts`.
 */
import { isObject, jsonIn, type JsonObject, type JsonValue, listOf, textOf } from '../lib/json/json.ts'

export const BUILT_IN_TOOLS = ['local_shell', 'shell', 'apply_patch'] as const

export type BuiltInTool = (typeof BUILT_IN_TOOLS)[number]

/** The function definition that the model is given. */
export interface BuiltInFunction {
  readonly description: string
  readonly parameters: JsonObject
}

/** Returns null for any other tool, and for a shell that the provider runs in its own container. */
export const builtInTool = ({ type, environment }: Readonly<Record<string, unknown>>): BuiltInTool | null => {
  const tool = BUILT_IN_TOOLS.find((known) => known === type) ?? null
  const hosted = isObject(environment) && environment['type'] !== 'local'
  return tool === 'shell' && hosted ? null : tool
}

/** `raw`: the tool as the client declared it. */
export const builtInFunction = (tool: BuiltInTool, raw: Readonly<Record<string, unknown>>): BuiltInFunction => {
  const { description, properties, required } = FUNCTIONS[tool]
  return {
    description: [description, ...skillsOf(raw)].join('\n'),
    parameters: { type: 'object', properties, required, additionalProperties: false },
  }
}

/** Returns the item's own members for a call with these arguments, or null if the tool does not accept the arguments. */
export const builtInCall = (tool: BuiltInTool, json: string): JsonObject | null => {
  const args = parseObject(json)
  return args === null ? null : CALLS[tool](args)
}

/** Returns the function arguments, as JSON text, that correspond to an item which the client sends back. */
export const builtInArguments = (tool: BuiltInTool, item: Readonly<Record<string, unknown>>): string => {
  const said = item[tool === 'apply_patch' ? 'operation' : 'action']
  if (!isObject(said)) return '{}'
  const reported = Object.entries(said).filter(
    ([name, value]) => value !== null && !(tool === 'local_shell' && (name === 'type' || (name === 'env' && isEmpty(value)))),
  )
  return JSON.stringify(Object.fromEntries(reported))
}

/** The text of an output. A patch reports its result in `status` and may have no other output. */
export const builtInOutput = ({ output = null, status }: Readonly<Record<string, unknown>>): string => {
  const reported = output === null ? '' : typeof output === 'string' ? output : JSON.stringify(output)
  if (status === 'failed') return reported === '' ? status : `${status}: ${reported}`
  return reported === '' && typeof status === 'string' ? status : reported
}

/** Returns the tool that an item calls; null for any other item, and for a call that the provider ran. */
export const calledBuiltIn = (item: Readonly<Record<string, unknown>>): BuiltInTool | null => toolOfItem(item, '_call')

/** Returns the tool whose output the item is, or null. */
export const answeredBuiltIn = (item: Readonly<Record<string, unknown>>): BuiltInTool | null => toolOfItem(item, '_call_output')

const toolOfItem = ({ type, environment }: Readonly<Record<string, unknown>>, ending: string): BuiltInTool | null =>
  typeof type === 'string' && type.endsWith(ending) ? builtInTool({ type: type.slice(0, -ending.length), environment }) : null

interface Definition {
  readonly description: string
  readonly properties: JsonObject
  readonly required: readonly string[]
}

const TEXTS = { type: 'array', items: { type: 'string' } } as const

const FUNCTIONS: Readonly<Record<BuiltInTool, Definition>> = {
  local_shell: {
    description: 'Runs a command on the user’s machine and returns its output.',
    properties: {
      command: { ...TEXTS, description: 'The program and its arguments. For a line of shell: ["bash", "-lc", "the line"].' },
      working_directory: { type: 'string', description: 'Where to run it.' },
      timeout_ms: { type: 'integer', description: 'How long it may take, in milliseconds.' },
      env: { type: 'object', additionalProperties: { type: 'string' }, description: 'Variables of the environment to set.' },
      user: { type: 'string', description: 'The user to run it as.' },
    },
    required: ['command'],
  },
  shell: {
    description: 'Runs shell commands on the user’s machine and returns the output of each.',
    properties: {
      commands: { ...TEXTS, description: 'Lines of shell. They may run at the same time.' },
      timeout_ms: { type: 'integer', description: 'How long they may take, in milliseconds.' },
      max_output_length: { type: 'integer', description: 'How many characters of output to return for each at most.' },
    },
    required: ['commands'],
  },
  apply_patch: {
    description: 'Creates, updates or deletes a file of the user.',
    properties: {
      type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
      path: { type: 'string', description: 'The path of the file.' },
      diff: {
        type: 'string',
        description:
          'Left out to delete a file. To create one: all its lines, each after a "+". To update one: a part for each place that changes. ' +
          'A part begins with a line "@@", which may name the class or function around the place ("@@ class A"). Then come three ' +
          'lines before the change, the change, and three lines behind it: " " before a line that stays, "-" before a line that goes, ' +
          '"+" before a line that comes. There are no line numbers and no names of files.',
      },
    },
    required: ['type', 'path'],
  },
}

/** The skills of a local shell: instructions in files that the model may read with it. */
const skillsOf = ({ environment }: Readonly<Record<string, unknown>>): readonly string[] => {
  const skills = isObject(environment) ? listOf(environment['skills']) : []
  const reported = skills.flatMap((skill) =>
    isObject(skill) ? [`- ${textOf(skill['name'])} (${textOf(skill['path'])}): ${textOf(skill['description'])}`] : [],
  )
  return reported.length === 0
    ? []
    : ['Skills, each a folder with instructions that you read before you do what they are about:', ...reported]
}

const CALLS: Readonly<Record<BuiltInTool, (args: JsonObject) => JsonObject | null>> = {
  local_shell: ({ command: given, env, timeout_ms = null, user = null, working_directory = null }) => {
    // Models trained on other shells send only the line.
    const command = typeof given === 'string' ? ['bash', '-lc', given] : given
    if (!isTexts(command)) return null
    return { action: { type: 'exec', command, env: env !== undefined && isTextMap(env) ? env : {}, timeout_ms, user, working_directory } }
  },
  shell: ({ commands: given, timeout_ms = null, max_output_length = null }) => {
    const commands = typeof given === 'string' ? [given] : given
    return isTexts(commands) ? { action: { commands, timeout_ms, max_output_length }, environment: { type: 'local' } } : null
  },
  apply_patch: ({ type = null, path = null, diff = null }) => {
    if (typeof path !== 'string') return null
    if (type === 'delete_file') return { operation: { type, path } }
    return (type === 'create_file' || type === 'update_file') && typeof diff === 'string' ? { operation: { type, path, diff } } : null
  },
}

const isTexts = (value: JsonValue | undefined): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string')

const isTextMap = (value: JsonValue): value is JsonObject =>
  isObject(value) && Object.values(value).every((each) => typeof each === 'string')

const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0

const parseObject = (json: string): JsonObject | null => {
  const value = jsonIn(json)
  return isObject(value) ? value : null
}
