/** Plain HTTP requests to a started service: paths and bodies are sent exactly as given. */
import { connect } from 'node:net'

import type { StartedService } from './started-service.ts'

interface PresetVersionWire {
  readonly id: string
  readonly preset_id: string
  readonly version: number
  readonly config: Readonly<Record<string, unknown>>
  readonly system_prompt: string | null
  readonly creator_id: string
  readonly created_at: string
  readonly updated_at: string
}

export interface PresetWire {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly description: string | null
  readonly status: string
  readonly status_updated_at: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly creator_user_id: string
  readonly workspace_id: string
  readonly designated_version_id: string
  readonly designated_version: PresetVersionWire
  readonly labels: Readonly<Record<string, number>>
}

export interface ErrorWire {
  readonly code: number
  readonly message: string
  readonly metadata: Readonly<Record<string, unknown>>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: unknown
  /** The body of a response `{data: …}`. */
  readonly preset: PresetWire
  readonly presets: readonly PresetWire[]
  readonly versions: readonly PresetVersionWire[]
  /** The body of a response `{error: …}`. */
  readonly error: ErrorWire
}

export interface CallOptions {
  /** The API key; null sends none. Defaults to the management key. */
  readonly key?: string | null
  /** An object is sent as JSON, a string unchanged. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** The facts of a service that a call needs. */
export type Callee = Pick<StartedService, 'api' | 'managementKey' | 'inferenceKey'>

/** `path` is below /api/v1. */
export const call = async (service: Callee, method: string, path: string, options: CallOptions = {}): Promise<Answer> => {
  const { key = service.managementKey, body, headers = {}, signal } = options
  const response = await fetch(service.api + path, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  })
  return answerOf(response.status, response.headers, await response.text())
}

/** The routes of the three interfaces. */
export const PATHS = { chat: '/chat/completions', responses: '/responses', messages: '/messages' } as const
export type Dialect = keyof typeof PATHS
export const DIALECTS: readonly Dialect[] = ['chat', 'responses', 'messages']

/** A conversation as the interface has it, with the limit of the answer that Messages requires. A text is one message of the user. */
export const conversationOf = (dialect: Dialect, said: string | readonly unknown[]): Readonly<Record<string, unknown>> => ({
  [dialect === 'responses' ? 'input' : 'messages']:
    typeof said === 'string' && dialect !== 'responses' ? [{ role: 'user', content: said }] : said,
  ...(dialect === 'messages' ? { max_tokens: 500 } : {}),
})

/** A call with the inference key, to chat completions by default. */
export const infer = (
  service: Callee,
  body: Readonly<Record<string, unknown>> | string,
  { path = '/chat/completions', ...options }: CallOptions & { readonly path?: string } = {},
): Promise<Answer> => call(service, 'POST', path, { key: service.inferenceKey, body, ...options })

export const savePreset = (service: Callee, slug: string, body: unknown, shape = 'responses'): Promise<Answer> =>
  call(service, 'POST', `/presets/${slug}/${shape}`, { body })

/** Creates a key of a caller: an inference key, unless `body` says otherwise. */
export const createKey = async (service: Callee, body: object): Promise<KeyWire> => {
  const { status, text, json } = await call(service, 'POST', '/keys', { body })
  if (status !== 201) throw new Error(`No key was made: ${text}`)
  return json as KeyWire
}

export interface KeyWire {
  readonly key: string
  readonly data: { readonly hash: string }
}

/** The record of an answer. It can be read as soon as the answer has ended. */
export const recordOf = async (service: Callee, { headers }: Answer): Promise<Readonly<Record<string, unknown>>> => {
  const { json } = await call(service, 'GET', `/generation?id=${headers.get('x-generation-id')}`)
  return (json as { data: Readonly<Record<string, unknown>> }).data
}

/** Sends a request target without any URL parsing: dots and percent signs arrive as they are written. */
export const callRaw = (service: StartedService, method: string, target: string, body: unknown): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port, host } = new URL(service.url)
    const text = JSON.stringify(body)
    const socket = connect(Number(port), hostname)
    let received = ''
    socket.setEncoding('utf8')
    socket.on('data', (piece: string) => (received += piece))
    socket.once('error', reject)
    socket.once('close', () => {
      const [head = '', ...rest] = received.split('\r\n\r\n')
      resolve(answerOf(Number(head.split(' ')[1]), new Headers(), rest.join('\r\n\r\n')))
    })
    socket.write(
      `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${service.managementKey}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
    )
  })

const answerOf = (status: number, headers: Headers, text: string): Answer => {
  const body = text.startsWith('{') ? (JSON.parse(text) as { readonly data?: unknown; readonly error?: unknown }) : {}
  return {
    status,
    headers,
    text,
    json: body,
    preset: body.data as PresetWire,
    presets: body.data as readonly PresetWire[],
    versions: body.data as readonly PresetVersionWire[],
    error: body.error as ErrorWire,
  }
}

/** The data of every event of a stream except its end marker. */
export const streamChunks = (text: string): readonly StreamChunkWire[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice(6)) as StreamChunkWire)

export interface StreamChunkWire {
  readonly id: string
  readonly created: number
  readonly model: string
  readonly choices: readonly {
    readonly delta: { readonly content?: string | null }
    readonly finish_reason: string | null
  }[]
  readonly error?: ErrorWire
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number }
}
