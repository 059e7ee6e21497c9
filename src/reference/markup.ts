/** HTML that is safe by construction: text becomes markup only through `html`, which escapes it. */

export interface Markup {
  readonly markup: string
}

type Part = string | number | Markup | null | readonly Part[]

/** A template whose values are escaped; Markup and lists of it stand as they are, null is nothing. */
export const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Markup => {
  const [first = '', ...rest] = compact(texts)
  return { markup: rest.reduce((whole, text, position) => whole + renderPart(parts[position] ?? null) + text, first) }
}

const compacted = new WeakMap<TemplateStringsArray, readonly string[]>()

/** The texts of a template without the indentation that they have in the source; each template is seen to once. */
const compact = (texts: TemplateStringsArray): readonly string[] => {
  const known = compacted.get(texts)
  if (known !== undefined) return known
  const made = texts.map((text) => text.replace(/\n\s*/g, '\n'))
  compacted.set(texts, made)
  return made
}

const renderPart = (part: Part): string => {
  if (part === null) return ''
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part))
  if (isList(part)) return part.map(renderPart).join('')
  return part.markup
}

const isList = (part: Markup | readonly Part[]): part is readonly Part[] => Array.isArray(part)

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')

/** Parts with a separator between them. */
export const joined = (parts: readonly Part[], separator: string): Markup =>
  html`${parts.map((part, position) => (position === 0 ? part : html`${separator}${part}`))}`

/** Text for people: blank lines part paragraphs, backticks mark code. Nothing else of Markdown. */
export const prose = (text: string): Markup =>
  html`${text
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => html`<p>${inline(paragraph)}</p>`)}`

const inline = (text: string): Markup[] =>
  text.split('`').map((piece, position) => (position % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`))

/** An id or the target of a link within the page: from any name, only what is safe in both places. */
export const anchor = (kind: string, name: string): string => `${kind}-${name.replace(/[^A-Za-z0-9_.-]+/g, '-')}`
