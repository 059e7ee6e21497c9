/**
 * Pairs each call of a tool with its result. Providers refuse a conversation in which a result has no call before it, or a call has no
 * result or two results after it. Agents send such conversations, for example after an interruption, and the refusal would lose them their
 * session.
 */
import type { Message, Part } from '../../canonical/prompt.ts'
import { mediaOfResult } from '../../canonical/result-pieces.ts'
import type { Warning } from '../../canonical/warning.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'

type Call = Extract<Part, { type: 'tool-call' }>
type Result = Extract<Part, { type: 'tool-result' }>

/** A call with the index of its message, and its result with the index of the result's message. */
interface Pair {
  readonly call: Call
  readonly calledAt: number
  result: Result | null
  /** -1 if there is no result. */
  resultAt: number
}

/** The changes that give each call exactly one result after it. */
export interface Repairs {
  /** Results that belong to no call; they become words of the user. */
  readonly lone: ReadonlySet<Part>
  /** Results that do not stand right after their calls. */
  readonly late: ReadonlySet<Part>
  /** By the index of a message: the results to put after it. */
  readonly due: ReadonlyMap<number, readonly DueResult[]>
}

export interface DueResult {
  readonly result: Result
  readonly warning: Warning
}

/**
 * Null if all is in order. `openEnd`: calls that end the conversation may all lack their results. `ownTurns`: each message of the assistant
 * is a turn of its own, so that the results of its calls follow it directly, and not its neighbours.
 */
export function* pairingRepairs(
  messages: readonly Message[],
  { openEnd, ownTurns = false }: { readonly openEnd: boolean; readonly ownTurns?: boolean },
): Steps<Repairs | null> {
  const { pairs, lone } = yield* pairUp(messages)
  yield
  const ends = turnEnds(messages, ownTurns)
  const turns = Map.groupBy(pairs, ({ calledAt }) => ends[calledAt] ?? calledAt)
  // A change of effort says nothing, so it may stand between a call and its result.
  const silent = new Set(messages.keys().filter((place) => messages[place]?.effort !== undefined && messages[place].parts.length === 0))
  const moved = [...turns].flatMap(([end, turn]) => outOfPlace(turn, end, { mayBeOpen: openEnd && end === messages.length - 1, silent }))
  if (moved.length === 0 && lone.size === 0) return null
  return {
    lone,
    late: new Set(moved.flatMap(({ result }) => result ?? [])),
    due: new Map(
      [...Map.groupBy(moved, ({ calledAt }) => ends[calledAt] ?? calledAt)].map(([place, pairs]) => [
        place,
        pairs.map((pair) => dueResult(pair, messages[place]?.at)),
      ]),
    ),
  }
}

const dueResult = ({ call, result }: Pair, at: string | undefined): DueResult =>
  result === null
    ? {
        result: { type: 'tool-result', callId: call.id, text: 'This call was not answered.' },
        warning: mapped(at, `The call of ${call.name} has no result; the model is told so.`),
      }
    : { result, warning: mapped(at, `The result of ${call.name} was in another place; it was sent after its call.`) }

export const loneResult = (at: string | undefined): Warning =>
  mapped(at, 'The result of a tool belongs to no call of this conversation; it was sent as text of the user.')

const mapped = (at: string | undefined, message: string): Warning => ({ code: 'mapped_field', field: at ?? 'messages', message })

/** Returns the same messages if all is in order; otherwise repairs and reports them. `openEnd`: as for `pairingRepairs`. */
export function* withPairedResults(
  messages: readonly Message[],
  warn: (warning: Warning) => void,
  { openEnd }: { readonly openEnd: boolean },
): Steps<readonly Message[]> {
  const repairs = yield* pairingRepairs(messages, { openEnd })
  if (repairs === null) return messages
  const { lone, late, due } = repairs
  const next: Message[] = []
  yield* mapInSteps(messages, (message, place) => {
    const parts = message.parts.flatMap((part): readonly Part[] => {
      if (part.type !== 'tool-result') return [part]
      if (late.has(part)) return []
      if (!lone.has(part)) return [part]
      warn(loneResult(message.at))
      const { text, cache } = part
      return [{ type: 'text', text, ...(cache === undefined ? {} : { cache }) }, ...mediaOfResult(part)]
    })
    if (parts.length > 0 || message.parts.length === 0) next.push({ ...message, parts })
    const results = due.get(place)
    if (results === undefined) return
    for (const { warning } of results) warn(warning)
    next.push({
      role: 'user',
      ...(message.at === undefined ? {} : { at: message.at }),
      parts: results.map(({ result }) => result),
    })
  })
  return next
}

/** Results answer the calls before them in order, one each; a result that is left over may answer a later call. */
function* pairUp(messages: readonly Message[]): Steps<{ readonly pairs: readonly Pair[]; readonly lone: ReadonlySet<Part> }> {
  const calls = new Map<string, Calls>()
  const left: { readonly result: Result; readonly place: number }[] = []
  yield* mapInSteps(messages, ({ parts }, place) => {
    for (const part of parts) {
      if (part.type === 'tool-call') {
        const pair: Pair = { call: part, calledAt: place, result: null, resultAt: -1 }
        const same = calls.get(part.id)
        if (same === undefined) calls.set(part.id, { pairs: [pair], answered: 0 })
        else same.pairs.push(pair)
      } else if (part.type === 'tool-result' && !answer(calls, part, place)) left.push({ result: part, place })
    }
  })
  const lone = left.filter(({ result, place }) => !answer(calls, result, place))
  return { pairs: [...calls.values()].flatMap(({ pairs }) => pairs), lone: new Set(lone.map(({ result }) => result)) }
}

/** The calls under one id: some programs restart their numbering in each turn. */
interface Calls {
  readonly pairs: Pair[]
  answered: number
}

const answer = (calls: ReadonlyMap<string, Calls>, result: Result, place: number): boolean => {
  const same = calls.get(result.callId)
  const pair = same?.pairs[same.answered]
  if (same === undefined || pair === undefined) return false
  same.answered += 1
  pair.result = result
  pair.resultAt = place
  return true
}

/**
 * For each message, the index of the last message of its turn: adjacent messages of the assistant are one turn, and so are adjacent
 * messages of all other roles.
 */
const turnEnds = (messages: readonly Message[], ownTurns: boolean): readonly number[] => {
  const ends: number[] = []
  for (let place = messages.length - 1; place >= 0; place -= 1) {
    const follower = messages[place + 1]
    const isAssistant = messages[place]?.role === 'assistant'
    const sameTurn = follower !== undefined && (follower.role === 'assistant') === isAssistant && !(ownTurns && isAssistant)
    ends[place] = sameTurn ? (ends[place + 1] ?? place) : place
  }
  return ends
}

/** The calls of a turn whose results do not directly follow it. */
const outOfPlace = (
  turn: readonly Pair[],
  end: number,
  { mayBeOpen, silent }: { readonly mayBeOpen: boolean; readonly silent: ReadonlySet<number> },
): readonly Pair[] => {
  if (mayBeOpen && turn.every(({ result }) => result === null)) return []
  const places = new Set(turn.map(({ resultAt }) => resultAt))
  let behind = end + 1
  while (places.has(behind) || silent.has(behind)) behind += 1
  return turn.filter(({ resultAt }) => resultAt <= end || resultAt >= behind)
}
