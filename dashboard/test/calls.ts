/** The API as programs call it, besides the page. */
import { setTimeout as delay } from 'node:timers/promises'

import type { RunningService } from '../../test/support/started-service.ts'

interface Call {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export const callAs =
  (key: string) =>
  async (url: string, { method, body, headers = {} }: Call, signal: AbortSignal | null = null): Promise<Response> =>
    fetch(url, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
    })

/** The JSON of a management operation. Throws if the response is not 2xx. */
export const manage = async <Answer>(service: RunningService, path: string, call: Call = {}): Promise<Answer> => {
  const response = await untilAnswered(() => callAs(service.managementKey)(service.api + path, call))
  if (!response.ok) throw new Error(`${response.status} of ${path}: ${await response.text()}`)
  return (await response.json()) as Answer
}

const ATTEMPTS = 20

/** On a busy machine the service may put a read off, and says when to ask again. */
const untilAnswered = async (ask: () => Promise<Response>): Promise<Response> => {
  for (let attempt = 1; ; attempt += 1) {
    const response = await ask()
    const seconds = Number(response.headers.get('retry-after'))
    if (response.status !== 503 || seconds === 0 || attempt === ATTEMPTS) return response
    await response.text()
    await delay(seconds * 1000)
  }
}

/** Sends a chat request and reads it to the end; returns its id and text. */
export const chat = async (
  service: RunningService,
  body: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly id: string; readonly preset: string | null; readonly text: string }> => {
  const response = await callAs(service.inferenceKey)(`${service.api}/chat/completions`, {
    body: { messages: [{ role: 'user', content: 'Where is my parcel?' }], ...body },
    headers,
  })
  return { id: response.headers.get('x-generation-id') ?? '', preset: response.headers.get('x-preset'), text: await response.text() }
}

/** Saves a live preset with the Chat Completions interface. */
export const savePreset = (
  service: RunningService,
  slug: string,
  system: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> =>
  manage(service, `/presets/${encodeURIComponent(slug)}/chat/completions`, {
    body: { model: 'sandbox/echo', messages: [{ role: 'system', content: system }] },
    headers,
  })
