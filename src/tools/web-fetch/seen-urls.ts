/**
 * Which addresses a model was given: by the client, or by what a search or an earlier fetch found. Those that it wrote itself are
 * none of them, wherever they come back: many tools repeat what they were asked.
 */
import type { Message, Part, Prompt } from '../../canonical/prompt.ts'

export const isSeen = (url: string, { messages }: Pick<Prompt, 'messages'>): boolean => {
  const wanted = plain(url)
  if (wanted === null) return false
  const tools = toolsByCall(messages)
  return messages.some(({ role, parts }) => role !== 'assistant' && parts.some((part) => names(part, wanted, tools)))
}

/** The names of the functions that were called, by the ids of the calls. */
const toolsByCall = (messages: readonly Message[]): ReadonlyMap<string, string> =>
  new Map(messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-call' ? [[part.id, part.name] as const] : []))))

const names = (part: Part, wanted: string, tools: ReadonlyMap<string, string>): boolean => {
  if (part.type === 'text') return textNames(part.text, wanted)
  // A failed call repeats what the model asked for.
  if (part.type === 'tool-result') return part.isError !== true && textNames(foundBy(tools.get(part.callId), part.text), wanted)
  return (part.type === 'file' || part.type === 'image') && plain(part.url) === wanted
}

/** The part of a result that the tool found. A function of the client's is the client's word. */
const foundBy = (name: string | undefined, text: string): string => {
  if (name === undefined || !name.startsWith(OWN_TOOLS)) return text
  const tool = name.slice(OWN_TOOLS.length).replace(/__\d+$/, '')
  if (tool === 'web_fetch') return text
  if (tool !== 'web_search') return ''
  // The query stands in front; within it each quote has a backslash.
  const results = text.indexOf(RESULTS)
  return results === -1 ? '' : text.slice(results)
}

/** The names of the service's tools begin so. */
const OWN_TOOLS = 'service_'
const RESULTS = '"results":'

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
