/** Receives traces over a real socket, and responds as a test says. */
import { createServer, type ServerResponse } from 'node:http'
import { gunzipSync } from 'node:zlib'

import { listenForTests } from './listen.ts'

export interface Delivered {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The body, decompressed. */
  readonly text: string
}

/** Says whether it is the connection test of a destination that is being saved. */
export const isTrial = ({ headers }: Delivered): boolean => headers['x-test-connection'] === 'true'

export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status?: { readonly code?: number; readonly message?: string }
  readonly attributes: Readonly<Record<string, unknown>>
}

interface WireSpan extends Omit<ReceivedSpan, 'attributes'> {
  readonly attributes?: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
}

export interface TraceReceiver {
  readonly url: string
  readonly host: string
  readonly received: Delivered[]
  /** Sets how every request from now on is answered. */
  answer(how: (response: ServerResponse, request: Delivered) => void): void
  /** All spans received so far, in order. */
  spans(): readonly ReceivedSpan[]
}

export const startTraceReceiver = async (): Promise<TraceReceiver> => {
  const received: Delivered[] = []
  let how: (response: ServerResponse, request: Delivered) => void = (response) => response.end('{}')
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const bytes = Buffer.concat(pieces)
      const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString()
      const one = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, text }
      received.push(one)
      how(response, one)
    })
  })
  const host = `127.0.0.1:${await listenForTests(server)}`
  return {
    url: `http://${host}`,
    host,
    received,
    answer: (next) => void (how = next),
    spans: () => received.filter((one) => !isTrial(one)).flatMap(({ text }) => spansIn(text)),
  }
}

const spansIn = (text: string): readonly ReceivedSpan[] => {
  const { resourceSpans = [] } = JSON.parse(text) as { resourceSpans?: { scopeSpans: { spans: WireSpan[] }[] }[] }
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .map((span) => ({
      ...span,
      attributes: Object.fromEntries((span.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]])),
    }))
}
