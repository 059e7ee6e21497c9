/** The messages to the process of a document, and its answers: both as JSON. */
import type { PageText } from './html-to-markdown.ts'

export type DocumentJob =
  | { readonly kind: 'html'; readonly url: string; readonly charset: string | null; readonly maxCharacters: number }
  | { readonly kind: 'pdf'; readonly maxPages: number; readonly maxCharacters: number }

/** `encrypted` and `broken` are said of PDFs. */
export type DocumentAnswer =
  | (PageText & { readonly fault: null; /** A fault of a PDF. */ readonly pages?: number })
  | { readonly fault: 'encrypted' | 'broken' }
