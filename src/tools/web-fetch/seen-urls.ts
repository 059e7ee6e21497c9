/**
 * Determines which URLs a model was given by the client, or by a search or an earlier fetch. URLs that the model wrote itself do
 * not count, wherever they reappear: many tools repeat their arguments.
 */
import type { Message, Part, Prompt } from '../../canonical/prompt.ts'

export const isSeen = (url: string, { messages }: Pick<Prompt, 'messages'>): boolean => {
  const wanted = plain(url)
  if (wanted === null) return false
  const tools = toolsByCall(messages)
  return messages.some(({ role, parts }) => role !== 'assistant' && parts.some((part) => names(part, wanted, tools)))
}

/** The names of the called functions, by call id. */
const toolsByCall = (messages: readonly Message[]): ReadonlyMap<string, string> =>
  new Map(messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-call' ? [[part.id, part.name] as const] : []))))

const names = (part: Part, wanted: string, tools: ReadonlyMap<string, string>): boolean => {
  if (part.type === 'text') return textNames(part.text, wanted)
  // A failed call repeats the model's own arguments.
  if (part.type === 'tool-result') return part.isError !== true && textNames(foundBy(tools.get(part.callId), part.text), wanted)
  return (part.type === 'file' || part.type === 'image') && plain(part.url) === wanted
}

/** The part of a result that the tool found. The result of a client's function counts as the client's own text. */
const foundBy = (name: string | undefined, text: string): string => {
  if (name === undefined || !name.startsWith(OWN_TOOLS)) return text
  const tool = name.slice(OWN_TOOLS.length).replace(/__\d+$/, '')
  if (tool === 'web_fetch') return text
  if (tool !== 'web_search') return ''
  // The query comes first; quotes within it are escaped with a backslash.
  const results = text.indexOf(RESULTS)
  return results === -1 ? '' : text.slice(results)
}

/** The prefix of the names of the service's tools. */
const OWN_TOOLS = 'service_'
const RESULTS = '"results":'

const textNames = (text: string, wanted: string): boolean => {
  for (const [found] of text.matchAll(URL_IN_TEXT)) if (plain(found) === wanted || plain(found.replace(BEHIND, '')) === wanted) return true
  return false
}

/** Matches a URL in prose, Markdown or JSON. A backslash begins a JSON escape, so it ends the URL. */
const URL_IN_TEXT = /https?:\/\/[^\s"'<>\\)\]}`]{1,2048}/gi
/** Punctuation that a sentence puts after a URL. */
const BEHIND = /[.,;:!?*_]{1,10}$/

/** Removes the fragment, which no server sees. */
const plain = (text: string): string | null => {
  const url = URL.parse(text)
  if (url === null) return null
  url.hash = ''
  return url.href
}
