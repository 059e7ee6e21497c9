/** Answers in JSON. */
export const jsonResponse = (body: unknown, init: { status?: number; headers?: Record<string, string> } = {}): Response =>
  jsonText(JSON.stringify(body), init)

export const jsonText = (
  text: string,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Response => new Response(text, { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers } })
