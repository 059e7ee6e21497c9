/**
 * Tracks a relayed response, for the failed response that the service writes if the upstream sends no end of its own. Nothing is
 * parsed before it is needed.
 */
import type { ModelEvent } from '../../canonical/event.ts'
import type { KeepText } from '../format.ts'
import { bodyOfParsed } from '../relay-text.ts'
import { part } from './items.ts'
import type { PartType } from './items.ts'

export interface RelayProgress {
  /** Records an event of the upstream: its type, its text, and the model events it stands for. */
  see(type: string, json: string, events: readonly ModelEvent[]): void
  /** The events that began an item, in order. */
  readonly begun: readonly string[]
  /** Returns the JSON texts of the items, the open one as far as it came. */
  output(): readonly string[]
}

/** `keep`: see AnswerHead. */
export const watchProgress = (keep: KeepText | undefined): RelayProgress => {
  const done: string[] = []
  const begun: string[] = []
  let open: string | null = null
  let said: Piece[] = []
  /** The characters in `said`: the finished item repeats them. */
  let saidLength = 0
  return {
    see(type, json, events) {
      if (type === 'response.output_item.added') {
        keep?.(json.length)
        begun.push(json)
        open = json
        said = []
        saidLength = 0
      } else if (type === 'response.output_item.done') {
        keep?.(Math.max(0, json.length - saidLength))
        done.push(json)
        open = null
        said = []
        saidLength = 0
      } else if (open !== null) {
        for (const event of events) {
          const piece = pieceOf(event)
          const last = said.at(-1)
          if (piece === null) continue
          keep?.(piece.text.length)
          saidLength += piece.text.length
          if (last?.type === piece.type) last.text += piece.text
          else said.push(piece)
        }
      }
    },
    begun,
    output() {
      const items = done.map((json) => bodyOfParsed(json).raw('item') ?? '{}')
      return open === null ? items : [...items, unfinished(bodyOfParsed(open).raw('item') ?? '{}', said)]
    },
  }
}

interface Piece {
  readonly type: PartType | 'arguments'
  text: string
}

const pieceOf = (event: ModelEvent): Piece | null => {
  if (event.type === 'text' || event.type === 'refusal') return { type: event.type, text: event.text }
  if (event.type === 'reasoning') return { type: event.summary === true ? 'summary' : 'reasoning', text: event.text }
  return event.type === 'tool-arguments' ? { type: 'arguments', text: event.json } : null
}

const unfinished = (item: string, said: readonly Piece[]): string => {
  const body = bodyOfParsed(item)
  const reported = (...types: readonly Piece['type'][]): string =>
    `[${said.flatMap(({ type, text }) => (type !== 'arguments' && types.includes(type) ? [part(type, JSON.stringify(text))] : [])).join(',')}]`
  const type = body.get('type')
  return body.textWith({
    status: '"incomplete"',
    ...(type === 'message' ? { content: reported('text', 'refusal') } : {}),
    ...(type === 'reasoning' ? { summary: reported('summary'), content: reported('reasoning') } : {}),
    ...(type === 'custom_tool_call' ? { input: JSON.stringify(said.map(({ text }) => text).join('')) } : {}),
    ...(type === 'function_call' ? { arguments: JSON.stringify(said.map(({ text }) => text).join('')) } : {}),
  })
}
