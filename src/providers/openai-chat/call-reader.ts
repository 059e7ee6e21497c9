/**
 * Joins the calls of one answer from the pieces in which servers send them. Some servers name a call only after its first pieces, or after
 * its arguments; clients of other dialects, and many of this one, read the name from the first piece alone. So no event of a call is
 * emitted before its name is known.
 */
import type { ModelEvent } from '../../canonical/event.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import { isObject, textOf } from '../../lib/json/json.ts'
import { LARGE_BYTES } from '../../lib/steps.ts'
import { callArguments } from '../tools/call-arguments.ts'
import { createDistinctIds } from '../tools/distinct-ids.ts'
import { type ArgumentsPieces, pickArguments } from '../tools/arguments-pieces.ts'
import { type CallProofs, thoughtSignature } from './decode-thinking.ts'

export interface CallReader {
  /** The number of calls that have begun, including those without a name so far. */
  readonly count: number
  /** The newest call has incomplete arguments. */
  readonly isCut: boolean
  /** The newest call has all its arguments: more of them may be a repetition. */
  readonly isComplete: boolean
  /** The newest call was emitted with an empty object as its arguments, which those of the next piece may take the place of. */
  readonly isEmptyObject: boolean
  /** Says, once, the index of the call whose arguments that were emitted before its latest piece do not count; null if there is none. */
  takeVoided(): number | null
  /** Reads a piece of a call. Returns true if the piece is in a form that clients of the dialect cannot read. */
  read(piece: CallPiece, events: ModelEvent[]): boolean
  /** Takes note of arguments that were read without this reader. */
  heard(event: ModelEvent): void
  /** Returns the events of the calls that got no name by the end of the answer. */
  takeNameless(): readonly ModelEvent[]
}

export interface CallPiece {
  readonly call: Readonly<Record<string, unknown>>
  /** Its position in its list, for servers that send no index. */
  readonly position: number
  readonly proofs: CallProofs | null
  /** The piece is the whole call. */
  readonly isWhole: boolean
}

interface OpenCall {
  /** Counts up in order of appearance, without gaps but for calls that the server runs itself. */
  readonly index: number
  id: string
  name: string
  readonly isCustom: boolean
  proof: ReasoningProof | null
  /**
   * JSON arguments: whether they are complete distinguishes a further call without an id from more of this one, and a call that was cut off
   * from a finished one. Null for custom calls.
   */
  readonly pieces: ArgumentsPieces | null
  /** The arguments that came before the name; null once the call was emitted. */
  held: string | null
}

/** `model`: our id of the model that answers, with which the proofs of its thinking are marked. */
export const createCallReader = (model: string): CallReader => {
  // Upstream indices may have gaps, or may all be zero while the ids differ; ours have no gaps.
  const calls = new Map<number, OpenCall>()
  const nameless = new Set<OpenCall>()
  /** The upstream indices of calls that the server runs itself; clients of this dialect get them as they are. */
  const own = new Set<number>()
  const distinct = createDistinctIds()
  let newest: OpenCall | null = null
  let voided: number | null = null
  let count = 0

  const begin = (upstreamIndex: number, id: string, isCustom: boolean): OpenCall => {
    const pieces = isCustom ? null : pickArguments()
    const open: OpenCall = { index: count + own.size, id, name: '', isCustom, proof: null, pieces, held: '' }
    count += 1
    calls.set(upstreamIndex, open)
    nameless.add(open)
    return open
  }

  /** Emits the beginning of a call. Returns true if it has another id than the server sent: it sent none, or another call has it. */
  const tell = (open: OpenCall, events: ModelEvent[]): boolean => {
    const { index, name, isCustom, proof, held } = open
    const id = distinct(open.id === '' ? `call_${index}` : open.id)
    const opened = {
      type: 'tool-call',
      index,
      id,
      name,
      ...(isCustom ? { custom: true as const } : {}),
    } as const
    events.push(proof === null ? opened : { ...opened, proof })
    if (held !== null && held !== '') events.push({ type: 'tool-arguments', index, json: held })
    open.held = null
    nameless.delete(open)
    return id !== open.id
  }

  return {
    get count() {
      return count
    },
    get isCut() {
      return newest?.pieces?.isInside === true
    },
    get isComplete() {
      return newest?.pieces?.isComplete === true
    },
    get isEmptyObject() {
      return newest?.held === null && newest.pieces?.isEmptyObject === true
    },
    takeVoided() {
      const was = voided
      voided = null
      return was
    },
    read({ call, position, proofs, isWhole }, events) {
      const upstreamIndex = typeof call['index'] === 'number' ? call['index'] : position
      const called = isObject(call['function']) ? call['function'] : null
      // Snowflake writes both into every call, the other one without content.
      const custom = isObject(call['custom']) && (called === null || call['type'] === 'custom') ? call['custom'] : null
      const about = custom ?? called ?? {}
      const id = textOf(call['id'])
      const name = bareName(textOf(about['name']))
      const known = calls.get(upstreamIndex)
      if (known === undefined && called === null && custom === null && (own.has(upstreamIndex) || isOfServer(call))) {
        if (!own.has(upstreamIndex)) events.push({ type: 'unknown', kind: textOf(call['type']) })
        own.add(upstreamIndex)
        return false
      }
      const open = known === undefined || beginsAnother(known, id, name) ? begin(upstreamIndex, id, custom !== null) : known
      newest = open
      const given = about[custom === null ? 'arguments' : 'input']
      const told = callArguments(given)
      // Scanning megabytes in one piece would hold up other requests.
      const mayScan = told.length <= LARGE_BYTES || open.id === ''
      const { pieces } = open
      const { json, voids } = pieces?.take(told, mayScan) ?? { json: told, voids: false }
      const isMended =
        json !== told ||
        open.index !== upstreamIndex ||
        // Google's endpoint writes null.
        ('index' in call && typeof call['index'] !== 'number') ||
        name !== textOf(about['name']) ||
        isObject(given) ||
        (isWhole && (typeof given !== 'string' || typeof about['name'] !== 'string'))
      if (open.held === null) {
        if (voids) voided = open.index
        if (json !== '') events.push({ type: 'tool-arguments', index: open.index, json })
        // OpenAI's Python SDK adds each string of a call to what it has: a name that is repeated would become another one.
        return isMended || name !== '' || id !== ''
      }
      const isLate = known === open
      open.id ||= id
      open.name = name
      open.proof ??= proofs?.get(open.id) ?? thoughtSignature(call, model)
      open.held = voids ? json : open.held + json
      if (name === '' && !isWhole && open.held.length <= HELD_MAX) return true
      // The stream helper of OpenAI's SDK fails without a type; a whole answer gets it where it is relayed.
      const isTypeless = !isWhole && call['type'] === undefined
      return tell(open, events) || isMended || isLate || isTypeless
    },
    heard(event) {
      if (event.type === 'tool-arguments' && newest?.index === event.index) newest.pieces?.take(event.json, true)
    },
    takeNameless() {
      const events: ModelEvent[] = []
      for (const open of nameless) tell(open, events)
      return events
    },
  }
}

/** The most characters of arguments that wait for the name of their call; with more, the call is emitted without a name. */
const HELD_MAX = 1024 * 1024

/** Zhipu shows the calls that it runs itself under the type of their tool: `mcp`, `web_search`, `retrieval`, `code_interpreter`. */
const isOfServer = ({ type }: CallPiece['call']): boolean =>
  typeof type === 'string' && type !== '' && type !== 'function' && type !== 'custom'

/** Servers of gpt-oss leave what its format puts behind the name: `read<|channel|>commentary`. */
const bareName = (name: string): string => /^(.+?)<\|/s.exec(name)?.[1] ?? name

/** Some servers give all calls the same index, and some of them send no ids either, or the same one. */
const beginsAnother = (open: OpenCall, id: string, name: string): boolean => {
  if (name === '') return false
  if (open.name === '') return id !== '' && open.id !== '' && id !== open.id
  const isComplete = open.pieces?.isComplete === true
  return id === '' ? isComplete || name !== open.name : id !== open.id || (isComplete && name !== open.name)
}
