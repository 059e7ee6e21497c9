/** Extracts the text layer of a PDF, page by page. Nothing in it is executed, and nothing that it references is fetched. */
import { getDocumentProxy } from 'unpdf'

import { cutText } from '../text/cut-text.ts'
import { visibleText } from '../text/visible-text.ts'
import type { PageText } from './html-to-markdown.ts'

export interface PdfLimits {
  readonly maxPages: number
  readonly maxCharacters: number
}

export interface PdfText extends PageText {
  readonly pages: number
}

/** `cut` is true if there are more pages or more text. Throws the errors of pdf.js: a `PasswordException` for an encrypted PDF. */
export const pdfToText = async (bytes: Uint8Array, { maxPages, maxCharacters }: PdfLimits): Promise<PdfText> => {
  const document = await getDocumentProxy(bytes, { isEvalSupported: false, disableFontFace: true, stopAtErrors: false, verbosity: 0 })
  const pages: string[] = []
  let length = 0
  for (let number = 1; number <= Math.min(document.numPages, maxPages) && length <= maxCharacters; number += 1) {
    const page = await document.getPage(number)
    const { items } = await page.getTextContent()
    const said = visibleText(items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('')).trim()
    page.cleanup()
    if (said !== '') pages.push(said)
    length += said.length + PAGE_BREAK.length
  }
  const text = pages.join(PAGE_BREAK)
  return {
    title: await titleOf(document),
    text: cutText(text, maxCharacters),
    cut: document.numPages > maxPages || text.length > maxCharacters,
    pages: document.numPages,
  }
}

const PAGE_BREAK = '\n\n'
const TITLE_MAX = 300

const titleOf = async (document: Awaited<ReturnType<typeof getDocumentProxy>>): Promise<string | null> => {
  const { info } = await document.getMetadata()
  const title = 'Title' in info && typeof info.Title === 'string' ? cutText(visibleText(info.Title).trim(), TITLE_MAX) : ''
  return title === '' ? null : title
}
