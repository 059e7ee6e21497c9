/**
 * A process that reads one document and ends: the bytes come in, the text goes out. It has no environment and no other work, so that a
 * document that takes all its time or memory, or exploits a hole in a parser, harms nothing else.
 */
import { existsSync, writeFileSync } from 'node:fs'

import { bytesToText } from './bytes-to-text.ts'
import type { DocumentAnswer, DocumentJob } from './document-job.ts'

const readInput = async (): Promise<Uint8Array> => {
  const pieces: Buffer[] = []
  for await (const piece of process.stdin as AsyncIterable<Buffer>) pieces.push(piece)
  // A copy, because pdf.js takes ownership of the memory.
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
  // If the machine runs out of memory, this process is killed first.
  if (existsSync(OOM_SCORE)) writeFileSync(OOM_SCORE, '1000')
  const job = JSON.parse(process.argv[2] ?? '') as DocumentJob
  const said = JSON.stringify(await answer(job, await readInput()))
  process.stdout.write(said, () => process.exit(0))
}

const OOM_SCORE = '/proc/self/oom_score_adj'

void main()
