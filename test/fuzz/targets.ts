/**
 * Every parser that reads what strangers send, with hostile input and what must hold for it. A target throws what breaks its rule;
 * a refusal in the words of the parser is none. `share`: of all inputs of a run.
 */
import { strict as assert } from 'node:assert'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { readConfigFile } from '../../src/config-file.ts'
import { SettingError } from '../../src/config.ts'
import { GatewayError } from '../../src/errors.ts'
import { ArgumentsScan } from '../../src/lib/json/arguments-scan.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { readDataUrl } from '../../src/lib/network/data-url.ts'
import { bytesToText } from '../../src/lib/documents/bytes-to-text.ts'
import { htmlToMarkdown } from '../../src/lib/documents/html-to-markdown.ts'
import { createReadDocument } from '../../src/lib/documents/read-document.ts'
import { createFoldedText } from '../../src/guardrails/folded-text.ts'
import { JsonBody, readJsonObject } from '../../src/lib/json/json-body.ts'
import { JsonTextError } from '../../src/lib/json/json-limits.ts'
import { createSchemaCheck } from '../../src/lib/json/json-schema.ts'
import { editMembers, readMembers } from '../../src/lib/json/json-splice.ts'
import { createFinder, createRegex } from '../../src/lib/regex/finder.ts'
import { RegexRefused } from '../../src/lib/regex/parse.ts'
import { isPublicAddress } from '../../src/lib/network/safe-address.ts'
import { SseDecoder, SseLimitError, type SseEvent } from '../../src/lib/network/sse.ts'
import { EventStreamError, openEventStream, type StreamMessage } from '../../src/providers/bedrock/event-stream.ts'
import { readStream } from '../support/client-stream.ts'
import { pdfOf } from '../support/pdfs.ts'
import { recordingsOf, UPSTREAM_DIALECTS, type UpstreamDialect } from '../support/recordings.ts'
import { question, replay, replayReply } from '../support/replay.ts'
import { mutate, piecesOf, type Random, soup } from './random.ts'

export interface FuzzTarget {
  readonly share: number
  /** Says whether each step has a bound of CPU time: all but what runs in a process of its own, or once at the start. */
  readonly bounded: boolean
  /** Makes an input, and answers with it as text or bytes, and with the step to be measured. */
  prepare(random: Random): { readonly input: string | Uint8Array; readonly step: () => void | Promise<void> }
}

const encoder = new TextEncoder()

const target = <Input extends string | Uint8Array>(
  share: number,
  make: (random: Random) => Input,
  check: (input: Input, random: Random) => void | Promise<void>,
  bounded = true,
): FuzzTarget => ({
  share,
  bounded,
  prepare(random) {
    const input = make(random)
    return { input, step: () => check(input, random) }
  },
})

/** The error with which the parser refuses an input; anything else is a crash. */
const outcome = <Value>(
  read: () => Value,
  refusal: abstract new (...args: never[]) => Error,
): { readonly value: Value } | { readonly refused: string } => {
  try {
    return { value: read() }
  } catch (thrown) {
    if (thrown instanceof refusal) return { refused: thrown.message }
    throw thrown
  }
}

const JSON_WORDS: readonly [string, ...string[]] = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '"a"',
  '"a":',
  '"model":"m"',
  '{"a":',
  '[[',
  ']]',
  '\\',
  '\\u',
  '\\ud83d',
  '\\u0000',
  'null',
  'true',
  'fals',
  '0',
  '-',
  '1e999',
  '12345678901234567890',
  '1.5',
  ' ',
  '\n',
  '\t',
  '\u0000',
  '\ufeff',
  '"__proto__":',
  '😀',
  '\u2028',
  'é',
  '//',
  "'",
]
const jsonText = (random: Random): string => (random.chance(0.5) ? `{"a":${soup(random, JSON_WORDS)}}` : soup(random, JSON_WORDS))

const jsonBody = target(0.25, jsonText, (text) => {
  const whole = outcome(() => JsonBody.read(text), JsonTextError)
  // A text with half a character has no bytes that mean it.
  if (text.isWellFormed()) {
    const octets = outcome(() => JsonBody.ofBytes(encoder.encode(text)), JsonTextError)
    assert.equal('value' in octets, 'value' in whole)
    if ('value' in octets && 'value' in whole) assert.deepEqual(octets.value.keys, whole.value.keys)
  }
  if (!('value' in whole)) return
  const parsed = JSON.parse(text) as Record<string, unknown>
  assert.deepEqual([...whole.value.keys].toSorted(), Object.keys(parsed).toSorted())
  for (const key of whole.value.keys) assert.deepEqual(JSON.parse(whole.value.raw(key) ?? ''), parsed[key])
})

const jsonMembers = target(0.1, jsonText, (text) => {
  const read = outcome(() => readJsonObject(text), JsonTextError)
  if (!('value' in read)) return
  const edited = editMembers(text, { added: '1' })
  for (const [key, raw] of readMembers(edited)) assert.doesNotThrow(() => JSON.parse(raw), key)
})

const EVENT_WORDS: readonly [string, ...string[]] = [
  'data',
  'event',
  'id',
  'retry',
  ': ',
  ':',
  ' ',
  '\r',
  '\n',
  '\r\n',
  '\n\n',
  'x',
  '\0',
  '€',
  '😀',
  '\ufeff',
  '{"a":1}',
  '[DONE]',
  'data: ',
  '\u2028',
]
const SMALL = { line: 20_000, event: 40_000, linesPerEvent: 1000 }

const readEvents = (pieces: readonly Uint8Array[]): { readonly events: SseEvent[]; readonly fault: string | null } => {
  const decoder = new SseDecoder(SMALL)
  const events: SseEvent[] = []
  try {
    for (const piece of pieces) events.push(...decoder.push(piece))
    const last = decoder.end()
    if (last !== null) events.push(last)
    return { events, fault: null }
  } catch (thrown) {
    if (!(thrown instanceof SseLimitError)) throw thrown
    return { events: [], fault: thrown.name }
  }
}

const sse = target(
  0.2,
  (random) => (random.chance(0.8) ? encoder.encode(soup(random, EVENT_WORDS)) : random.bytes(random.int(200))),
  (bytes, random) => assert.deepEqual(readEvents(piecesOf(random, bytes)), readEvents([bytes])),
)

const framesOf = recordedBytes('bedrock')
const readFrames = async (
  pieces: readonly Uint8Array[],
): Promise<{ readonly messages: readonly StreamMessage[]; readonly fault: string | null }> => {
  const stream = await openEventStream()
  const messages: StreamMessage[] = []
  try {
    for (const piece of pieces) for (const message of stream.read(piece)) messages.push(message)
    return { messages, fault: null }
  } catch (thrown) {
    if (!(thrown instanceof EventStreamError)) throw thrown
    return { messages, fault: thrown.name }
  }
}

const bedrockFrames = target(
  0.05,
  (random) => mutate(random, random.pick(framesOf)),
  async (bytes, random) => assert.deepEqual(await readFrames(piecesOf(random, bytes)), await readFrames([bytes])),
)

const URL_WORDS: readonly [string, ...string[]] = [
  'data:',
  'image/png',
  ';base64',
  ';',
  ',',
  'iVBORw0KGgo=',
  '=',
  '%',
  '%2c',
  '%zz',
  ' ',
  '\n',
  'DATA:',
  'a',
  '/',
  ';charset=x',
  '\0',
  '😀',
  'AAAA',
]
const dataUrl = target(
  0.08,
  (random) => soup(random, URL_WORDS),
  (text) => {
    const url = readDataUrl(text)
    if (url !== null) assert.equal(typeof url.base64(), 'string')
  },
)

const PATTERN_WORDS: readonly [string, ...string[]] = [
  'a',
  'b',
  '.',
  '*',
  '+',
  '?',
  '|',
  '(',
  ')',
  '(?:',
  '[',
  ']',
  '[^a]',
  '\\d',
  '\\w',
  '\\b',
  '^',
  '$',
  '{2}',
  '{1,50}',
  '{0,1000}',
  '\\',
  '-',
  '😀',
  '(?=',
  '\\u{1F600}',
  'é',
]
/** A text has up to ten times as many words, which is ten times what the service reads before it gives way to others (guardrails/scan.ts). */
const SCANNED_MAX = 400
const regex = target(
  0.1,
  (random) => `${soup(random, PATTERN_WORDS, 10, 60)}\u0001${soup(random, ['a', 'b', 'ab', '1', ' ', '\n', '😀', 'é'], 30, SCANNED_MAX)}`,
  (input, random) => {
    const [pattern = '', text = ''] = input.split('\u0001')
    const made = outcome(() => createRegex(pattern), RegexRefused)
    if (!('value' in made)) return
    const found = (pieces: readonly string[]): (readonly [number, number])[] => {
      const all: (readonly [number, number])[] = []
      const finder = createFinder(made.value, (start, end) => all.push([start, end]))
      for (const piece of pieces) finder.push(piece)
      finder.pause()
      return all
    }
    const cut = random.int(text.length + 1)
    assert.deepEqual(found([text.slice(0, cut), text.slice(cut)]), found([text]))
  },
)

const HTML_WORDS: readonly [string, ...string[]] = [
  '<p>',
  '</p>',
  '<div',
  '>',
  '<a href="',
  'javascript:x',
  '">',
  '</a>',
  '<table><tr><td>',
  '</table>',
  '<li>',
  '<ul>',
  '<script>',
  '</script>',
  '<style>',
  '<!--',
  '-->',
  '&amp;',
  '&#x1F600;',
  '&#',
  'text ',
  '\n',
  '<pre>',
  '<h1>',
  '<img src=x alt=y>',
  '<![CDATA[',
  '\0',
  '<svg>',
  '<blockquote>',
  '`',
  '|',
  '*',
]
const html = target(
  0.06,
  (random) => encoder.encode(soup(random, HTML_WORDS, 60, 6000)),
  (bytes, random) => {
    const maxCharacters = random.pick([0, 10, 5000])
    const { text } = htmlToMarkdown(bytesToText(bytes, random.pick([null, 'utf-16le', 'nonsense', 'gb18030'])), {
      url: 'https://a.example/b',
      maxCharacters,
    })
    assert.ok(text.length <= maxCharacters)
  },
)

/** Its process is bounded in time and memory: here only whether it says what it says. */
const readDocument = createReadDocument({ clock: systemClock })
const pdf = target(
  0.0004,
  (random) => mutate(random, pdfOf(['Some words', 'and more of them'])),
  async (bytes) => {
    // As the service reads it, since pdf.js leaves promises behind that fail later: its process ends with its answer all the same.
    const read = await readDocument({ kind: 'pdf', maxPages: 3, maxCharacters: 1000 }, Uint8Array.from(bytes), { timeoutMs: 60_000 })
    assert.ok(read.fault === null ? typeof read.text === 'string' : ['broken', 'encrypted'].includes(read.fault))
  },
  false,
)

const YAML_WORDS: readonly [string, ...string[]] = [
  'providers:',
  'models:',
  'limits:',
  '\n',
  '\n  ',
  ' ',
  '- ',
  '{',
  '}',
  '[',
  ']',
  'a/b:',
  'base_url: http://x',
  ': ',
  '&a ',
  '*a',
  '<<: *a',
  '!!js/function',
  '${NAME}',
  '"',
  "'",
  '|',
  '>',
  '#',
  '1',
  'null',
  '\t',
  '😀',
  '\0',
  '? ',
  '---',
]
const configFile = target(
  0.01,
  (random) => soup(random, YAML_WORDS, 20, 300),
  (text) => {
    const path = join(tmpdir(), `patchbay-fuzz-${process.pid}.yaml`)
    writeFileSync(path, text)
    outcome(() => readConfigFile(path, {}), SettingError)
  },
  false,
)

const toolArguments = target(0.03, jsonText, (text, random) => {
  const [whole, pieces] = [new ArgumentsScan(), new ArgumentsScan()]
  whole.push(text)
  const cut = random.int(text.length + 1)
  pieces.push(text.slice(0, cut))
  pieces.push(text.slice(cut))
  assert.equal(pieces.complete, whole.complete)
})

const foldedText = target(
  0.04,
  (random) => soup(random, ['a', 'Ａ', '𝐀', 'ﬁ', '\u200b', '\u{e0041}', '😀', '\ud83d', '\ude00', 'é', ' ', '\n', '\u202e', '①'], 24, 1000),
  (text, random) => {
    const [whole, pieces] = [createFoldedText(), createFoldedText()]
    const cut = random.int(text.length + 1)
    const [head, tail] = [pieces.push(text.slice(0, cut)), pieces.push(text.slice(cut))]
    assert.equal(head + tail, whole.push(text))
  },
)

const SCHEMA_WORDS: readonly [string, ...string[]] = [
  '{"type":"object"',
  '{"$ref":"#"}',
  '{"type":"string","pattern":"(a+)+$"}',
  '{"anyOf":[',
  ']}',
  ',',
  '"properties":{"a":',
  '}',
  '{"items":',
  '"$defs":{"x":',
  '{"enum":[1,null]}',
  'true',
  '{"not":',
  '{"minimum":1e999}',
  '{"$ref":"#/$defs/x"}',
]
const jsonSchema = target(
  0.03,
  (random) =>
    random.chance(0.5)
      ? `{"anyOf":[{"$ref":"#/$defs/x"},{"type":"string","pattern":"(a+)+$"}],"$defs":{"x":${random.pick(['{"$ref":"#"}', '{"items":{"$ref":"#/$defs/x"}}', '{"type":"object"}'])}}}`
      : soup(random, SCHEMA_WORDS),
  (text) => {
    let schema: unknown
    try {
      schema = JSON.parse(text)
    } catch {
      return // Only JSON gets there.
    }
    const check = createSchemaCheck(schema)
    for (const value of [null, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', [[[[1]]]], { a: { a: {} } }])
      assert.ok(Array.isArray(check(value).faults))
  },
)

const address = target(
  0.03,
  (random) => soup(random, ['127', '0x7f', '.', ':', '::', '1', 'ffff', '%', '/', '[', ']', '0', '10', '64:ff9b', '😀', ' '], 12, 200),
  (text) => assert.equal(typeof isPublicAddress(text), 'boolean'),
)

/** The whole way of a request, but for its sockets: a body that is nearly right. */
const requests = target(
  0.01,
  (random) => {
    const client = random.pick(CLIENT_DIALECTS)
    return `${client}\u0001${new TextDecoder().decode(mutate(random, encoder.encode(JSON.stringify(question(client, random.chance(0.5))))))}`
  },
  async (input) => {
    const [client = '', body = ''] = input.split('\u0001')
    const [reply] = recordedBytes('openai-chat')
    const { status, internalErrors } = await replay({
      client: client as (typeof CLIENT_DIALECTS)[number],
      upstreams: [{ dialect: 'openai-chat', reply: { type: 'text/event-stream', pieces: [reply] } }],
      body,
    }).catch((thrown: unknown) => {
      // An error that is thrown before an answer has begun is rendered at the border, by its type.
      if (thrown instanceof GatewayError || thrown instanceof JsonTextError) return { status: 400, internalErrors: [] }
      throw thrown
    })
    assert.deepEqual(internalErrors, [])
    assert.ok([200, 400, 404, 413, 422].includes(status), String(status))
  },
  false,
)

/** A provider's stream that is nearly right, whole and in pieces: the client reads one stream with one end. */
const streams = target(
  0.01,
  (random) => {
    const dialect = random.pick(UPSTREAM_DIALECTS)
    return Buffer.concat([
      Buffer.from(`${dialect}\u0001${random.pick(CLIENT_DIALECTS)}\u0001`),
      mutate(random, random.pick(recordedBytes(dialect))),
    ])
  },
  async (input, random) => {
    const text = Buffer.from(input).toString('latin1')
    const [dialect = '', client = ''] = text.split('\u0001', 2)
    const bytes = input.subarray(dialect.length + client.length + 2)
    const [from, to] = [dialect as UpstreamDialect, client as (typeof CLIENT_DIALECTS)[number]]
    const read = (pieces: Uint8Array[]) => replayReply(to, from, { type: 'text/event-stream', pieces })
    const [whole, cut] = [await read([bytes]), await read(piecesOf(random, bytes))]
    // A provider's words behind the end of a call cannot be told any more: the connection breaks, which no client takes for an end.
    for (const { internalErrors } of [whole, cut]) assert.ok(internalErrors.every((thrown) => thrown instanceof GatewayError))
    assert.equal(cut.broken, whole.broken)
    if (whole.broken) return
    if (whole.text.startsWith('{')) return
    assert.equal(readStream(to, cut.text).end, readStream(to, whole.text).end)
  },
  false,
)

function recordedBytes(dialect: UpstreamDialect): readonly [Uint8Array, ...Uint8Array[]] {
  const streamed = recordingsOf(dialect).filter(({ stream }) => stream)
  const [first, ...more] = streamed.map(({ bytes }) => bytes)
  if (first === undefined) throw new Error(`There is no stream of ${dialect}.`)
  return [first, ...more]
}

export const TARGETS: Readonly<Record<string, FuzzTarget>> = {
  'json body': jsonBody,
  'json members': jsonMembers,
  'event streams': sse,
  'bedrock frames': bedrockFrames,
  'data urls': dataUrl,
  'regular expressions': regex,
  'html pages': html,
  pdfs: pdf,
  'configuration files': configFile,
  'tool arguments': toolArguments,
  'folded text': foldedText,
  'json schemas': jsonSchema,
  addresses: address,
  'request bodies': requests,
  'provider streams': streams,
}
