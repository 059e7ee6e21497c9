/**
 * Reads the events of a command as OpenSandbox's `execd` streams them: one JSON object per line, with or without a leading
 * `data:`. Output arrives line by line, without line ends.
 */
import { z } from 'zod'

import { cutText } from '../../lib/text/cut-text.ts'
import { objectIn } from '../../lib/json/json.ts'
import { KeptOutput } from './kept-output.ts'

export interface CommandEvents {
  readonly stdout: string
  readonly stderr: string
  /** Null if the command has not ended or its exit code is unknown. */
  readonly exitCode: number | null
  /** Why it could not be run; null if it ran. */
  readonly fault: string | null
}

const event = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  error: z.looseObject({ ename: z.string().optional(), evalue: z.string().optional() }).optional(),
})

/**
 * Keeps the first `bytes` of each output and drops the rest. `onBegun` is called with the command's id. Rejects if the stream
 * breaks off before the signal.
 */
export const readCommandEvents = async (
  stream: AsyncIterable<Buffer>,
  bytes: number,
  onBegun: (id: string) => void,
  signal: AbortSignal,
): Promise<CommandEvents> => {
  const outputs = { stdout: new KeptOutput(bytes), stderr: new KeptOutput(bytes) }
  let exitCode: number | null = null
  let fault: string | null = null
  const take = (line: string): void => {
    const read = event.safeParse(objectIn(line.replace(/^data: ?/, '')))
    if (!read.success) return
    const { type, text = '', error } = read.data
    if (type === 'init') onBegun(text)
    else if (type === 'stdout' || type === 'stderr') outputs[type].add(Buffer.from(text.endsWith('\n') ? text : `${text}\n`))
    else if (type === 'execution_complete') exitCode = 0
    else if (type === 'error') {
      const code = /^-?\d{1,9}$/.test(error?.evalue ?? '') ? Number(error?.evalue) : null
      exitCode = code
      if (code === null) fault = cutText(error?.evalue ?? error?.ename ?? '', 200)
    }
  }
  const lines = new Lines(take)
  try {
    for await (const piece of stream) lines.push(piece)
    lines.end()
  } catch (thrown) {
    if (!signal.aborted) throw thrown
  }
  return { stdout: outputs.stdout.text, stderr: outputs.stderr.text, exitCode, fault }
}

/** Only the beginning of a longer line of output is returned. */
const LINE_MAX_BYTES = 1024 * 1024

class Lines {
  readonly #take: (line: string) => void
  #pieces: Buffer[] = []
  #length = 0

  constructor(take: (line: string) => void) {
    this.#take = take
  }

  push(bytes: Buffer): void {
    let from = 0
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      this.#add(bytes.subarray(from, at))
      this.end()
      from = at + 1
    }
    this.#add(bytes.subarray(from))
  }

  end(): void {
    const line = Buffer.concat(this.#pieces).toString().trim()
    if (line !== '') this.#take(this.#length > LINE_MAX_BYTES ? beginningOf(line) : line)
    this.#pieces = []
    this.#length = 0
  }

  #add(piece: Buffer): void {
    if (piece.length > 0 && this.#length <= LINE_MAX_BYTES) this.#pieces.push(piece.subarray(0, LINE_MAX_BYTES - this.#length))
    this.#length += piece.length
  }
}

const NEWLINE = 10

/** Returns the event of a line that was cut within its text. */
const beginningOf = (line: string): string => {
  const [whole] = /^(?:data: ?)?\{"type":"std(?:out|err)","text":"(?:[^"\\]|\\[^u]|\\u[0-9a-fA-F]{4})*/.exec(line) ?? []
  return whole === undefined ? '' : `${whole}"}`
}
