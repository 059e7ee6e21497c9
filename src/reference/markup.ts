/** HTML that is safe by construction: text becomes markup only through `html`, which escapes it. */

export interface Markup {
  readonly markup: string
}

type Part = string | number | Markup | null | readonly Part[]

/** A template whose values are escaped; Markup and lists of it are inserted unchanged, and null becomes nothing. */
export const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Markup => {
  const { first, rest } = prepared(texts)
  return { markup: rest.reduce((whole, { escape, text }, position) => whole + renderPart(parts[position] ?? null, escape) + text, first) }
}

/** A prepared template: its first text, and each further text with the escaping of the value before it. */
interface Template {
  readonly first: string
  readonly rest: readonly { readonly escape: Escape; readonly text: string }[]
}

type Escape = (text: string) => string

const templates = new WeakMap<TemplateStringsArray, Template>()

const prepared = (texts: TemplateStringsArray): Template => {
  const known = templates.get(texts)
  if (known !== undefined) return known
  const [first = '', ...others] = texts.map(compact)
  let before = first
  const rest = others.map((text) => {
    const escape = before.lastIndexOf('<') > before.lastIndexOf('>') ? escapeInTag : escapeText
    before += text
    return { escape, text }
  })
  const template = { first, rest }
  templates.set(texts, template)
  return template
}

/** Removes white space that is only for the readability of the source. */
const compact = (text: string): string =>
  text
    .replace(/\n\s*/g, '\n')
    .replace(/\n(?=\/?>)/g, '')
    .replace(BESIDE_BLOCKS, '$1')

/** White space before or after the tag of a block is not rendered. Between other tags it is a space. */
const BESIDE_BLOCKS =
  /\n?(<\/?(?:article|body|details|div|figcaption|figure|h[1-6]|head|header|html|li|link|main|meta|nav|p|pre|section|summary|table|tbody|td|th|thead|title|tr|ul)\b[^<>]*>)\n?/g

const renderPart = (part: Part, escape: Escape): string => {
  if (part === null) return ''
  if (typeof part === 'string' || typeof part === 'number') return escape(String(part))
  if (isList(part)) return part.map((one) => renderPart(one, escape)).join('')
  return part.markup
}

const isList = (part: Markup | readonly Part[]): part is readonly Part[] => Array.isArray(part)

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes text for any place on a page, also within a tag. */
export const escapeInTag: Escape = (text) => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')

/** Quotes need no escaping in text, and examples have thousands of them. */
const escapeText: Escape = (text) => text.replace(/[&<>]/g, (character) => ESCAPES[character] ?? '')

export const joined = (parts: readonly Part[], separator: string): Markup =>
  html`${parts.map((part, position) => (position === 0 ? part : html`${separator}${part}`))}`

/** Renders text for human readers: blank lines separate paragraphs, backticks mark code. No other Markdown is supported. */
export const prose = (text: string): Markup =>
  html`${text
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => html`<p>${inline(paragraph)}</p>`)}`

const inline = (text: string): Markup[] =>
  text.split('`').map((piece, position) => (position % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`))

/** Creates an id or link target within the page, with only the characters of the name that are safe in both. */
export const anchor = (kind: string, name: string): string => `${kind}-${name.replace(/[^A-Za-z0-9_.-]+/g, '-')}`
