/** The messages to the process that reads a document, and its answers; both are JSON. */
import type { PageText } from './html-to-markdown.ts'

export type DocumentJob =
  | { readonly kind: 'html'; readonly url: string; readonly charset: string | null; readonly maxCharacters: number }
  | { readonly kind: 'pdf'; readonly maxPages: number; readonly maxCharacters: number }

/** In this answer, the faults `encrypted` and `broken` occur only with PDFs. */
export type DocumentAnswer =
  | (PageText & { readonly fault: null; /** Only for a PDF. */ readonly pages?: number })
  | { readonly fault: 'encrypted' | 'broken' }
