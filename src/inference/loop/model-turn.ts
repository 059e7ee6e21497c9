/**
 * A model's output in one turn of a loop, split in two: the part that the client gets as it comes, and the calls of the service's own
 * tools, which the client never sees as calls. The whole turn is kept, since it goes back to the model in front of the results.
 */
import type { FinishReason, Frame, ModelEvent } from '../../canonical/event.ts'
import type { OwnBlock, Part } from '../../canonical/prompt.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import type { WaitingAgent } from '../../canonical/waiting-agent.ts'

export interface ModelCall {
  readonly id: string
  name: string
  readonly proof?: ReasoningProof
  /** JSON text exactly as the model wrote it. */
  arguments: string
  /** The index among all calls of its turn, from 0. */
  readonly position: number
  /** Set if the call was made in an earlier answer and continues now. */
  readonly waiting?: WaitingAgent
}

export interface ModelTurn {
  /** Returns the frames that go on to the client. In a loop no frame keeps a provider's own JSON. */
  take(frames: readonly Frame[]): readonly Frame[]
  /** Calls of the service's own tools, in the model's order. */
  readonly serverCalls: readonly ModelCall[]
  readonly clientCalls: number
  /** The client's calls that follow a call of the service: the client gets them after that call's result, in the order of the calls. */
  readonly held: readonly Frame[]
  readonly finish: { readonly reason: FinishReason; readonly native: string | null; readonly own?: readonly OwnBlock[] } | null
  /** Passes a call that turned out to be the client's, under another name, to the client: returns its events. */
  passOn(call: ModelCall, as: { readonly name: string; readonly arguments: string }): Frame
  /** Reserves indexes for calls that agents leave to the client; returns the first index. */
  makeRoom(calls: number): number
  /** Treats the call as if the model had not made it. */
  leaveOut(call: ModelCall): void
  /** Everything that the model said, as the assistant's message of the next request. */
  parts(): readonly Part[]
}

/** `isServerTool` takes the name that was offered to the model. `isFirst`: only the first turn of an answer sends the start event. */
export const readModelTurn = (isServerTool: (name: string) => boolean, isFirst: boolean): ModelTurn => {
  const parts: Part[] = []
  const serverCalls: ModelCall[] = []
  /** By the model's index: the call, and its index for the client; null if the call is the service's. */
  const calls = new Map<
    number,
    { readonly said: ModelCall; readonly part: number; readonly index: number | null; readonly isHeld: boolean }
  >()
  const held: ModelEvent[] = []
  let clientCalls = 0
  let finish: ModelTurn['finish'] = null
  /** True if the next text must not be joined to the one before. */
  let isBroken = false

  const say = (type: 'text' | 'refusal', text: string): void => {
    const last = isBroken ? undefined : parts.at(-1)
    if (text !== '') isBroken = false
    if (last?.type === type) parts[parts.length - 1] = { ...last, text: last.text + text }
    else if (text !== '') parts.push({ type, text })
  }

  const think = (text: string, summary: boolean): void => {
    const last = parts.at(-1)
    if (last?.type === 'reasoning' && last.proof === undefined && (last.summary === true) === summary) {
      parts[parts.length - 1] = { ...last, text: last.text + text }
    } else if (text !== '') parts.push({ type: 'reasoning', text, ...(summary ? { summary } : {}) })
  }

  const prove = (proof: ReasoningProof | null): void => {
    if (proof === null) return
    const last = parts.at(-1)
    if (last?.type === 'reasoning' && last.proof === undefined) parts[parts.length - 1] = { ...last, proof }
    else parts.push({ type: 'reasoning', text: '', proof })
  }

  const open = ({ index, id, name, proof, ...rest }: Extract<ModelEvent, { type: 'tool-call' }>): ModelEvent | null => {
    if (calls.has(index)) return null
    const said: ModelCall = { id, name, arguments: '', position: calls.size, ...(proof === undefined ? {} : { proof }) }
    const isOurs = isServerTool(name)
    const isHeld = !isOurs && serverCalls.length > 0
    calls.set(index, { said, part: parts.length, index: isOurs ? null : clientCalls, isHeld })
    parts.push({ ...rest, type: 'tool-call', id, name, arguments: '', ...(proof === undefined ? {} : { proof }) })
    if (isOurs) {
      serverCalls.push(said)
      return null
    }
    clientCalls += 1
    return passOrHold({ ...rest, type: 'tool-call', index: clientCalls - 1, id, name, ...(proof === undefined ? {} : { proof }) }, isHeld)
  }

  const passOrHold = (event: ModelEvent, isHeld: boolean): ModelEvent | null => {
    if (isHeld) held.push(event)
    return isHeld ? null : event
  }

  const passed = (event: ModelEvent): ModelEvent | null => {
    switch (event.type) {
      case 'start':
        return isFirst ? event : null
      case 'text':
        say('text', event.text)
        return event
      case 'refusal':
        say('refusal', event.text)
        return event
      case 'reasoning':
        think(event.text, event.summary === true)
        return event
      case 'reasoning-end':
        prove(event.proof)
        return event
      case 'tool-call':
        return open(event)
      case 'tool-arguments': {
        const call = calls.get(event.index)
        if (call !== undefined) call.said.arguments += event.json
        return call === undefined || call.index === null ? null : passOrHold({ ...event, index: call.index }, call.isHeld)
      }
      case 'finish':
        finish = event
        return null
      case 'usage':
        // The sum of all turns is sent at the end instead.
        return null
      case 'text-break':
        isBroken = true
        return event
      case 'citation':
      case 'image':
      case 'logprobs':
      case 'own-members':
      case 'unknown':
      case 'server-tool-start':
      case 'server-tool-progress':
      case 'server-tool-end':
      case 'file-text':
        return event
    }
  }

  return {
    take: (frames) =>
      frames.flatMap(({ events }) => {
        const kept = events.flatMap((event) => passed(event) ?? [])
        return kept.length === 0 ? [] : [{ events: kept }]
      }),
    serverCalls,
    passOn(call, { name, arguments: json }) {
      const index = clientCalls
      clientCalls += 1
      serverCalls.splice(serverCalls.indexOf(call), 1)
      const { id, proof } = call
      return {
        events: [
          { type: 'tool-call', index, id, name, ...(proof === undefined ? {} : { proof }) },
          { type: 'tool-arguments', index, json },
        ],
      }
    },
    makeRoom(calls) {
      const first = clientCalls
      clientCalls += calls
      return first
    },
    leaveOut: (call) => void serverCalls.splice(serverCalls.indexOf(call), 1),
    get held() {
      return held.length === 0 ? [] : [{ events: held }]
    },
    get clientCalls() {
      return clientCalls
    },
    get finish() {
      return finish
    },
    parts() {
      for (const { said, part } of calls.values()) {
        const call = parts[part]
        if (call?.type === 'tool-call')
          parts[part] = { ...call, name: said.name, arguments: said.arguments === '' && call.custom !== true ? '{}' : said.arguments }
      }
      return parts
    },
  }
}
