/** Which addresses a model was given: by the client, or by what its tools found. Those that it wrote itself are none of them. */
import type { Part, Prompt } from '../../canonical/prompt.ts'

export const isSeen = (url: string, { messages }: Pick<Prompt, 'messages'>): boolean => {
  const wanted = plain(url)
  return wanted !== null && messages.some(({ role, parts }) => role !== 'assistant' && parts.some((part) => names(part, wanted)))
}

const names = (part: Part, wanted: string): boolean => {
  if (part.type === 'text') return textNames(part.text, wanted)
  // A failed call repeats what the model asked for.
  if (part.type === 'tool-result') return part.isError !== true && textNames(part.text, wanted)
  return (part.type === 'file' || part.type === 'image') && plain(part.url) === wanted
}

const textNames = (text: string, wanted: string): boolean => {
  for (const [found] of text.matchAll(URL_IN_TEXT)) if (plain(found) === wanted || plain(found.replace(BEHIND, '')) === wanted) return true
  return false
}

/** In prose, Markdown or JSON. A backslash begins an escape of JSON. */
const URL_IN_TEXT = /https?:\/\/[^\s"'<>\\)\]}`]{1,2048}/gi
/** The signs that a sentence puts behind an address. */
const BEHIND = /[.,;:!?*_]{1,10}$/

/** Without the place within the page, which no server sees. */
const plain = (text: string): string | null => {
  const url = URL.parse(text)
  if (url === null) return null
  url.hash = ''
  return url.href
}
