/** The places of a stream's events: which item, and which part of it, each of them belongs to. */
import { ITEM_PREFIXES } from '../../canonical/responses-protocol.ts'
import { isObject, textOf } from '../../lib/json/json.ts'
import type { Json } from './decode-output.ts'
import { kindOf, type PartKind, STEPS } from './sequence-steps.ts'

/** The text of a part so far: its length, and its characters as long as texts are held. */
export interface Said {
  length: number
  text: string
}

/** A part of an item as far as it was shown. `said`: its text is complete. */
export interface ShownPart extends Said {
  readonly kind: PartKind
  readonly sources: unknown[]
  /** The number of sources, of which `sources` has those that are held. */
  cited: number
  stage: 'open' | 'said' | 'done'
}

export interface ShownItem {
  readonly id: unknown
  readonly index: number
  /** The item as it began. */
  readonly item: Json
  /** By the name of their list and their position in it. */
  readonly parts: Map<string, ShownPart>
  /** The right positions of parts to which the server gives too high ones, by the name of their list and the position given. */
  readonly moved: Map<string, number>
  /** The latest part of each list, with its position. */
  readonly latest: Map<string, { readonly at: number; readonly part: ShownPart }>
  /** The arguments of a call so far; `said`: they are complete. */
  readonly arguments: Said
  said: boolean
  /** The whole item; null until it is done. */
  done: Json | null
}

export interface Places {
  /** Returns the event with the members that say its place; the same object if it has them all. */
  placed(type: string, event: Json): Json
  /** Notes the item that a placed event begins. */
  begin(event: Json): void
  beginPart(item: ShownItem, kind: PartKind, at: number): ShownPart
  /** Returns the item of a placed event, if it has begun. */
  at(event: Json): ShownItem | undefined
  /** The items that have begun, in the order of their positions. */
  items(): readonly ShownItem[]
}

export const createPlaces = (): Places => {
  const items = new Map<unknown, ShownItem>()
  const byId = new Map<unknown, ShownItem>()
  const latest = new Map<unknown, ShownItem>()
  let next = 0

  const lastOpen = (type: string): ShownItem | undefined => (latest.get(type)?.done === null ? latest.get(type) : undefined)

  const indexOf = (id: unknown, type: string): number => (id === undefined ? lastOpen(type) : byId.get(id))?.index ?? next

  /** The position that an event states. Some servers state one position for several items, whose ids tell them apart. */
  const stated = (index: unknown, id: unknown): number | undefined => {
    if (typeof index !== 'number') return undefined
    return (items.get(index)?.id === id ? undefined : byId.get(id)?.index) ?? index
  }

  /** True if another item has the position: it is over, or of another type. */
  const isTaken = (index: number, id: unknown, type: string): boolean => {
    const known = items.get(index)
    return known !== undefined && id !== undefined && known.id !== id && (known.done !== null || known.item['type'] !== type)
  }

  const placedItem = (event: Json, begins: boolean): Json => {
    const item = isObject(event['item']) ? event['item'] : {}
    const type = textOf(item['type'])
    const own = item['id'] ?? item['call_id']
    const index = event['output_index']
    const known = stated(index, own)
    const isNew = begins && (known === undefined ? own === undefined : isTaken(known, own, type))
    const at = isNew ? next : (known ?? indexOf(own, type))
    const id = item['id'] ?? items.get(at)?.id ?? own ?? `${ITEM_PREFIXES[type] ?? type}_${at}`
    if (at === index && id === item['id']) return event
    return { ...event, output_index: at, item: id === item['id'] ? item : { ...item, id } }
  }

  const placedStep = (event: Json, itemType: string, kind: PartKind | null, begins: boolean): Json => {
    const { output_index: index, item_id: own } = event
    const at = stated(index, own) ?? indexOf(own, itemType)
    const id = own ?? items.get(at)?.id ?? `${ITEM_PREFIXES[itemType] ?? itemType}_${at}`
    const part = kind === null ? null : partAt(items.get(at), kind, event[kind.index], begins)
    if (at === index && id === own && (kind === null || part === event[kind.index])) return event
    return { ...event, item_id: id, output_index: at, ...(kind === null ? {} : { [kind.index]: part }) }
  }

  return {
    placed(type, event) {
      if (type === 'response.output_item.added' || type === 'response.output_item.done') return placedItem(event, type.endsWith('added'))
      const step = STEPS.get(type)
      if (step === undefined) return event
      if (step.of === 'call') return placedStep(event, step.itemType, null, false)
      const kind = kindOf(step, event)
      return kind === null ? event : placedStep(event, kind.itemType, kind, step.stage === 'added')
    },
    begin(event) {
      const { output_index: index } = event
      const item = isObject(event['item']) ? event['item'] : {}
      if (typeof index !== 'number' || items.has(index)) return
      const { id, type } = item
      const begun: ShownItem = {
        id,
        index,
        item,
        parts: new Map(),
        moved: new Map(),
        latest: new Map(),
        arguments: { length: 0, text: '' },
        said: false,
        done: null,
      }
      items.set(index, begun)
      byId.set(id, begun)
      latest.set(type, begun)
      next = Math.max(next, index + 1)
    },
    beginPart(item, kind, at) {
      const part: ShownPart = { kind, length: 0, text: '', sources: [], cited: 0, stage: 'open' }
      item.parts.set(`${kind.list} ${at}`, part)
      item.latest.set(kind.list, { at, part })
      return part
    },
    at: (event) => items.get(event['output_index']),
    items: () => [...items.values()].toSorted((one, other) => one.index - other.index),
  }
}

/**
 * An event without a position belongs to the latest part of its kind. A server that announces parts announces all of them, so one that leaves
 * a gap has the wrong position: vLLM counts the parts of a message on from those of the thinking before it.
 */
const partAt = (item: ShownItem | undefined, kind: PartKind, given: unknown, begins: boolean): number => {
  const latest = item?.latest.get(kind.list)
  const next = latest === undefined ? 0 : latest.at + 1
  if (typeof given === 'number') {
    const key = `${kind.list} ${given}`
    if (begins && given > next) item?.moved.set(key, next)
    return item?.moved.get(key) ?? given
  }
  return latest !== undefined && !begins && latest.part.kind === kind && latest.part.stage !== 'done' ? latest.at : next
}
