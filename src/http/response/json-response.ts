import { writeInSteps } from '../../lib/json/json-steps.ts'
import { throughout, type Turn } from '../../lib/steps.ts'

export const jsonResponse = (body: unknown, init: { status?: number; headers?: Record<string, string> } = {}): Response =>
  jsonText(JSON.stringify(body), init)

/** Answers in JSON that is written in steps, because it may be megabytes long. */
export const jsonInTurns = async (
  body: unknown,
  turn: Turn,
  init: { status?: number; headers?: Record<string, string> } = {},
): Promise<Response> => jsonText(await throughout(writeInSteps(body), turn), init)

export const jsonText = (
  text: string,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Response => answerOf([text], { status, headers: { ...JSON_TYPE, ...headers } })

/** A list whose elements are written one by one and never joined: they may be hundreds of megabytes. */
export const jsonListInTurns = async (
  { items, totalCount }: { readonly items: AsyncIterable<unknown>; readonly totalCount: number },
  turn: Turn,
): Promise<Response> => {
  const pieces: string[] = []
  for await (const item of items) {
    pieces.push(pieces.length === 0 ? '{"data":[' : ',', await throughout(writeInSteps(item), turn))
    await turn()
  }
  pieces.push(`${pieces.length === 0 ? '{"data":[' : ''}],"total_count":${totalCount}}`)
  return answerOf(pieces, { headers: JSON_TYPE })
}

/** A text of many lines, which are never joined. */
export const linesInTurns = async (lines: Iterable<string>, headers: Record<string, string>, turn: Turn): Promise<Response> => {
  const pieces: string[] = []
  for (const line of lines) {
    pieces.push(line)
    const waiting = turn()
    if (waiting !== undefined) await waiting
  }
  return answerOf(pieces, { headers })
}

const answerOf = (pieces: readonly string[], init: ResponseInit): Response =>
  pieces.reduce((length, piece) => length + piece.length, 0) > LONG ? new LongAnswer(pieces, init) : new Response(pieces.join(''), init)

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

/** About as many characters as a socket takes at once. */
const LONG = 64 * 1024

/** An answer whose text counts as memory until its client has read it. */
export class LongAnswer extends Response {
  readonly pieces: readonly string[]
  constructor(pieces: readonly string[], init: ResponseInit) {
    super(pieces.length === 1 ? pieces[0] : streamOf(pieces), init)
    this.pieces = pieces
  }
}

const streamOf = (pieces: readonly string[]): ReadableStream<Uint8Array> => {
  let next = 0
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode(pieces[next]))
      next += 1
      if (next === pieces.length) controller.close()
    },
  })
}
