/** Recorded provider replies from test/fixtures, and their bytes on the wire. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { bytesOf, event, exception } from '../../src/providers/bedrock/event-stream.test-kit.ts'

/** The dialects that stream server-sent events; Bedrock's streams have another framing. */
export const SSE_DIALECTS = ['openai-chat', 'openai-responses', 'anthropic', 'google'] as const
export type SseDialect = (typeof SSE_DIALECTS)[number]
export const UPSTREAM_DIALECTS = [...SSE_DIALECTS, 'bedrock'] as const
export type UpstreamDialect = (typeof UPSTREAM_DIALECTS)[number]

export interface Recording {
  readonly dialect: UpstreamDialect
  /** The name of the recording's file: `openai-text`. */
  readonly name: string
  readonly stream: boolean
  /** JSON payloads: the events of a stream, or the one body. */
  readonly payloads: readonly string[]
  /** The reply's body. */
  readonly bytes: Uint8Array
}

const FIXTURES = join(import.meta.dir, '../fixtures')
const encoder = new TextEncoder()

/** Error bodies are no answers; separate tests read them. */
const ERROR_BODIES: ReadonlySet<string> = new Set(['google-429-retry-info.json', 'openai-error.1.json'])

export const recordingsOf = (dialect: UpstreamDialect): Recording[] =>
  ['recorded', 'written'].flatMap((kind) => {
    const folder = join(FIXTURES, kind, dialect)
    return readdirSync(folder)
      .filter((file) => !ERROR_BODIES.has(file))
      .toSorted()
      .flatMap((file) => readRecordings(dialect, folder, file))
  })

/** Says whether the recording ends in a failure. */
export const fails = ({ name }: Recording): boolean => name.includes('error')

/** A file may hold the streams of several turns, one after the other. */
const readRecordings = (dialect: UpstreamDialect, folder: string, file: string): Recording[] => {
  const text = readFileSync(join(folder, file), 'utf8')
  const name = file.replace(/\.(?:chunks\.txt|json)$/, '')
  if (!file.endsWith('.chunks.txt')) return [{ dialect, name, stream: false, payloads: [text], bytes: encoder.encode(text) }]
  const turns: string[][] = []
  for (const line of text.split('\n').filter((each) => each !== '')) {
    if (turns.length === 0 || line.startsWith('{"type":"response.created"')) turns.push([])
    turns.at(-1)?.push(line)
  }
  return turns.map((payloads, turn) => ({
    dialect,
    name: turn === 0 ? name : `${name}-turn-${turn + 1}`,
    stream: true,
    payloads,
    bytes: streamBytes(dialect, payloads),
  }))
}

/**
 * The faults that readStream reports for recordings that were shortened by hand before publication, since the gateway relays them
 * unchanged.
 */
export const ownFaults = ({ dialect, name }: Recording): RegExp => (dialect === 'openai-responses' ? SHORTENED[name] : undefined) ?? /^$/

const SHORTENED: Readonly<Record<string, RegExp>> = {
  'openai-phase.1': /sequence_number|_text\.done|content_part\.done|output differs|item 2, not 1/,
  'openai-reasoning-encrypted-content.1': /output differs from the items done/,
}

/** One event for each payload, framed and ended as the dialect does it. `begun`: leaves out the end marker. */
export const streamBytes = (dialect: UpstreamDialect, payloads: readonly string[], begun = false): Uint8Array => {
  if (dialect === 'bedrock') return bytesOf(payloads.map(converseMessage))
  const text = streamText(dialect, payloads)
  return encoder.encode(begun ? text.replace(/data: \[DONE\]\n\n$/, '') : text)
}

const converseMessage = (line: string): Uint8Array => {
  const [[name, payload] = ['', {}]] = Object.entries(JSON.parse(line) as Record<string, object>)
  return name.endsWith('Exception') ? exception(name, payload) : event(name, payload)
}

export const streamText = (dialect: SseDialect, payloads: readonly string[]): string => {
  const frames = payloads.map((payload) => FRAME[dialect](payload)).join('')
  return dialect === 'openai-chat' ? `${frames}data: [DONE]\n\n` : frames
}

const named = (payload: string): string => `event: ${String((JSON.parse(payload) as { type: unknown }).type)}\ndata: ${payload}\n\n`

const FRAME: Readonly<Record<SseDialect, (payload: string) => string>> = {
  'openai-chat': (payload) => `data: ${payload}\n\n`,
  'openai-responses': named,
  anthropic: named,
  google: (payload) => `data: ${payload}\r\n\r\n`,
}

export const ALL_RECORDINGS: readonly Recording[] = UPSTREAM_DIALECTS.flatMap(recordingsOf)

export const recording = (dialect: UpstreamDialect, name: string, stream: boolean): Recording => {
  const found = ALL_RECORDINGS.find((each) => each.dialect === dialect && each.name === name && each.stream === stream)
  if (found === undefined) throw new Error(`There is no ${stream ? 'stream' : 'body'} ${dialect}/${name}.`)
  return found
}
