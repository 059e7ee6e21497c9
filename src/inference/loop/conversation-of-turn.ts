/** The conversation as a model gets it in one turn of a loop: which tools it may call, and which it must call. */
import type { Message, Prompt } from '../../canonical/prompt.ts'
import type { ProviderDialect } from '../../canonical/provider-dialects.ts'
import { asTexts } from './replayed-conversation.ts'

/**
 * The client's choice of tools applies to the first turn. After a result the model chooses, since a forced call would never let the loop
 * end. In the last turn no tool may be called.
 */
export const conversationOfTurn = (
  prompt: Prompt,
  { isFirst, isFinal }: { readonly isFirst: boolean; readonly isFinal: boolean },
  dialect: ProviderDialect,
): Prompt => {
  if (isFinal && WITHOUT_NONE.has(dialect))
    return { ...prompt, tools: [], toolChoice: { type: 'auto' }, messages: asTexts(prompt.messages) }
  if (isFinal) return { ...prompt, toolChoice: { type: 'none' } }
  return isFirst || prompt.toolChoice.type === 'none' ? prompt : { ...prompt, toolChoice: { type: 'auto' } }
}

/** In these dialects a declared tool may always be called, and calls in an earlier turn require their tools to be declared. */
const WITHOUT_NONE: ReadonlySet<ProviderDialect> = new Set(['bedrock'] as const)

/** The earlier turns for the last turn, in which a provider might not run the calls of its own tools that are still open. */
export const withoutOpenCalls = (appended: readonly Message[]): readonly Message[] => {
  const blocks = appended.flatMap(({ own }) => own?.blocks ?? [])
  const answered = new Set(blocks.map(({ answers }) => answers))
  return blocks.every(({ calls }) => calls === undefined || answered.has(calls)) ? appended : appended.map(withoutOwnWords)
}

const withoutOwnWords = ({ role, parts }: Message): Message => ({ role, parts })

/** Replaces results that were too expensive to send by a note to the model that they are missing. */
export const forgetResults = (appended: Message[]): void => {
  const last = appended.at(-1)
  if (last === undefined) return
  const note = JSON.stringify({ error: 'budget_exhausted', message: 'The budget of this request is used up. Answer with what is known.' })
  appended.splice(0, appended.length, ...appended.map(withoutOwnWords))
  appended[appended.length - 1] = {
    ...withoutOwnWords(last),
    parts: last.parts.map((part) => (part.type === 'tool-result' ? { ...part, text: note, isError: true } : part)),
  }
}
