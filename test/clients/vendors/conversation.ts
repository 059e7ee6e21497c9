/** The facts of a request that a scripted vendor understands, whatever its dialect, and what it answers. */
import { isObject } from '../../../src/lib/json.ts'

export interface Conversation {
  readonly model: string
  readonly stream: boolean
  readonly system: string
  /** All that the user wrote. */
  readonly asked: string
  /** The answers of the tools. */
  readonly results: readonly string[]
  readonly toolNames: readonly string[]
}

export interface Turn {
  readonly text: string
  readonly call: { readonly name: string; readonly args: Body } | null
}

/** A refusal as the vendor words it. */
export interface Refusal {
  readonly status: number
  readonly body: Body
  readonly retryAfter?: string
}

/** Said where the preset's system prompt has arrived. */
export const PRESET_SIGN = 'Ahoy!'
export const PRESET_PROMPT = `Begin every answer with "${PRESET_SIGN}".`

/** A user who wants a tool called writes a line `CALL name {"json": "arguments"}`; they are called one after the other. */
export const callLine = (name: string, args: Body): string => `CALL ${name} ${JSON.stringify(args)}`

/** The results of the tools of SDKs: one whose call a client has not sent back comes as text of the user, and a model reads it there. */
const TOLD = /^(?:Weather|Time) in .*$/gm

const CALL = /^CALL (\S+) (\{.*\})$/gm

export const nextTurn = ({ asked, results: answered, toolNames, system, model }: Conversation): Turn => {
  const results = [...answered, ...[...asked.matchAll(TOLD)].map(([reported]) => reported)]
  const wanted = [...asked.matchAll(CALL)]
  const [, name = '', json = '{}'] = wanted[results.length] ?? []
  const sign = system.includes(PRESET_PROMPT) ? `${PRESET_SIGN} ` : ''
  if (name !== '') {
    // Under a name of its own the tool may be one of a namespace, or adapted to the vendor's alphabet.
    const offered = toolNames.find((tool) => tool === name || tool.endsWith(name))
    return offered === undefined
      ? { text: `No tool ${name} among ${toolNames.join(', ') || 'none'}.`, call: null }
      : { text: '', call: { name: offered, args: JSON.parse(json) as Body } }
  }
  return { text: sign + (wanted.length > 0 ? `The tools said: ${results.join(' and ')}` : `Hello from ${model}.`), call: null }
}

export type Body = Readonly<Record<string, unknown>>

export const listOf = (value: unknown): readonly Body[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** A string, or the texts of its parts. */
export const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : listOf(content)
        .map(({ text, content: inner }) => (typeof text === 'string' ? text : inner === undefined ? '' : textOf(inner)))
        .join('\n')
