/**
 * System messages with which a Messages client changes the effort in the middle of a conversation
 * (docs/contract/messages.md#effort-of-a-message). Only newer Claude models read them; for all other models the effort that counts for the
 * answer becomes the request's own.
 */
import type { Message, Prompt } from '../../canonical/prompt.ts'

/** Returns the same prompt if no message changes the effort. */
export const withEffortOfAnswer = (prompt: Prompt): Prompt => {
  const { messages, settings } = prompt
  if (!messages.some(changesEffort)) return prompt
  const kept = messages.flatMap((message): readonly Message[] => {
    if (!changesEffort(message)) return [message]
    const { effort: _, ...rest } = message
    return rest.parts.length === 0 ? [] : [rest]
  })
  const change = changeOfAnswer(messages)
  if (change === null) return { ...prompt, messages: kept }
  const { value, field } = settings.reasoning ?? { value: {}, field: '' }
  const named = value.enabled === undefined ? `${change.at ?? 'messages'}.output_config.effort` : field
  return { ...prompt, messages: kept, settings: { ...settings, reasoning: { value: { ...value, effort: change.effort }, field: named } } }
}

/** A message, or what counts of one that was not parsed. */
export interface EffortTurn {
  readonly role: string
  readonly parts: readonly { readonly type: string }[]
  readonly effort?: string
}

type Change<One> = One & { readonly effort: string }

export const changesEffort = <One extends EffortTurn>(turn: One): turn is Change<One> => turn.effort !== undefined

/**
 * The last change that counts for the answer. Behind new input of the user it counts at once, anywhere else from the next new input on.
 * Results of tools alone are no new input. Source: platform.claude.com, "Per-message effort".
 */
export const changeOfAnswer = <One extends EffortTurn>(turns: readonly One[]): Change<One> | null => {
  let counting: Change<One> | null = null
  let waiting: Change<One> | null = null
  let isBehindInput = false
  for (const turn of turns) {
    if (turn.role === 'assistant') isBehindInput = false
    else if (turn.role === 'user' && turn.parts.some(({ type }) => type !== 'tool-result')) {
      isBehindInput = true
      counting = waiting ?? counting
      waiting = null
    } else if (changesEffort(turn)) {
      if (isBehindInput) counting = turn
      else waiting = turn
    }
  }
  return counting
}
