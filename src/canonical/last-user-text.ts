import type { Prompt } from './prompt.ts'

/** The text of the last user message; null if it has none, for example only images or tool results. */
export const lastUserText = ({ messages }: Prompt): string | null => {
  const parts = messages.findLast(({ role }) => role === 'user')?.parts ?? []
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.join('\n') || null
}
