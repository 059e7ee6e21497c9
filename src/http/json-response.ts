/** Answers in JSON. */
export const jsonResponse = (body: unknown, init: { status?: number; headers?: Record<string, string> } = {}): Response =>
  jsonText(JSON.stringify(body), init)

export const jsonText = (
  text: string,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Response => {
  const init = { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers } }
  return text.length > LONG ? new LongAnswer(text, init) : new Response(text, init)
}

/** About as many characters as a socket takes at once. */
const LONG = 64 * 1024

/** An answer whose text counts as memory until its client has read it. */
export class LongAnswer extends Response {
  readonly whole: string
  constructor(whole: string, init: ResponseInit) {
    super(whole, init)
    this.whole = whole
  }
}
