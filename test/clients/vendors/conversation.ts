/** The facts that a scripted vendor reads in a request of any dialect, and its answer. */
import { isObject } from '../../../src/lib/json/json.ts'

export interface Conversation {
  readonly model: string
  readonly stream: boolean
  readonly system: string
  /** All text of the user. */
  readonly asked: string
  /** The results of the tools. */
  readonly results: readonly string[]
  readonly toolNames: readonly string[]
}

export interface Turn {
  readonly text: string
  readonly call: { readonly name: string; readonly args: Body } | null
}

/** An error in the vendor's words. */
export interface Refusal {
  readonly status: number
  readonly body: Body
  readonly retryAfter?: string
}

/** The answer begins with it if the preset's system prompt has arrived. */
export const PRESET_SIGN = 'Ahoy!'
export const PRESET_PROMPT = `Begin every answer with "${PRESET_SIGN}".`

/**
 * To have a tool called, the user's text contains a line `CALL name {"json": "arguments"}`; the calls are made one after the other. A tool
 * that the client keeps back is searched for first.
 */
export const callLine = (name: string, args: Body): string => `CALL ${name} ${JSON.stringify(args)}`

/**
 * The results of the SDKs' tools. If a client does not send the call back, its result arrives as text of the user, where a model reads it.
 */
const TOLD = /^(?:Weather|Time) in .*$/gm

/** The result of a search that a client runs itself, as models of vendors without such searches read it (decisions/0211). */
const FOUND = /^The tool \S+ was found\./

const CALL = /^CALL (\S+) (\{.*\})$/gm

export const nextTurn = ({ asked, results: answered, toolNames, system, model }: Conversation): Turn => {
  const results = [...answered.filter((result) => !FOUND.test(result)), ...[...asked.matchAll(TOLD)].map(([reported]) => reported)]
  const wanted = [...asked.matchAll(CALL)]
  const [, name = '', json = '{}'] = wanted[results.length] ?? []
  const sign = system.includes(PRESET_PROMPT) ? `${PRESET_SIGN} ` : ''
  if (name !== '') {
    // The tool may be offered under a longer name: in a namespace, or adapted to the vendor's alphabet.
    const offered = toolNames.find((tool) => tool === name || tool.endsWith(name))
    if (offered !== undefined) return { text: '', call: { name: offered, args: JSON.parse(json) as Body } }
    const search = toolNames.find((tool) => tool.endsWith('ToolSearch'))
    return search === undefined
      ? { text: `No tool ${name} among ${toolNames.join(', ') || 'none'}.`, call: null }
      : { text: '', call: { name: search, args: { query: `select:${name}`, max_results: 1 } } }
  }
  return { text: sign + (wanted.length > 0 ? `The tools said: ${results.join(' and ')}` : `Hello from ${model}.`), call: null }
}

export type Body = Readonly<Record<string, unknown>>

export const listOf = (value: unknown): readonly Body[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** The string itself, or the texts of the parts. */
export const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : listOf(content)
        .map(({ text, content: inner }) => (typeof text === 'string' ? text : inner === undefined ? '' : textOf(inner)))
        .join('\n')
