/** The fields of a request that have no word in the middle, so that a translation can report that they were left out. */
import type { ClientDialect } from '../canonical/call.ts'
import { fieldsWhere, meaningsOf } from '../request-fields/request-fields.ts'
import { SERVICE_FIELDS } from '../request-fields/service-fields.ts'
import { shortText } from './findings.ts'
import { type Node, unasked } from './json-node.ts'

/** Paths, in the request's own words. To be called when every known field was read. */
export const otherFields = (client: ClientDialect, root: Node): readonly string[] =>
  unasked(root, PASSED_OVER[client])
    .filter((field) => !(NOT_DONE.has(field) && root.members[field] === false))
    .slice(0, FIELDS_MAX)
    .map(shortText)

/** A hostile body can hold as many fields as it has bytes. */
const FIELDS_MAX = 50

/** Nothing is stored and nothing runs in the background, so a request that does not ask for it loses nothing. */
const NOT_DONE: ReadonlySet<string> = new Set(['store', 'background'])

/** The service reads or writes these itself, and no provider of another dialect is meant by them. */
const passedOver = (client: ClientDialect): ReadonlySet<string> =>
  new Set([
    ...SERVICE_FIELDS,
    ...fieldsWhere((row) => meaningsOf(row).includes('written'), [client]),
    // The loop of tools heeds it, and without tools of the service there is nothing that it bounds.
    'max_tool_calls',
    // Sent as a header; the body's copy is for clients (docs/contract/messages.md#request).
    'betas',
  ])

const PASSED_OVER: Readonly<Record<ClientDialect, ReadonlySet<string>>> = {
  chat: passedOver('chat'),
  responses: passedOver('responses'),
  messages: passedOver('messages'),
}
