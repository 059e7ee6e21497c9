/** Decodes Responses from upstreams, event by event or whole, into events. It is tolerant: it reads only the fields that mean something. */
import type { ModelEvent } from '../../canonical/event.ts'
import { TERMINAL } from '../../canonical/responses-protocol.ts'
import { isObject, objectsIn, textOf } from '../../lib/json/json.ts'
import { ownMembers } from '../own-members.ts'
import { callArguments } from '../tools/call-arguments.ts'
import { createOutput, type Json } from './decode-output.ts'
import { decodeUsage, NO_WORK, type ToolWork, usageSoFar } from './decode-usage.ts'

export interface ResponsesDecoder {
  /** Decodes one event of a complete stream (`createSequence`); the caller handles events that report a failure. */
  events(event: Json): ModelEvent[]
  /** Decodes a whole answer, without an end if it failed. */
  whole(response: Json): ModelEvent[]
}

export const createResponsesDecoder = (options: { readonly runsCustomTools: boolean }): ResponsesDecoder => {
  const output = createOutput(options)
  let started = false
  let reported = { work: NO_WORK, begun: NO_WORK }

  const start = (response: Json): ModelEvent[] => {
    if (started) return []
    started = true
    return [{ type: 'start', upstreamId: textOf(response['id']) || null }]
  }

  const end = (response: Json): ModelEvent[] => {
    const events = [...start(response), ...output.close()]
    const usage = response['usage']
    if (isObject(usage)) events.push({ type: 'usage', usage: decodeUsage(usage, output.toolWork(), response) })
    events.push(...ownMembers('responses', response))
    const finish = finishOf(response, output.callCount() > 0)
    return finish === null ? events : [...events, finish]
  }

  const said = (event: Json, type: string): ModelEvent[] => {
    const item = isObject(event['item']) ? event['item'] : {}
    const delta = textOf(event['delta'])
    switch (type) {
      case 'response.output_item.added':
        return withWork(output.added(event['output_index'], item))
      case 'response.output_item.done':
        return withWork(output.done(event['output_index'], item))
      case 'response.image_generation_call.partial_image':
        output.partialPicture(event)
        return withWork([])
      case 'response.output_text.delta':
        return output.piece(event, 'text', delta)
      case 'response.refusal.delta':
        return output.piece(event, 'refusal', delta)
      case 'response.reasoning_summary_text.delta':
        return output.piece(event, 'summary', delta)
      case 'response.reasoning_text.delta':
        return output.piece(event, 'reasoning', delta)
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return output.arguments(event, delta)
      case 'response.function_call_arguments.done':
        return output.wholeArguments(event, callArguments(event['arguments']))
      case 'response.custom_tool_call_input.done':
        return output.wholeArguments(event, textOf(event['input']))
      case 'response.output_text.annotation.added':
        return output.annotation(event, event['annotation'])
      default:
        return [] // intermediate steps, and events that only clients of this dialect can read
    }
  }

  /** The counts come with the end of the stream, and a picture or a search costs more than the rest of an answer. */
  const withWork = (events: ModelEvent[]): ModelEvent[] => {
    const work = output.toolWork()
    const begun = output.begunWork()
    if (isSameWork(work, reported.work) && isSameWork(begun, reported.begun)) return events
    reported = { work, begun }
    const underWay = isSameWork(work, begun) ? {} : { underWay: usageSoFar(begun) }
    return [...events, { type: 'usage', usage: usageSoFar(work), ...underWay }]
  }

  return {
    whole(response) {
      const items = objectsIn(response['output']).flatMap((item, position) => output.done(position, item))
      return [...start(response), ...items, ...end(response)]
    },
    events(event) {
      const type = textOf(event['type'])
      const response = event['response']
      if (isObject(response)) return TERMINAL.has(type) ? end(response) : start(response)
      const events = said(event, type)
      return events.length === 0 ? events : [...start({}), ...events]
    },
  }
}

const isSameWork = (one: ToolWork, other: ToolWork): boolean =>
  one.webSearches === other.webSearches &&
  one.fileSearches === other.fileSearches &&
  one.containers === other.containers &&
  one.pictures === other.pictures &&
  one.authored === other.authored

/** Null for an answer that did not end by itself. */
const finishOf = (response: Json, called: boolean): ModelEvent | null => {
  const status = response['status'] ?? 'completed'
  if (status === 'completed') return { type: 'finish', reason: called ? 'tool_calls' : 'stop', native: 'completed' }
  if (status !== 'incomplete') return null
  const details = isObject(response['incomplete_details']) ? response['incomplete_details'] : {}
  const reason = textOf(details['reason'])
  return { type: 'finish', reason: reason === 'content_filter' ? 'content_filter' : 'length', native: reason || 'incomplete' }
}
