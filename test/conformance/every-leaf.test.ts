/**
 * Each value of a translated request is in the provider's request, named by a warning or a refusal, or in the table of what says nothing:
 * without it, the provider's request or the warnings must differ.
 */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { GatewayError } from '../../src/errors.ts'
import { isList, isObject, type JsonValue } from '../../src/lib/json/json.ts'
import { EVERY_MEMBER } from '../support/every-member.ts'
import { recording, UPSTREAM_DIALECTS, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, OWN_DIALECT, replay } from '../support/replay.ts'

/** Models that support as much of their dialect as any. */
const MODELS: Readonly<Record<UpstreamDialect, string>> = {
  'openai-chat': 'local-model',
  'openai-responses': 'gpt-5.4',
  anthropic: 'claude-opus-4-6',
  google: 'gemini-3-flash',
  bedrock: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
}

/** Values that say nothing to a provider of another dialect, by their interface and place. */
const SAYS_NOTHING: readonly (readonly [RegExp, string])[] = [
  [/ input\[\d+\]\.(?:.*\.)?(?:id|status|output_format)$/, 'The id, the state and the file type of an item that is over.'],
  [/ input\[\d+\]\.execution$/, 'Who ran a search that is over.'],
  [/ input\[\d+\]\.phase$/, 'Only OpenAI sorts the words of its models.'],
  [/\.logprobs\[\d+\]\./, 'How probable the words of an earlier answer were.'],
  [/chat: .*\.index$/, 'The place of a piece in a stream.'],
  [/^chat: a call: messages\[2\]\.name$/, 'The call has the name.'],
  [/^chat: .*: messages\[1\]\.reasoning(?:_content|_details\[0\])?$/, 'The same thinking in other words for it.'],
  [/^chat: settings: logprobs$/, 'Their number asks for them too.'],
  [/ stream_options\./, 'The service writes the stream.'],
  [/ store$/, 'Nothing is stored: it is false, or reported.'],
  [/\.strict$/, 'False is the usual value, and others enforce the schema of an answer in any case.'],
  [/ (?:messages|input)\[\d+\]\.(?:content|annotations|pending_safety_checks)$/, 'It is empty.'],
  [/ input\[\d+\]\.content\[\d+\]\.annotations$/, 'It is empty.'],
  [/^chat: an older call: function_call$/, 'The usual choice.'],
  [/defer_loading$/, 'The usual value, or the tool is one that was found.'],
  [/allowed_callers\[0\]$/, 'The model calls tools directly.'],
  [/\.schema\.additionalProperties$/, 'Every object is closed there.'],
  [/^responses: a shell: input\[2\]\.max_output_length$/, 'The output is cut already.'],
  [/^responses: a shell: input\[1\]\.environment\./, 'Where a run was that is over.'],
  [/^responses: a computer: input\[2\]\.output\.file_id$/, 'The picture itself is sent.'],
  [/^messages: a message of the system: messages\[2\]\.clear_at$/, 'The usual value.'],
  [/\.media_type$/, 'There is one type of text.'],
  [/^messages: a compaction: .*\.(?:signature|encrypted_content)$/, 'Only Anthropic can read it.'],
  [/eager_input_streaming$/, 'Other dialects send arguments as soon as they have them.'],
  [/thinking\.display$/, 'The service hides thinking itself, and Claude shows a summary.'],
]

interface Outcome {
  /** Undefined if the request was refused. */
  readonly sent: string | undefined
  readonly fields: readonly string[]
  readonly text: string
}

const send = async (client: ClientDialect, dialect: UpstreamDialect, body: object): Promise<Outcome> => {
  const { bytes } = recording(dialect, 'length', false)
  const { text, sent } = await replay({
    client,
    upstreams: [{ dialect, reply: { type: 'application/json', pieces: [bytes] }, model: MODELS[dialect] }],
    body: { model: MODEL, ...body },
    headers: { 'x-service-metadata': 'enabled' },
  }).catch((thrown: unknown) => {
    // A form that the reader of the prompt refuses is answered further out.
    if (!(thrown instanceof GatewayError)) throw thrown
    return { text: JSON.stringify({ message: thrown.message }), sent: [] }
  })
  const { service_metadata: metadata } = JSON.parse(text) as {
    readonly service_metadata?: { readonly warnings?: readonly { readonly field: string }[] }
  }
  return { sent: sent[0]?.body, fields: (metadata?.warnings ?? []).map(({ field }) => field), text }
}

type Path = readonly (string | number)[]

/** Objects that are carried or reported as a whole. */
const UNITS: ReadonlySet<unknown> = new Set(['cache_control', 'prompt_cache_breakpoint'])
const LISTS_OF_UNITS: ReadonlySet<unknown> = new Set(['annotations', 'citations', 'reasoning_details', 'thinking_blocks'])
const THINKING: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking', 'reasoning'])

const isUnit = (value: JsonValue, path: Path): boolean => {
  const last = path.at(-1)
  if (UNITS.has(last) || (typeof last === 'number' && LISTS_OF_UNITS.has(path.at(-2)))) return true
  return typeof last === 'number' && isObject(value) && THINKING.has(value['type'])
}

const leavesOf = (value: JsonValue, path: Path = []): readonly Path[] => {
  if (isUnit(value, path)) return [path]
  if (isList(value) && value.length > 0) return value.flatMap((item, index) => leavesOf(item, [...path, index]))
  if (isObject(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([key, item]) => leavesOf(item, [...path, key]))
  // They decide what the rest means.
  return ['type', 'role', 'max_tokens'].includes(String(path.at(-1))) ? [] : [path]
}

const without = (value: JsonValue, [key, ...rest]: Path): JsonValue => {
  const kept = (name: string | number, item: JsonValue): JsonValue[] =>
    name !== key ? [item] : rest.length === 0 ? [] : [without(item, rest)]
  if (isList(value)) return value.flatMap((item, index) => kept(index, item))
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).flatMap(([name, item]) => kept(name, item).map((left) => [name, left])))
    : value
}

const textOf = (path: Path): string =>
  path.map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`)).join('')

/** A warning names the value, or something that holds it and is no whole message, of which other parts may be meant. */
const isNamed = (at: string, fields: readonly string[], body: object): boolean =>
  fields.some((field) => at === field || (/^[.[]/.test(at.slice(field.length)) && at.startsWith(field) && !isMessage(field, body)))

const isMessage = (field: string, body: object): boolean => {
  const item = /^input\[(\d+)\]$/.exec(field)
  const { input } = body as { readonly input?: readonly { readonly type?: string }[] }
  return item === null
    ? /^(?:messages|system|input)(?:\[\d+\])?$/.test(field)
    : /^(?:message|.*_output)$/.test(input?.[Number(item[1])]?.type ?? '')
}

describe.each(CLIENT_DIALECTS.flatMap((client) => Object.entries(EVERY_MEMBER[client]).map(([name, body]) => ({ client, name, body }))))(
  '$client: $name',
  ({ client, name, body }) => {
    test.each(UPSTREAM_DIALECTS.filter((dialect) => dialect !== OWN_DIALECT[client]))('loses nothing in silence to %s', async (dialect) => {
      const whole = await send(client, dialect, body)
      const strictly = await send(client, dialect, { ...body, strict: true })
      expect(strictly.sent === undefined).toBe(whole.sent === undefined || whole.fields.length > 0)
      if (whole.sent === undefined) return
      const lost: string[] = []
      for (const path of leavesOf(body as JsonValue)) {
        const at = textOf(path)
        if (isNamed(at, whole.fields, body) || SAYS_NOTHING.some(([place]) => place.test(`${client}: ${name}: ${at}`))) continue
        const less = await send(client, dialect, without(body as JsonValue, path) as object)
        if (less.sent === whole.sent && String(less.fields) === String(whole.fields)) lost.push(at)
      }
      expect(lost).toEqual([])
    })
  },
)
