/**
 * Handles calls of tools that take free text. OpenAI's dialects have such tools (`custom`); everywhere else a call takes JSON. So such a
 * tool is offered to other providers as a function with one string, and its calls come back as the text in that string. If a custom call
 * reaches a client that did not declare its tool as custom, it becomes a call of such a function, whose id shows what it was.
 */
import { argumentSchema } from '../../canonical/argument-schema.ts'
import { passesAsWritten, type ClientDialect } from '../../canonical/call.ts'
import type { ModelEvent, TakeFrames } from '../../canonical/event.ts'
import type { CustomTool, FunctionTool, Part, Prompt } from '../../canonical/prompt.ts'
import type { Warning } from '../../canonical/warning.ts'
import { ArgumentsScan } from '../../lib/json/arguments-scan.ts'
import { isObject, jsonIn } from '../../lib/json/json.ts'
import type { Attempt, ProviderAdapter } from '../provider.ts'

/** Letters, digits and `_` only, which every dialect takes in an id. */
const MARK = 'pb1_text_'

/** Returns the prompt with marked calls restored to custom calls. */
export const withTextCalls = (prompt: Prompt): Prompt => mapParts(prompt, readMarked)

/** Returns the prompt for a provider whose tools take only JSON. */
export const withoutTextCalls = (prompt: Prompt, warn: (warning: Warning) => void): Prompt => {
  const tools = prompt.tools.map((tool) => (tool.type === 'custom' ? functionOf(tool, warn) : tool))
  return mapParts({ ...prompt, tools }, (part) => {
    if (part.type !== 'tool-call' || part.custom !== true) return part
    const { custom: _, ...call } = part
    return { ...call, arguments: argumentsOfText(part.arguments) }
  })
}

/** The arguments of a function that stands for such a tool. */
export const argumentsOfText = (input: string): string => JSON.stringify({ input })

const mapParts = (prompt: Prompt, map: (part: Part) => Part): Prompt => ({
  ...prompt,
  messages: prompt.messages.map((message) => {
    const parts = message.parts.map(map)
    return parts.every((part, index) => part === message.parts[index]) ? message : { ...message, parts }
  }),
})

const readMarked = (part: Part): Part => {
  if (part.type === 'tool-result' && part.callId.startsWith(MARK)) return { ...part, callId: part.callId.slice(MARK.length) }
  if (part.type !== 'tool-call' || !part.id.startsWith(MARK)) return part
  return { ...part, id: part.id.slice(MARK.length), arguments: inputOf(part.arguments), custom: true }
}

/** The function of one string that stands for such a tool. */
export const functionOf = ({ name, description, grammar, at }: CustomTool, warn: (warning: Warning) => void): FunctionTool => {
  if (grammar !== null)
    warn({ code: 'mapped_field', field: at, message: `The grammar of ${name} is not enforced; it was described to the model in words.` })
  const language = grammar === null ? {} : { description: `Text that this ${grammar.syntax} grammar accepts: ${grammar.definition}` }
  return {
    type: 'function',
    name,
    description,
    parameters: argumentSchema({ input: { type: 'string', ...language } }),
  }
}

/** The text in the arguments of such a function; arguments of another form are taken as the text itself. */
const inputOf = (json: string): string => {
  const value = jsonIn(json)
  return isObject(value) && typeof value['input'] === 'string' ? value['input'] : json
}

interface Telling {
  /** The client dialect that the provider speaks; null if none. */
  readonly own?: ClientDialect | null
  /** The names of the client's custom tools that this provider gets as functions. */
  readonly ownDeclared?: (attempt: Attempt) => ReadonlySet<string>
  /** The dialect's providers may make such calls undeclared. */
  readonly makesThem?: boolean
}

/** Wraps the adapter of a dialect so that calls come back in the form in which the client declared their tools. */
export const restoringTextCalls =
  (adapter: ProviderAdapter, { own = null, ownDeclared = () => NONE, makesThem = false }: Telling = {}): ProviderAdapter =>
  (attempt, context, take) => {
    const { call } = attempt
    const isOwn = passesAsWritten(call, own)
    const declared = isOwn ? ownDeclared(attempt) : declaredIn(call.prompt())
    return adapter(attempt, context, declared.size > 0 || (makesThem && !isOwn) ? reportedAs(declared, take) : take)
  }

const NONE: ReadonlySet<string> = new Set()

const declaredIn = ({ tools }: Prompt): ReadonlySet<string> => new Set(tools.flatMap((tool) => (tool.type === 'custom' ? [tool.name] : [])))

const reportedAs = (declared: ReadonlySet<string>, take: TakeFrames): TakeFrames => {
  const calls = textCalls(declared)
  return (frames) => {
    // Nearly every batch contains no part of a call.
    const untouched = calls.idle() && !frames.some(({ events }) => events.some(({ type }) => type === 'tool-call'))
    return take(untouched ? frames : frames.map(({ events }) => ({ events: events.flatMap(calls.restore) })))
  }
}

/**
 * A call whose form is changed while its pieces arrive. `text`: from JSON arguments to text, which is known only once they are complete.
 */
interface OpenCall {
  readonly index: number
  readonly to: 'text' | 'json'
  held: string
  readonly scan: ArgumentsScan
}

interface TextCalls {
  /** Returns the events that replace an event. */
  readonly restore: (event: ModelEvent) => readonly ModelEvent[]
  /** No call whose form is changed is open. */
  idle(): boolean
}

const textCalls = (declared: ReadonlySet<string>): TextCalls => {
  let open: OpenCall | null = null
  /** Events that came while the open call's arguments were incomplete, beginning with one of another call. */
  let waiting: ModelEvent[] = []

  const close = (): ModelEvent[] => {
    if (open === null) return []
    const { index, to, held } = open
    open = null
    const json = to === 'json' ? '"}' : inputOf(held)
    const reported: ModelEvent[] = json === '' ? [] : [{ type: 'tool-arguments', index, json }]
    const next = waiting
    waiting = []
    return [...reported, ...next.flatMap(restore)]
  }

  const begin = (event: CallEvent): ModelEvent[] => {
    const { custom, ...call } = event
    if ((custom === true) === declared.has(call.name)) return [event]
    open = { index: call.index, to: custom === true ? 'json' : 'text', held: '', scan: new ArgumentsScan() }
    if (custom !== true) return [{ ...call, custom: true }]
    return [
      { ...call, id: MARK + call.id },
      { type: 'tool-arguments', index: call.index, json: '{"input":"' },
    ]
  }

  const piece = (call: OpenCall, json: string): ModelEvent[] => {
    if (call.to === 'json') return [{ type: 'tool-arguments', index: call.index, json: JSON.stringify(json).slice(1, -1) }]
    call.held += json
    call.scan.push(json)
    return waiting.length > 0 && call.scan.complete ? close() : []
  }

  const restore = (event: ModelEvent): ModelEvent[] => {
    if (event.type === 'usage' || event.type === 'logprobs') return [event]
    if (open !== null) {
      if (event.type === 'tool-arguments' && event.index === open.index) return piece(open, event.json)
      const woven = (event.type === 'tool-call' || event.type === 'tool-arguments') && open.to === 'text' && !open.scan.complete
      if (woven || (waiting.length > 0 && event.type !== 'finish')) {
        waiting.push(event)
        return []
      }
      return [...close(), ...restore(event)]
    }
    return event.type === 'tool-call' ? begin(event) : [event]
  }

  return { restore, idle: () => open === null }
}

type CallEvent = Extract<ModelEvent, { type: 'tool-call' }>
