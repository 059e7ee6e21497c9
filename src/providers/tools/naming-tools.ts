/**
 * Gives the tools of a request names that its provider takes (tool-names.ts), on both lanes: in the client's own JSON if the provider
 * speaks its dialect, else in the parsed prompt. A request whose names fit is passed on untouched.
 */
import { BUILT_IN_TOOLS } from '../../canonical/built-in-tools.ts'
import { passesAsWritten, type ClientDialect } from '../../canonical/call.ts'
import type { Frame, ModelEvent, TakeFrames } from '../../canonical/event.ts'
import type { Message, Part, Prompt, Tool, ToolChoice } from '../../canonical/prompt.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { rewrittenText } from '../../lib/json/json-rewrite.ts'
import { parseExactInSteps } from '../../lib/json/json-steps.ts'
import type { JsonObject, JsonValue } from '../../lib/json/json.ts'
import { includesInSteps, testInSteps } from '../../lib/text/search-steps.ts'
import { atOnce, eachInSteps, inTurns, LARGE_BYTES, type Steps, type Turn } from '../../lib/steps.ts'
import { turnsOf } from '../transport/answer-turns.ts'
import { describedTool, NAMING_MEMBERS, renamedAnswer, renamedRequest, withoutBuiltIns, withoutNamespaces } from './named-tools.ts'
import { encoded } from '../transport/encoded.ts'
import type { Attempt, ProviderAdapter, Target, TokenCounter } from '../provider.ts'
import type { ToolNameForm } from './tool-name-form.ts'
import { sentNames, type ToolName, type ToolNames } from './tool-names.ts'

export interface ToolNaming {
  /** The client dialect that the provider speaks; null if none. */
  readonly own: ClientDialect | null
  /** Returns null if the provider takes any name. */
  readonly formFor: (target: Target) => ToolNameForm | null
  /** Says whether the provider knows namespaces. */
  readonly namespacesFor?: (target: Target) => boolean
  /** Says whether the provider knows the built-in tools of its dialect. */
  readonly builtInsFor?: (target: Target) => boolean
}

/** Wraps an adapter: it gets names that its provider takes, and the calls in its answers get the client's names back. */
export const namingTools =
  (adapter: ProviderAdapter, naming: ToolNaming): ProviderAdapter =>
  (attempt, context, take) => {
    const ask = (renamed: Renamed | null): Promise<void> => {
      if (renamed === null) return adapter(attempt, context, take)
      return adapter(renamed.attempt, context, restoring(renamed, turnsOf(context, attempt), take))
    }
    const renaming = encoded(withSentNames(attempt, naming), attempt, context)
    return renaming instanceof Promise ? renaming.then(ask) : ask(renaming)
  }

export const namingCountedTools =
  (counter: TokenCounter, naming: ToolNaming): TokenCounter =>
  async (attempt, context) => {
    const renamed = await encoded(withSentNames(attempt, naming), attempt, context)
    return counter(renamed?.attempt ?? attempt, context)
  }

interface Renamed {
  readonly attempt: Attempt
  readonly names: ToolNames
  /** False if the provider's own text cannot be passed on because its items are not of the types that the client knows. */
  readonly relays: boolean
}

/** Null if nothing has to be renamed. */
function* withSentNames(attempt: Attempt, { own, formFor, namespacesFor, builtInsFor }: ToolNaming): Steps<Renamed | null> {
  const { call, target } = attempt
  const form = formFor(target)
  const rules = { lawful: form?.lawful ?? null, namespaces: passesAsWritten(call, own) && (namespacesFor?.(target) ?? false) }
  if (passesAsWritten(call, own)) {
    const builtIns = builtInsFor?.(target) ?? true
    if (!(yield* mayNeedNames(call, form, rules.namespaces, builtIns))) return null
    yield
    const given = namingMembers(call.dialect, call.body)
    yield
    const flat = rules.namespaces ? given : withoutNamespaces(given)
    const request = builtIns ? flat : withoutBuiltIns(flat)
    const named = namesIn(call.dialect, request)
    yield
    const names = yield* sentNames(named, rules)
    if (names === null) return null
    yield
    const sent = renamedRequest(call.dialect, request, names.sent)
    const relays = named.every(({ builtIn }) => builtIn === undefined)
    return { names, relays, attempt: { ...attempt, call: { ...call, body: yield* rewrittenBody(call.body, given, sent) } } }
  }
  const prompt = call.prompt()
  const names = yield* sentNames(namesOf(prompt), rules)
  if (names === null) return null
  yield
  const sent = renamedPrompt(prompt, names)
  return { names, relays: true, attempt: { ...attempt, call: { ...call, prompt: () => sent } } }
}

/** Searches the text, so that a body whose names fit is not parsed. Only Responses has namespaces. */
function* mayNeedNames(
  { body: { searchable }, dialect }: Attempt['call'],
  form: ToolNameForm | null,
  namespaces: boolean,
  builtIns: boolean,
): Steps<boolean> {
  return (
    (form !== null && (yield* testInSteps(form.unlawfulMember, searchable))) ||
    (!namespaces && dialect === 'responses' && (yield* includesInSteps(searchable, '"namespace"'))) ||
    (!builtIns && (yield* testInSteps(BUILT_IN, searchable)))
  )
}

const BUILT_IN = new RegExp(`"(?:${BUILT_IN_TOOLS.join('|')})(?:_call|_call_output)?"`)

const namingMembers = (dialect: ClientDialect, body: JsonBody): JsonObject =>
  Object.fromEntries(
    NAMING_MEMBERS[dialect].flatMap((key): [string, JsonValue][] => {
      const value = body.value(key)
      return value === undefined ? [] : [[key, value]]
    }),
  )

const namesIn = (dialect: ClientDialect, request: JsonObject): readonly ToolName[] => {
  const names: ToolName[] = []
  renamedRequest(dialect, request, (name) => {
    names.push(name)
    return name
  })
  return names
}

function* rewrittenBody(body: JsonBody, given: JsonObject, sent: JsonObject): Steps<JsonBody> {
  const changes: Record<string, string> = {}
  for (const [key, value] of Object.entries(sent)) {
    const before = given[key]
    const raw = body.raw(key)
    if (before === undefined || raw === undefined || value === before) continue
    yield
    changes[key] = yield* rewrittenText(value, before, raw)
  }
  yield
  return yield* body.changing(changes)
}

const namesOf = ({ tools, toolChoice, messages }: Prompt): readonly ToolName[] => [
  ...tools.flatMap((tool) => (tool.type === 'provider' ? [] : [nameOf(tool)])),
  ...(toolChoice.type === 'tool' ? [toolChoice] : []),
  ...messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-call')),
]

const nameOf = (tool: Exclude<Tool, { type: 'provider' }>): ToolName => {
  const { name, namespace } = tool
  if (tool.type === 'function' && tool.builtIn !== undefined) return { name, builtIn: tool.builtIn }
  return namespace === undefined ? { name } : { name, namespace: namespace.name }
}

const renamedPrompt = (prompt: Prompt, names: ToolNames): Prompt => {
  const described = new Set<string>()
  const renameTool = (tool: Tool): Tool => {
    if (tool.type === 'provider') return tool
    const { namespace, ...rest } = tool
    const { name } = names.sent(nameOf(tool))
    if (namespace === undefined) return { ...rest, name }
    const about = described.has(namespace.name) ? null : namespace.description
    described.add(namespace.name)
    return { ...rest, name, description: describedTool(tool.description, namespace.name, about) }
  }
  return {
    ...prompt,
    tools: prompt.tools.map(renameTool),
    toolChoice: renamedChoice(prompt.toolChoice, names),
    messages: prompt.messages.map((message) => renamedMessage(message, names)),
  }
}

const renamedChoice = (choice: ToolChoice, names: ToolNames): ToolChoice =>
  choice.type === 'tool' ? { type: 'tool', name: names.sent(choice).name } : choice

const renamedMessage = (message: Message, names: ToolNames): Message => {
  if (!message.parts.some(({ type }) => type === 'tool-call')) return message
  const parts = message.parts.map((part): Part => {
    if (part.type !== 'tool-call') return part
    const { namespace: _, ...call } = part
    return { ...call, name: names.sent(part).name }
  })
  return { ...message, parts }
}

/** Passes on the frames with the client's names, large ones in turns with other requests. */
const restoring =
  ({ names, relays }: Renamed, turn: Turn, take: TakeFrames): TakeFrames =>
  (frames) => {
    if (!relays) return take(frames.map((frame) => restoredEvents(frame, names)))
    if (!frames.some(isLarge)) return take(frames.map((frame) => atOnce(restoredFrame(frame, names))))
    return inTurns(
      eachInSteps(
        frames,
        (frame) => restoredFrame(frame, names),
        () => 0,
      ),
      turn,
    ).then(take)
  }

const isLarge = ({ native }: Frame): boolean => native !== undefined && native.json.length > LARGE_BYTES

const restoredEvents = ({ events }: Frame, names: ToolNames): Frame => ({
  events: events.some(({ type }) => type === 'tool-call') ? events.map((event) => restoredCall(event, names)) : events,
})

/** Returns the same frame if it names no tool, as nearly every one. */
function* restoredFrame(frame: Frame, names: ToolNames): Steps<Frame> {
  const { events } = restoredEvents(frame, names)
  const { native } = frame
  if (native === undefined || !(yield* testInSteps(NAMES, native.json))) return events === frame.events ? frame : { ...frame, events }
  const json = yield* restoredText(native.dialect, native.json, names)
  // Rewritten text no longer shares a template with other frames.
  return json === native.json ? { ...frame, events } : { events, native: { dialect: native.dialect, json } }
}

/** A member that may name a tool. */
const NAMES = /"name(?:space)?"\s*:\s*"/

const restoredCall = (event: ModelEvent, names: ToolNames): ModelEvent => {
  const own = event.type === 'tool-call' ? names.restored(event) : null
  return own === null ? event : { ...event, ...own }
}

function* restoredText(dialect: ClientDialect, json: string, names: ToolNames): Steps<string> {
  const answer = (yield* parseExactInSteps(json)) as JsonObject
  const own = renamedAnswer(dialect, answer, (sent) => names.restored(sent) ?? sent)
  return yield* rewrittenText(own, answer, json)
}
