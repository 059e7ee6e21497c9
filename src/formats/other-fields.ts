/** The fields of a request without a canonical form, so that a translation can report that they were left out. */
import { type ClientDialect, forEachDialect } from '../canonical/call.ts'
import { fieldsWhere, meaningsOf } from '../request-fields/request-fields.ts'
import { SERVICE_FIELDS } from '../request-fields/service-fields.ts'
import { shortText } from './findings.ts'
import { type Node, unasked } from './json-node.ts'
import { UNREAD_MAX } from './unread-members.ts'

/** Returns paths in the request's own names. Call it only after every known field was read. `inside`: paths within the conversation. */
export const otherFields = (client: ClientDialect, root: Node, inside: readonly string[]): readonly string[] =>
  [...unasked(root, { names: PASSED_OVER[client], inside: NONE }, UNREAD_MAX), ...inside]
    .filter((field) => !(NOT_DONE.has(field) && root.members[field] === false))
    .slice(0, UNREAD_MAX)
    .map(shortText)

const NONE: ReadonlySet<string> = new Set()

/** Nothing is stored and nothing runs in the background, so a request that sets these to false loses nothing. */
const NOT_DONE: ReadonlySet<string> = new Set(['store', 'background'])

/** Fields that the service itself reads or writes, and that are not meant for a provider of another dialect. */
const passedOver = (client: ClientDialect): ReadonlySet<string> =>
  new Set([
    ...SERVICE_FIELDS,
    ...fieldsWhere((row) => meaningsOf(row).includes('written'), [client]),
    // The tool loop enforces it; without service tools it limits nothing.
    'max_tool_calls',
    // Sent as a header; the body's copy is for clients (docs/contract/messages.md#request).
    'betas',
  ])

const PASSED_OVER = forEachDialect(passedOver)
