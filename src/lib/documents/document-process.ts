/**
 * A process that reads one document and ends: its bytes come in, its text goes out. It has no environment and no work beside,
 * so that a document which takes all its time or memory, or finds a hole in a parser, is alone with itself.
 */
import { existsSync, writeFileSync } from 'node:fs'

import { bytesToText } from './bytes-to-text.ts'
import type { DocumentAnswer, DocumentJob } from './document-job.ts'

const readInput = async (): Promise<Uint8Array> => {
  const pieces: Buffer[] = []
  for await (const piece of process.stdin as AsyncIterable<Buffer>) pieces.push(piece)
  // A copy of its own: pdf.js takes the memory over.
  return new Uint8Array(Buffer.concat(pieces))
}

const answer = async (job: DocumentJob, bytes: Uint8Array): Promise<DocumentAnswer> => {
  if (job.kind === 'html') {
    const { htmlToMarkdown } = await import('./html-to-markdown.ts')
    return { fault: null, ...htmlToMarkdown(bytesToText(bytes, job.charset), job) }
  }
  const { pdfToText } = await import('./pdf-to-text.ts')
  try {
    return { fault: null, ...(await pdfToText(bytes, job)) }
  } catch (thrown) {
    return { fault: thrown instanceof Error && thrown.name === 'PasswordException' ? 'encrypted' : 'broken' }
  }
}

const main = async (): Promise<void> => {
  // Where the machine runs out of memory, this process is the first to go.
  if (existsSync(OOM_SCORE)) writeFileSync(OOM_SCORE, '1000')
  const job = JSON.parse(process.argv[2] ?? '') as DocumentJob
  const said = JSON.stringify(await answer(job, await readInput()))
  process.stdout.write(said, () => process.exit(0))
}

const OOM_SCORE = '/proc/self/oom_score_adj'

void main()
