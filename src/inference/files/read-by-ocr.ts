/**
 * Reads PDFs, including pictures of pages, by Mistral's OCR with a key of the operator's (docs/plugins.md). The file is sent to Mistral
 * before guardrails see its text, and only if the client names this engine.
 */
import { z } from 'zod'

import { cutText } from '../../lib/text/cut-text.ts'
import type { Clock } from '../../lib/clock.ts'
import { objectIn } from '../../lib/json/json.ts'
import type { PluginSettings } from '../../plugins/settings.ts'
import { createSafeFetch, UnsafeRequest } from '../../providers/transport/safe-fetch.ts'

/** The text of a PDF, with its number of pages. Throws OcrFailure. */
export type ReadByOcr = (pdf: Buffer) => Promise<{ readonly text: string; readonly pages: number }>

/** The message is shown to the client. */
export class OcrFailure extends Error {
  override readonly name = 'OcrFailure'
  /** True if the file is at fault rather than the engine. */
  readonly isFiles: boolean

  constructor(message: string, isFiles: boolean, options?: ErrorOptions) {
    super(message, options)
    this.isFiles = isFiles
  }
}

/** Docs: https://docs.mistral.ai/api/endpoint/ocr */
const answered = z.looseObject({ pages: z.array(z.looseObject({ markdown: z.string() })) })

/** Null if no key is configured. */
export const createReadByOcr = ({ mistral_key: key, mistral_url: url }: PluginSettings['file_parser'], clock: Clock): ReadByOcr | null => {
  if (key === undefined) return null
  const safeFetch = createSafeFetch({ clock, trustedHosts: [new URL(url).host], trustedBy: 'plugins.file_parser.mistral_url' })
  return async (pdf) => {
    const answer = await safeFetch({
      url,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({
        model: 'mistral-ocr-latest',
        document: { type: 'document_url', document_url: `data:application/pdf;base64,${pdf.toString('base64')}` },
        include_image_base64: false,
      }),
      timeoutMs: OCR_MS,
      maxBytes: ANSWER_MAX_BYTES,
      redirects: 0,
    }).catch((thrown: unknown) => {
      if (thrown instanceof UnsafeRequest) throw new OcrFailure('the OCR engine did not answer.', false, { cause: thrown })
      throw thrown
    })
    // The request is well formed, so these statuses are about the document.
    if (answer.status === 400 || answer.status === 422) throw new OcrFailure('the OCR engine cannot read the PDF.', true)
    if (answer.status !== 200) throw new OcrFailure(`the OCR engine answered ${answer.status}.`, false)
    const read = answered.safeParse(objectIn(answer.text))
    if (!read.success) throw new OcrFailure('the OCR engine gave an answer that cannot be read.', false)
    const { pages } = read.data
    return {
      text: cutText(pages.map(({ markdown }) => markdown).join('\n\n'), TEXT_MAX),
      pages: pages.length,
    }
  }
}

const OCR_MS = 120_000
const ANSWER_MAX_BYTES = 32 * 1024 * 1024
const TEXT_MAX = 4_000_000
