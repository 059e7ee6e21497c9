/**
 * Brings the calls of a history into a form that every dialect takes: arguments that are a JSON object, and distinct ids. Clients keep
 * calls that were cut short, and some models number the calls of each answer anew.
 */
import type { Message, Part, Prompt } from '../../canonical/prompt.ts'
import { GatewayError } from '../../errors.ts'
import { isObject, jsonIn } from '../../lib/json/json.ts'
import { JSON_LIMITS, JsonLimitError, JsonTextError, UNLIMITED } from '../../lib/json/json-limits.ts'
import { scanMembers } from '../../lib/json/json-scan.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'
import { createDistinctIds } from './distinct-ids.ts'

type Call = Extract<Part, { type: 'tool-call' }>

/** `mapped`: called for arguments that were replaced. Throws `invalid_request` for arguments that hold more values than a body may. */
export function* withLawfulCalls<Given extends Pick<Prompt, 'messages'>>(
  prompt: Given,
  mapped: (field: string, message: string) => void,
): Steps<Given> {
  const ids = new CallIds()
  const messages = yield* mapInSteps(
    prompt.messages,
    (message) => {
      if (!message.parts.some(({ type }) => type === 'tool-call' || type === 'tool-result')) return message
      const parts = message.parts.flatMap((part): readonly Part[] => {
        if (part.type === 'tool-result') return [ids.answered(part)]
        if (part.type !== 'tool-call') return [part]
        if (message.role === 'assistant') return [ids.made(withObject(part, message, mapped))]
        mapped(message.at ?? 'messages', `The call of ${part.name} is not in a turn of the assistant; it was left out.`)
        return []
      })
      const same = parts.length === message.parts.length && parts.every((part, index) => part === message.parts[index])
      return same ? message : { ...message, parts }
    },
    argumentsIn,
  )
  return messages.every((message, index) => message === prompt.messages[index]) ? prompt : { ...prompt, messages }
}

const argumentsIn = ({ parts }: Message): number =>
  parts.reduce((sum, part) => sum + (part.type === 'tool-call' ? part.arguments.length : 0), 0)

const withObject = (call: Call, { at = 'messages' }: Message, mapped: (field: string, message: string) => void): Call => {
  if (call.custom === true) return call
  if (isJsonObject(call.arguments, call, at)) return call
  const inner = TEXT.test(call.arguments) ? jsonIn(call.arguments) : undefined
  if (typeof inner === 'string' && isJsonObject(inner, call, at)) {
    mapped(at, `The arguments of the call of ${call.name} were written as JSON twice; the object in them was sent.`)
    return { ...call, arguments: inner }
  }
  if (call.arguments.trim() !== '') mapped(at, `The arguments of the call of ${call.name} are not a JSON object; an empty one was sent.`)
  return { ...call, arguments: '{}' }
}

const OBJECT = /^\s*\{/

/** Some models, and clients that keep their answers, write the arguments as a JSON text within a JSON text. */
const TEXT = /^\s*"\s*\{/

/** Text up to this length cannot hold more values than a body may have. */
const LONG = 2 * JSON_LIMITS.nodes

/** False for a call that was cut short, or never was JSON. */
const isJsonObject = (text: string, { name }: Call, at: string): boolean =>
  OBJECT.test(text) && (text.length <= LONG || isScanned(text, name, at)) && isObject(jsonIn(text))

/**
 * The arguments are a string value of the body, so the check of the body did not look into them. The parser takes seconds for hostile ones;
 * a scan does not, and finds what they are not, such as an object of less than a thousand levels.
 */
const isScanned = (text: string, name: string, at: string): boolean => {
  try {
    scanMembers(text, { ...UNLIMITED, nodes: JSON_LIMITS.nodes }, 'repeated')
    return true
  } catch (thrown) {
    if (!(thrown instanceof JsonTextError)) throw thrown
    if (thrown instanceof JsonLimitError)
      throw new GatewayError('invalid_request', `${at}: The arguments of the call of ${name} hold more than ${JSON_LIMITS.nodes} values.`)
    return false
  }
}

/** Each call keeps its id unless an earlier call has it. A result belongs to the first call of its id that has no result yet. */
class CallIds {
  readonly #distinct = createDistinctIds()
  /** By the id that the client knows: the ids of its calls in order, and how many of them have a result. */
  readonly #waiting = new Map<string, { readonly ids: string[]; answered: number }>()
  readonly #answered = new Map<string, string>()

  made(call: Call): Call {
    const id = this.#distinct(call.id)
    const waiting = this.#waiting.get(call.id)
    if (waiting === undefined) this.#waiting.set(call.id, { ids: [id], answered: 0 })
    else waiting.ids.push(id)
    return id === call.id ? call : { ...call, id }
  }

  answered(result: Extract<Part, { type: 'tool-result' }>): Part {
    const waiting = this.#waiting.get(result.callId)
    const id = waiting?.ids[waiting.answered] ?? this.#answered.get(result.callId) ?? result.callId
    if (waiting !== undefined) waiting.answered += 1
    this.#answered.set(result.callId, id)
    return id === result.callId ? result : { ...result, callId: id }
  }
}
