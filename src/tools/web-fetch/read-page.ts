/** Extracts the text of a page by its type: HTML pages and PDFs are read in a separate process, text directly. */
import type { ServerToolFault } from '../../canonical/server-tools.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import { bytesToText } from '../../lib/documents/bytes-to-text.ts'
import type { PageText } from '../../lib/documents/html-to-markdown.ts'
import type { ReadDocument } from '../../lib/documents/read-document.ts'
import { visibleText } from '../../lib/text/visible-text.ts'
import type { SafeResponse } from '../../providers/transport/safe-fetch.ts'
import { plainText } from '../outside-text.ts'
import { NoPage } from './fetch-page.ts'

export interface ReadPageLimits {
  readonly maxCharacters: number
  /** The workspace that the page is read for. */
  readonly holder: string
  readonly signal: AbortSignal
}

/** Throws NoPage. */
export type ReadPage = (page: SafeResponse, limits: ReadPageLimits) => Promise<PageText>

const READ_MS = 10_000
const PAGES_MAX = 100
/** The maximum number of bytes per UTF-8 character. */
const BYTES_PER_CHARACTER = 4

export const createReadPage =
  (readDocument: ReadDocument): ReadPage =>
  async ({ bytes, contentType, url }, { maxCharacters, holder, signal }) => {
    const type = contentType === null ? sniffed(bytes) : (contentType.split(';')[0] ?? '').trim().toLowerCase()
    const charset = /;\s*charset\s*=\s*"?([\w-]{1,40})/i.exec(contentType ?? '')?.[1] ?? null
    const kind = kindOf(type)
    if (kind === null) throw new NoPage('unsupported_content_type', `Pages of type ${cutText(type, 100) || '(none)'} cannot be read.`)
    if (kind === 'text') {
      const shown = COMMENTED.test(type) ? plainText : visibleText
      const text = shown(bytesToText(bytes.subarray(0, maxCharacters * BYTES_PER_CHARACTER), charset))
      return {
        title: null,
        text: cutText(text, maxCharacters),
        cut: text.length > maxCharacters || bytes.length > maxCharacters * BYTES_PER_CHARACTER,
      }
    }
    const limits = { timeoutMs: READ_MS, holder, signal }
    const read =
      kind === 'pdf'
        ? await readDocument({ kind, maxPages: PAGES_MAX, maxCharacters }, bytes, limits)
        : await readDocument({ kind, url, charset, maxCharacters }, bytes, limits)
    if (read.fault !== null) throw new NoPage(...FAULTS[read.fault])
    return read.text === '' ? { ...read, text: kind === 'pdf' ? WITHOUT_LAYER : WITHOUT_TEXT } : read
  }

const FAULTS: Readonly<Record<'encrypted' | 'broken' | 'too_slow' | 'too_large', readonly [ServerToolFault, string]>> = {
  encrypted: ['unsupported_content_type', 'The PDF is encrypted.'],
  broken: ['unsupported_content_type', 'The document is broken and cannot be read.'],
  too_slow: ['content_too_large', 'The document takes too long to read.'],
  too_large: ['content_too_large', 'The document takes too much memory to read.'],
}

const WITHOUT_TEXT = '(The page has no text of its own. It may need JavaScript, which is not run.)'
const WITHOUT_LAYER = '(The PDF has no text layer: its pages are pictures.)'

const kindOf = (type: string): 'html' | 'pdf' | 'text' | null => {
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html'
  if (type === 'application/pdf' || type === 'application/x-pdf') return 'pdf'
  return TEXT_TYPES.test(type) ? 'text' : null
}

const TEXT_TYPES = /^(?:text\/[\w.+-]+|application\/(?:json|xml|yaml|x-yaml|x-ndjson|ld\+json|(?:[\w.+-]+\+(?:json|xml))))$/

/** Types whose comments are removed from the text. */
const COMMENTED = /markdown|xml$/

/** Detects the type from the first bytes if the host does not state it. */
const sniffed = (bytes: Buffer): string => {
  const head = bytes.subarray(0, 512)
  if (head.subarray(0, 5).toString('latin1') === '%PDF-') return 'application/pdf'
  if (head.includes(0)) return 'application/octet-stream'
  return /^\s*</.test(head.toString('utf8')) ? 'text/html' : 'text/plain'
}
