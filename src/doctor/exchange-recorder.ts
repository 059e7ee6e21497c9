/**
 * Stores what was sent to a provider and what came back as files: the answer in the form of test/fixtures/recorded, which the conformance
 * tests replay, and the request beside it. Credentials are removed from both.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { parseExact } from '../lib/json/exact-json.ts'
import { SseDecoder } from '../lib/network/sse.ts'
import { replaceFile } from '../lib/replace-file.ts'
import { atOnce } from '../lib/steps.ts'
import { redactBody } from '../providers/redaction/redact-body.ts'
import { redact } from '../providers/redaction/redact.ts'
import { openEventStream } from '../providers/bedrock/event-stream.ts'
import type { PieceReader } from '../providers/transport/piece-reader.ts'
import type { UpstreamResponse } from '../providers/transport/upstream-response.ts'
import { bodyText, type Upstream } from '../providers/transport/upstream.ts'

export interface ExchangeRecorder {
  /** The same upstream, except that its next exchange is recorded. */
  readonly upstream: Upstream
  /** Writes the exchange, if there was one; returns the paths. `apiKey` must not appear in the files. */
  write(directory: string, dialect: string, name: string, apiKey: string | null): Promise<readonly string[]>
}

export const recordingExchange = (upstream: Upstream): ExchangeRecorder => {
  let request = ''
  const received: Uint8Array[] = []
  let type = ''
  return {
    upstream: {
      async post(posted) {
        request = bodyText(posted.body)
        const response = await upstream.post(posted)
        type = response.headers.get('content-type') ?? ''
        return kept(response, received)
      },
    },
    async write(directory, dialect, name, apiKey) {
      if (request === '') return []
      const bytes = Buffer.concat(received)
      const streamed = !/json/i.test(type)
      const shown = (text: string): string => redact(text, { apiKey })
      const files: readonly (readonly [string, string])[] = [
        [
          join(dialect, `${name}.${streamed ? 'chunks.txt' : 'json'}`),
          streamed ? await payloadLines(bytes, type, shown) : `${shown(bytes.toString())}\n`,
        ],
        [join('requests', dialect, `${name}.json`), `${atOnce(redactBody(request))}\n`],
      ]
      return files.map(([file, text]) => {
        const path = join(directory, file)
        mkdirSync(join(path, '..'), { recursive: true })
        replaceFile(path, text)
        return path
      })
    },
  }
}

/** The same response, whose body is recorded as it is read. */
const kept = (response: UpstreamResponse, received: Uint8Array[]): UpstreamResponse => {
  const keepText = (text: string): string => {
    received.push(Buffer.from(text))
    return text
  }
  return {
    ...response,
    pieces(): PieceReader {
      const pieces = response.pieces()
      return {
        async next() {
          const piece = await pieces.next()
          if (piece !== null) received.push(piece.slice())
          return piece
        },
        close: pieces.close,
      }
    },
    text: async (maxBytes) => keepText(await response.text(maxBytes)),
    beginning: async (maxBytes) => keepText(await response.beginning(maxBytes)),
  }
}

/** One JSON payload per line. */
const payloadLines = async (bytes: Buffer, type: string, shown: (text: string) => string): Promise<string> => {
  const payloads: string[] = []
  if (/amazon\.eventstream/i.test(type)) {
    const stream = await openEventStream()
    for (const { name, text } of stream.read(bytes)) payloads.push(JSON.stringify({ [name]: parseExact(text) }))
  } else {
    const sse = new SseDecoder()
    const events = sse.push(bytes)
    const last = sse.end()
    for (const { data } of last === null ? events : [...events, last]) if (data !== '[DONE]') payloads.push(data)
  }
  return payloads.map((payload) => `${shown(payload)}\n`).join('')
}
