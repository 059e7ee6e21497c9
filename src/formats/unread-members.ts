/** The members of a conversation that nothing has read, so that a translation can report that they were left out. */
import type { ClientDialect } from '../canonical/call.ts'
import { type Node, unasked, watchedNode } from './json-node.ts'

export interface UnreadMembers {
  /** The paths of the first of them. */
  readonly paths: readonly string[]
  /** Gives the node to `read`, and notes what that did not ask for. */
  reading<Out>(node: Node, read: (watched: Node) => Out): Out
  /** Notes what of a watched node was not read until now. */
  note(watched: Node): void
}

/** A hostile body can hold as many members as it has bytes. */
export const UNREAD_MAX = 50

export const startUnreadMembers = (client: ClientDialect): UnreadMembers => {
  const paths: string[] = []
  const passedOver = { names: MEANINGLESS[client], empty: true }
  const note = (watched: Node): void => {
    if (paths.length < UNREAD_MAX) paths.push(...unasked(watched, passedOver, UNREAD_MAX - paths.length))
  }
  return {
    paths,
    reading(node, read) {
      const watched = watchedNode(node)
      const out = read(watched)
      note(watched)
      return out
    },
    note,
  }
}

/**
 * Members that ask nothing of a model: they are in answers of the dialect or of its SDKs, and clients send answers back as they got them
 * (docs/translation.md#parts-of-a-conversation-tools-and-formats).
 */
const MEANINGLESS: Readonly<Record<ClientDialect, ReadonlySet<string>>> = {
  // A `type` is read where it decides anything. `parsed` and `parsed_arguments` repeat a text as the SDK read it; `index` counts pieces of a stream.
  chat: new Set(['type', 'id', 'index', 'padding', 'parsed', 'parsed_arguments', 'provider_specific_fields']),
  responses: new Set(['type', 'id', 'status', 'end_turn', 'created_by', 'logprobs', 'parsed', 'parsed_arguments']),
  messages: new Set(['type', 'parsed_output']),
}
