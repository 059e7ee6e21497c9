/**
 * Completes the stream of a server that leaves out a part of the protocol, as llama.cpp leaves out the places of its events and many
 * proxies all events but the texts (docs/contract/responses.md#stream, decisions/0156).
 */
import { TERMINAL } from '../../canonical/responses-protocol.ts'
import { isObject, objectsIn, textOf } from '../../lib/json/json.ts'
import type { Json } from './decode-output.ts'
import { createPlaces, type Said, type ShownItem, type ShownPart } from './event-places.ts'
import { CALLS, emptied, kindOf, PARTS, type PartKind, STEPS } from './sequence-steps.ts'

/**
 * Returns a function that takes the events of one stream in order, with the length of each as text, and returns what a client must be sent for each: the events that
 * should have come before it, and the event itself, which is the same object if it lacks nothing. Arguments of a call that has not
 * begun are not returned, because the call has no name; its finished item holds them.
 */
export const createSequence = (): ((event: Json, length: number) => readonly Json[]) => {
  const places = createPlaces()
  let begun: 'nothing' | 'created' | 'in progress' = 'nothing'
  let response: unknown
  let sent: Json[] = []
  /** Characters of the stream so far. */
  let received = 0
  const isHolding = (): boolean => received <= HELD_MAX

  const add = (said: Said, text: string): void => {
    said.length += text.length
    said.text = isHolding() ? said.text + text : ''
  }

  const send = (event: Json): void => {
    const type = textOf(event['type'])
    if (type === 'response.created') {
      begun = 'created'
      response = event['response']
    } else if (begun === 'nothing') {
      const { id, model, created_at } = isObject(event['response']) ? event['response'] : {}
      send({ type: 'response.created', response: { id, model, created_at } })
    }
    if (type === 'response.in_progress') begun = 'in progress'
    else if (begun === 'created' && !LIFECYCLE.has(type)) send({ type: 'response.in_progress', response })
    const placed = withTexts(type, places.placed(type, event))
    if (TERMINAL.has(type)) sent.push(ended(type, placed))
    else if (isReady(type, placed)) sent.push(placed)
  }

  /** Returns the event with a text in each part that it holds; the same object if all have one. A part without one has what was shown of it. */
  const withTexts = (type: string, event: Json): Json => {
    const { item, part } = event
    const shown = places.at(event)
    if (PART_EVENT.test(type) && isObject(part)) {
      const kind = PARTS[textOf(part['type'])]
      const told = kind === undefined ? part : withText(part, shown?.parts.get(`${kind.list} ${String(event[kind.index])}`))
      return told === part ? event : { ...event, part: told }
    }
    if (!ITEM_EVENT.test(type) || !isObject(item)) return event
    const lists = LISTS.filter((list) => objectsIn(item[list]).some((each) => withText(each, undefined) !== each))
    if (lists.length === 0) return event
    const told = lists.map((list) => [list, objectsIn(item[list]).map((each, at) => withText(each, shown?.parts.get(`${list} ${at}`)))])
    return { ...event, item: { ...item, ...Object.fromEntries(told) } }
  }

  /** Sends what must come before the event, and notes the event. False if it cannot be sent. */
  const isReady = (type: string, event: Json): boolean => {
    if (type === 'response.output_item.added') places.begin(event)
    else if (type === 'response.output_item.done') finishItem(event)
    else {
      const step = STEPS.get(type)
      if (step === undefined) return true
      if (step.of === 'call') return sayArguments(event, step)
      const kind = kindOf(step, event)
      if (kind !== null) sayPart(event, kind, step.stage)
    }
    return true
  }

  const finishItem = (event: Json): void => {
    const item = isObject(event['item']) ? event['item'] : {}
    if (places.at(event) === undefined)
      send({ type: 'response.output_item.added', output_index: event['output_index'], item: emptied(item) })
    const shown = places.at(event)
    if (shown === undefined) return
    const place = placeOf(shown)
    for (const list of LISTS) {
      for (const [at, part] of objectsIn(item[list]).entries()) {
        const kind = PARTS[textOf(part['type'])]
        if (kind === undefined || shown.parts.get(`${list} ${at}`)?.stage === 'done') continue
        send({ type: `response.${kind.holder}.done`, ...place, [kind.index]: at, part })
      }
    }
    const call = CALLS[textOf(item['type'])]
    if (call !== undefined && !shown.said) {
      const name = call.named ? { name: item['name'] } : {}
      send({ type: `response.${call.events}.done`, ...place, ...name, [call.member]: textOf(item[call.member]) })
    }
    shown.done = isHolding() ? item : {}
  }

  const sayArguments = (event: Json, { member, stage }: { readonly member: string; readonly stage: string }): boolean => {
    const item = places.at(event)
    if (item === undefined) return false
    if (stage === 'delta') add(item.arguments, textOf(event['delta']))
    else {
      const rest = textOf(event[member]).slice(item.arguments.length)
      const type = textOf(event['type']).replace(/done$/, 'delta')
      if (rest !== '') send({ type, ...placeOf(item), delta: rest })
      item.said = true
    }
    return true
  }

  const sayPart = (event: Json, kind: PartKind, stage: string): void => {
    const at = Number(event[kind.index])
    if (places.at(event) === undefined) {
      const item = emptied({ type: kind.itemType, id: event['item_id'] })
      send({ type: 'response.output_item.added', output_index: event['output_index'], item })
    }
    const item = places.at(event)
    if (item === undefined) return
    const place = { ...placeOf(item), [kind.index]: at }
    const key = `${kind.list} ${at}`
    if (stage === 'added') {
      places.beginPart(item, kind, at)
      return
    }
    if (!item.parts.has(key)) send({ type: `response.${kind.holder}.added`, ...place, part: kind.part('') })
    const part = item.parts.get(key)
    if (part === undefined) return
    if (stage === 'delta') add(part, textOf(event['delta']))
    else if (stage === 'source') {
      part.cited += 1
      if (isHolding()) part.sources.push(event['annotation'])
    } else if (stage === 'said') {
      const rest = textOf(event[kind.member]).slice(part.length)
      const logprobs = part.length === 0 ? event['logprobs'] : undefined
      if (rest !== '')
        send({ type: `response.${kind.events}.delta`, ...place, delta: rest, ...(logprobs === undefined ? {} : { logprobs }) })
      part.stage = 'said'
    } else finishPart(part, place, event['part'])
  }

  const finishPart = (part: ShownPart, place: Json, reported: unknown): void => {
    const { kind } = part
    const whole = isObject(reported) ? reported : kind.part(part.text)
    const { logprobs } = whole
    const beside = logprobs === undefined ? {} : { logprobs }
    const said = textOf(whole[kind.member]) || part.text
    const rest = part.stage === 'open' ? said.slice(part.length) : ''
    if (rest !== '') send({ type: `response.${kind.events}.delta`, ...place, delta: rest, ...beside })
    // A text without deltas has now come before its sources.
    for (const [at, annotation] of objectsIn(whole['annotations']).entries()) {
      if (at < part.cited) continue
      send({ type: 'response.output_text.annotation.added', ...place, annotation_index: at, annotation })
    }
    if (part.stage === 'open') send({ type: `response.${kind.events}.done`, ...place, [kind.member]: said, ...beside })
    part.stage = 'done'
  }

  /**
   * Ends the open items, and shows those that only the whole answer holds. If anything was streamed, an unknown item that is no call is taken
   * for a repetition.
   */
  const ended = (type: string, event: Json): Json => {
    const whole = isObject(event['response']) ? event['response'] : {}
    const output = objectsIn(whole['output'])
    const streamed = places.items().length > 0
    const shown = shownAs(output, [...places.items()])
    for (const item of output) {
      const known = shown.get(item)
      if (known === undefined ? !streamed || textOf(item['type']) in CALLS : known.done === null)
        send({ type: 'response.output_item.done', output_index: known?.index, item })
    }
    const status = type === 'response.completed' ? 'completed' : 'incomplete'
    for (const item of places.items()) {
      if (item.done === null && isHolding() && isRepeatable(item))
        send({ type: 'response.output_item.done', output_index: item.index, item: soFar(item, status) })
    }
    // Some servers repeat the response as it was at its beginning.
    const over = GOES_ON.has(whole['status']) ? { ...whole, status: type.replace('response.', '') } : whole
    // The end of some servers lacks items that they have shown.
    if (output.length < places.items().filter(({ done }) => done !== null).length && isHolding()) {
      const told = new Map([...shown].map(([item, known]) => [known, item]))
      const kept = new Set(places.items().flatMap((item) => told.get(item) ?? item.done ?? []))
      return { ...event, response: { ...over, output: [...kept, ...output.filter((item) => !kept.has(item))] } }
    }
    return over === whole ? event : { ...event, response: over }
  }

  return (event, length) => {
    received += length
    if (!textOf(event['type']).startsWith('response.')) return [event]
    sent = []
    send(event)
    return sent
  }
}

/**
 * The shown item for each item of the whole answer that has one. Items may have other positions and ids at the end: those whose id was not
 * shown are told apart by their type and order.
 */
const shownAs = (output: readonly Json[], items: readonly ShownItem[]): ReadonlyMap<Json, ShownItem> => {
  const nameOf = (id: unknown, { type }: Json): string => (textOf(id) === '' ? '' : `${textOf(type)} ${textOf(id)}`)
  const byName = new Map(items.map((shown) => [nameOf(shown.id, shown.item), shown]))
  byName.delete('')
  const found = new Map<Json, ShownItem>()
  for (const item of output) {
    const name = nameOf(item['id'], item)
    const same = byName.get(name)
    if (same !== undefined) found.set(item, same)
    byName.delete(name)
  }
  const taken = new Set(found.values())
  const others = Map.groupBy(
    items.filter((shown) => !taken.has(shown)),
    ({ item }) => item['type'],
  )
  for (const item of output) {
    const next = found.has(item) ? undefined : others.get(item['type'])?.shift()
    if (next !== undefined) found.set(item, next)
  }
  return found
}

const LIFECYCLE: ReadonlySet<string> = new Set(['response.created', 'response.queued', 'response.in_progress'])

/** The states of a response that is not over. */
export const GOES_ON: ReadonlySet<unknown> = new Set(['queued', 'in_progress'])

const ITEM_EVENT = /^response\.output_item\.(?:added|done)$/
const PART_EVENT = /^response\.\w+_part\.(?:added|done)$/

/** The lists of parts that items have. */
const LISTS = ['summary', 'content'] as const

const withText = (part: Json, shown: ShownPart | undefined): Json => {
  const kind = PARTS[textOf(part['type'])]
  return kind === undefined || typeof part[kind.member] === 'string' ? part : { ...part, [kind.member]: shown?.text ?? '' }
}

const placeOf = ({ id, index }: ShownItem): Json => ({ item_id: id, output_index: index })

/** A longer stream is not held, so what its server leaves open stays open: a stream may go on for ever. */
const HELD_MAX = 16 * 1024 * 1024

/** Characters of an item that may be repeated in events of ours, so that an event of a megabyte does not become four. */
const REPEATED_MAX = 1024 * 1024

const isRepeatable = ({ parts, arguments: said }: ShownItem): boolean =>
  [...parts.values()].reduce((sum, { length }) => sum + length, said.length) <= REPEATED_MAX

/** An item as far as it was shown. */
const soFar = ({ item, parts, arguments: said }: ShownItem, status: string): Json => {
  const call = CALLS[textOf(item['type'])]
  const listed = (list: string): Json[] =>
    [...parts.values()].filter(({ kind }) => kind.list === list).map(({ kind, text, sources }) => kind.part(text, sources))
  return {
    ...item,
    ...('status' in item ? { status } : {}),
    ...(listed('summary').length === 0 ? {} : { summary: listed('summary') }),
    ...(listed('content').length === 0 ? {} : { content: listed('content') }),
    ...(call === undefined ? {} : { [call.member]: said.text || textOf(item[call.member]) }),
  }
}
