/** Leaves the line for Anthropic's billing out of a Messages request to a model that is not a Claude (docs/contract/messages.md#request). */
import { BILLING_NAME, withoutBillingLineInJson } from '../../canonical/billing-line.ts'
import { scanElements } from '../../lib/json/json-scan.ts'
import { editElements, editElementsInSteps, editMembers, readMembers } from '../../lib/json/json-splice.ts'
import { includesInSteps } from '../../lib/text/search-steps.ts'
import type { Steps } from '../../lib/steps.ts'

/** JSON text of the system prompt; null if nothing else is in it, undefined if it stays as it is. */
export const unbilledSystem = (system: string | undefined): string | null | undefined => {
  if (system === undefined) return undefined
  const sent = unbilledContent(system)
  return sent === system ? undefined : sent
}

/** JSON text of the messages, of which system messages may begin with the line too; undefined if they stay as they are. */
export function* unbilledMessages(messages: string | undefined): Steps<string | undefined> {
  if (messages?.startsWith('[') !== true || !(yield* includesInSteps(messages, BILLING_NAME))) return undefined
  const sent = yield* editElementsInSteps(messages, (text) => {
    if (!text.startsWith('{') || !text.includes(BILLING_NAME)) return text
    const members = readMembers(text)
    const content = members.get('content')
    if (members.get('role') !== '"system"' || content === undefined) return text
    const said = unbilledContent(content)
    if (said === null) return null
    return said === content ? text : editMembers(text, { content: said })
  })
  return sent === messages ? undefined : sent
}

/** Null if nothing is left. */
const unbilledContent = (content: string): string | null => {
  const isList = content.startsWith('[')
  const sent = isList ? editElements(content, unbilledBlock) : withoutBillingLineInJson(content)
  if (sent === content) return content
  return sent === '""' || (isList && scanElements(sent).length === 0) ? null : sent
}

const unbilledBlock = (json: string): string | null => {
  const block = withoutBillingLineInJson(json)
  return block !== json && readMembers(block).get('text') === '""' ? null : block
}
