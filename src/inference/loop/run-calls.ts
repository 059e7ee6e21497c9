/** Runs the calls of one turn, several at once. Each call gets exactly one result, whatever goes wrong with it. */
import type { ClientDialect } from '../../canonical/call.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { serverCallId } from '../../canonical/place-of-call.ts'
import type { Part, Prompt } from '../../canonical/prompt.ts'
import type { ServerCall, ServerOutcome, ServerTool, ServerToolFault } from '../../canonical/server-tools.ts'
import { cutToBytes } from '../../lib/text/cut-to-bytes.ts'
import type { IdSource } from '../../lib/id.ts'
import { type JsonObject, objectIn } from '../../lib/json/json.ts'
import type { AskModel } from '../../tools/ask.ts'
import { type AskedTool, type AwaitedCalls, failed, type ReportProgress, type ToolResult } from '../../tools/tool.ts'
import type { ModelCall } from './model-turn.ts'
import { screenedSources } from './screen-tool-text.ts'
import type { OfferedTool, OfferedTools } from './offered-tool.ts'

export interface CallsOfTurn {
  /** The number of the turn in its answer, from 1. */
  readonly number: number
  /** True if the turn also has calls of the client's functions. */
  readonly besideCalls: boolean
  readonly calls: readonly ModelCall[]
  /** Returns null for a call that may run, otherwise why it may not. */
  readonly refusalOf: (call: ModelCall, index: number) => { readonly code: ServerToolFault; readonly message: string } | null
  readonly offered: OfferedTools
  /** Results that are known before anything runs. */
  readonly refusals: ReadonlyMap<ModelCall, ToolResult>
  /** The conversation up to the calls, and below it the model that made them. */
  readonly prompt: Prompt
  readonly model: string
  /** Asks another model, for tools that need one. */
  readonly ask: AskModel
  readonly dialect: ClientDialect
  /** True if the client asked for progress reports of the tool and can receive them. */
  readonly reportsProgress: (asked: AskedTool) => boolean
  readonly signal: AbortSignal
  /** Registers work to do when the request is over. */
  readonly atEnd: (end: () => Promise<void>) => void
}

export interface RunCallsParts {
  readonly ids: IdSource
  readonly parallel: number
  readonly resultBytes: number
  /** Screens text on its way to and from a tool by the caller's guardrails; returns null if one of them blocks the text. */
  readonly screen: (text: string) => Promise<string | null>
  /** True if guardrails inspect results of tools, so that parts of a result cannot be sent before it is complete. */
  readonly screens: boolean
  /** Seals the text that the model read, for the client to send back. */
  readonly seal: (text: string) => string
  readonly now: () => number
  /** Called with the cost of a call as soon as it is known: the client may have left before the end of the call is sent. */
  readonly charge: (feeNanos: number) => void
  readonly take: (frames: readonly Frame[]) => Promise<void> | undefined
  /** Called with an error that a tool throws; the model gets a result that says the tool failed. */
  readonly onFault: (thrown: unknown, doing: string) => void
}

/** A call that has its result. */
export interface EndedCall {
  readonly call: ServerCall
  /** True if such a tool exists. */
  readonly isKnown: boolean
  readonly outcome: ServerOutcome
  /** True if the call was handed to its tool. */
  readonly executed: boolean
  /** By the monotonic clock. */
  readonly startedMs: number
  readonly durationMs: number
  readonly feeNanos: number
  readonly engine: string | null
  /** True if the client carries the call out. */
  readonly endsTurn: boolean
  /** Set if the call has no result yet. */
  readonly waitsFor?: AwaitedCalls
}

/** Returns the calls in their order. Rejects only if `take` does. */
export const runCalls = async (turn: CallsOfTurn, parts: RunCallsParts): Promise<readonly EndedCall[]> => {
  const calls = turn.calls.map((said) => ({ said, tool: turn.offered.byName.get(said.name), call: serverCall(said, turn, parts) }))
  // A call that waited was announced when it began to wait.
  const reported = calls.filter(({ tool, said }) => isShown(tool) && said.waiting === undefined)
  const behind =
    reported.length === 0 ? undefined : parts.take([{ events: reported.map(({ call }) => ({ type: 'server-tool-start', call })) }])
  if (behind !== undefined) await behind
  const ended: EndedCall[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let index = next++; index < calls.length; index = next++) {
      const one = calls[index]
      if (one === undefined) return
      const { call } = one
      const startedMs = parts.now()
      const refusal = turn.refusalOf(one.said, index)
      const { result, isBegun } = refusal === null ? await runOne(one, turn, parts) : notBegun(failed(refusal.code, refusal.message))
      parts.charge(result.feeNanos ?? 0)
      const outcome = await outcomeOf(result, parts)
      ended[index] = {
        call,
        isKnown: one.tool !== undefined,
        outcome,
        executed: isBegun && !NOT_BEGUN.has(result.fault?.code ?? null),
        startedMs,
        durationMs: parts.now() - startedMs,
        feeNanos: result.feeNanos ?? 0,
        engine: result.engine ?? null,
        endsTurn: result.endsTurn === true,
        ...(result.waitsFor === undefined ? {} : { waitsFor: result.waitsFor }),
      }
      if (!isShown(one.tool) || result.waitsFor !== undefined) continue
      const begun: readonly ModelEvent[] = one.said.waiting === undefined ? [] : [{ type: 'server-tool-start', call }]
      const full = parts.take([{ events: [...begun, { type: 'server-tool-end', call, outcome }] }])
      if (full !== undefined) await full
    }
  }
  await Promise.all(Array.from({ length: Math.min(parts.parallel, calls.length) }, work))
  return ended
}

/** A tool that does not exist has no item, block or detail to show. */
const isShown = (tool: OfferedTool | undefined): boolean => tool !== undefined && tool.silent !== true

/** Faults of calls that were given to their tool and that it did not begin to run. */
const NOT_BEGUN: ReadonlySet<ServerToolFault | null> = new Set([
  'invalid_tool_input',
  'unknown_tool',
  'query_too_long',
  'url_too_long',
  'url_not_in_prior_context',
  'max_uses_exceeded',
])

/** The results as the model reads them, in the message after its calls. */
export const resultParts = (ended: readonly EndedCall[]): readonly Part[] =>
  ended.map(({ call, outcome }) => ({
    type: 'tool-result',
    callId: call.callId,
    text: outcome.text,
    ...(outcome.fault === null ? {} : { isError: true }),
  }))

const serverCall = (
  said: ModelCall,
  { offered, dialect, number, besideCalls, reportsProgress }: CallsOfTurn,
  { ids }: RunCallsParts,
): ServerCall => {
  const tool = offered.byName.get(said.name)
  const kind = tool?.asked.tool ?? 'datetime'
  return {
    tool: kind,
    askedAs: tool?.asked.askedAs ?? said.name,
    id: serverCallId(
      dialect === 'messages' ? 'srvtoolu' : (ID_PREFIXES[kind] ?? 'st'),
      { turn: number, position: said.position, besideCalls },
      ids.prefixed('').slice(1),
    ),
    callId: said.id,
    name: said.name,
    arguments: said.arguments === '' ? '{}' : said.arguments,
    input: objectIn(said.arguments) ?? {},
    ...(said.proof === undefined ? {} : { proof: said.proof }),
    ...(tool?.instance === null || tool === undefined ? {} : { instance: tool.instance }),
    ...(tool?.catalog === undefined ? {} : { catalog: tool.catalog }),
    ...(tool !== undefined && reportsProgress(tool.asked) ? { reportsProgress: true } : {}),
  }
}

const ID_PREFIXES: Readonly<Partial<Record<ServerTool, string>>> = {
  web_search: 'ws',
  web_fetch: 'wf',
  datetime: 'dt',
  files: 'fl',
  image_generation: 'ig',
  tool_search: 'ts',
  shell: 'sh',
  bash: 'sh',
  fusion: 'fu',
}

interface Ran {
  readonly result: ToolResult
  /** It was given to its tool. */
  readonly isBegun: boolean
}

const notBegun = (result: ToolResult): Ran => ({ result, isBegun: false })

const runOne = async (
  { said, tool, call }: { readonly said: ModelCall; readonly tool: OfferedTool | undefined; readonly call: ServerCall },
  turn: CallsOfTurn,
  parts: RunCallsParts,
): Promise<Ran> => {
  const refusal = turn.refusals.get(said)
  if (refusal !== undefined) return notBegun(refusal)
  if (tool === undefined) return notBegun(failed('unknown_tool', `There is no tool ${said.name}.`))
  // The arguments may contain something that must not leave: a secret in a search query or in an address.
  const text = await parts.screen(said.arguments === '' ? '{}' : said.arguments)
  if (text === null) return notBegun(failed('blocked_by_guardrail', 'A guardrail keeps these arguments from leaving.'))
  const input = objectIn(text)
  if (input === null) return notBegun(failed('invalid_tool_input', 'The arguments must be one JSON object.'))
  if (turn.signal.aborted) return notBegun(tooLate)
  return { result: await runWith(input, { said, tool, call }, turn, parts), isBegun: true }
}

const runWith = async (
  input: JsonObject,
  { said, tool, call }: { readonly said: ModelCall; readonly tool: OfferedTool; readonly call: ServerCall },
  turn: CallsOfTurn,
  parts: RunCallsParts,
): Promise<ToolResult> => {
  const { promise: aborted, resolve } = Promise.withResolvers<ToolResult>()
  let feeNow = (): number => 0
  const stop = (): void => resolve({ ...tooLate, feeNanos: feeNow() })
  turn.signal.addEventListener('abort', stop, { once: true })
  try {
    const { waiting } = said
    const ifStopped = (fee: () => number): void => void (feeNow = fee)
    const toolTurn = { ...turn, name: said.name, ifStopped, ...(waiting === undefined ? {} : { waiting }), ...progressOf(call, parts) }
    const result = await Promise.race([tool.tool.run(input, toolTurn), aborted])
    return result.waitsFor !== undefined && tool.silent === true ? NOT_DELIVERED : result
  } catch (thrown) {
    if (turn.signal.aborted) return aborted
    parts.onFault(thrown, `the tool ${call.tool} failed`)
    return { ...failed('unavailable', 'The tool failed.'), feeNanos: feeNow() }
  } finally {
    turn.signal.removeEventListener('abort', stop)
  }
}

const progressOf = (call: ServerCall, { screens, take }: RunCallsParts): { readonly reportProgress?: ReportProgress } =>
  call.reportsProgress !== true || screens
    ? {}
    : { reportProgress: (progress) => take([{ events: [{ type: 'server-tool-progress', call, progress }] }]) }

/** Clients do not get items that they do not know, so this client could not send the waiting call back. */
const NOT_DELIVERED = failed('unavailable', 'This client cannot run functions for a subagent.', { status: 'error' })

const tooLate = failed('execution_time_exceeded', 'The tool was stopped: the request has no time left.')

const outcomeOf = async (result: ToolResult, { screen, seal, resultBytes }: RunCallsParts): Promise<ServerOutcome> => {
  const unscreened = JSON.stringify(result.value)
  const text = await screen(unscreened)
  if (text === null) {
    const blocked = failed('blocked_by_guardrail', 'A guardrail keeps this result from the model.')
    return { fault: blocked.fault, value: blocked.value, text: JSON.stringify(blocked.value), sources: [] }
  }
  const read = cut(text, resultBytes)
  return {
    fault: result.fault,
    // The client must not see text that guardrails kept from the model.
    value: objectIn(text) ?? {},
    text: read,
    sources: read === unscreened ? (result.sources ?? []) : screenedSources(result.sources ?? [], read),
    ...(result.pictures === undefined ? {} : { pictures: result.pictures }),
    ...(result.partlyShown === true && result.fault === null ? { sealed: seal(read) } : {}),
  }
}

const CUT = '…[truncated]'

const cut = (text: string, bytes: number): string => {
  if (Buffer.byteLength(text) <= bytes) return text
  return `${cutToBytes(text, bytes - Buffer.byteLength(CUT))}${CUT}`
}
