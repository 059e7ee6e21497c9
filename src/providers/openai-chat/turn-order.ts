/**
 * Changes the order of turns for a vendor that refuses some orders (`strictOrder`): the conversation says the same in an order that it
 * takes.
 */
import type { PlacedMessage } from './placed-message.ts'
import type { RuleContext } from './message-context.ts'

/** Returns the same messages if the vendor takes their order. */
export const withStrictOrder = (given: readonly PlacedMessage[], context: RuleContext): readonly PlacedMessage[] => {
  const ordered: PlacedMessage[] = []
  for (const [place, placed] of given.entries()) {
    const next = spokenByUser(placed, ordered.at(-1), place === given.length - 1, context)
    if (next.message['role'] === 'user' && ordered.at(-1)?.message['role'] === 'tool') {
      context.mapped(
        next.at,
        `${context.target.providerName} takes no message of the user right after a tool’s; a short turn of the assistant was put between them.`,
      )
      ordered.push({ at: next.at, message: { role: 'assistant', content: 'OK' } })
    }
    ordered.push(next)
  }
  const last = ordered.at(-1)
  if (last !== undefined && isBeginning(last)) ordered[ordered.length - 1] = { ...last, message: { ...last.message, prefix: true } }
  return ordered.length === given.length && ordered.every((placed, place) => placed === given[place]) ? given : ordered
}

/** A system message becomes the user's at a place where the vendor takes no system message. */
const spokenByUser = (
  placed: PlacedMessage,
  before: PlacedMessage | undefined,
  last: boolean,
  { target, mapped }: RuleContext,
): PlacedMessage => {
  const { message, at } = placed
  if (message['role'] !== 'system' || before === undefined) return placed
  const follows = before.message['role']
  if (follows !== 'tool' && follows !== 'assistant' && !last) return placed
  mapped(at, `${target.providerName} takes no system message here; its words were sent as the user’s.`)
  return { at, message: { ...message, role: 'user' } }
}

/** Says whether the message is the beginning of the answer that is asked for. */
const isBeginning = ({ message }: PlacedMessage): boolean =>
  message['role'] === 'assistant' && message['prefix'] !== true && !Array.isArray(message['tool_calls'])
