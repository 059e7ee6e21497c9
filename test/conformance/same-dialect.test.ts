/** A provider of the client's own dialect is passed on: its frames and bodies, but for the members that the service owns. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { streamEvents } from '../support/client-stream.ts'
import { fails, recordingsOf } from '../support/recordings.ts'
import { OWN_DIALECT, replayReply, typeOf } from '../support/replay.ts'

// Payloads of three dialects.
// oxlint-disable-next-line typescript/no-explicit-any
type Payload = any

/** What is compared: a payload without what is ours, and what the provider counted; null: it need not be passed on. */
interface Compared {
  readonly rest: Payload
  readonly usage: Payload
}

const without = (payload: Payload, ...names: readonly string[]): Payload =>
  Object.fromEntries(Object.entries(payload as object).filter(([name]) => !names.includes(name)))

const withoutOwned = (payload: Payload): Payload => without(payload, 'id', 'model', 'provider', 'created', 'usage')

/** What carries no answer: an envelope of use, a padding against traffic analysis. */
const chat = (payload: Payload): Compared | null => {
  const { system_fingerprint: fingerprint, ...rest } = without(withoutOwned(payload), 'obfuscation', 'object')
  const choices = (rest.choices as Payload[]).map(({ native_finish_reason, delta, message, ...choice }) => ({
    ...choice,
    // A refusal ends with content_filter on this interface (service.md, "Typed error codes"); the provider's word stays beside it.
    finish_reason: native_finish_reason ?? choice.finish_reason,
    logprobs: choice.logprobs ?? null,
    said: withoutRepeated(delta ?? message),
  }))
  const more = fingerprint == null ? {} : { system_fingerprint: fingerprint }
  const bare = choices.length === 0 && Object.keys(rest).every((key) => key === 'choices' || key === 'service_tier')
  return bare && payload.usage == null ? null : { rest: bare ? null : { ...rest, ...more, choices }, usage: payload.usage ?? null }
}

/** A vendor's word for thinking is told under the common name too. */
const withoutRepeated = ({ reasoning, ...said }: Payload): Payload =>
  said.reasoning_content === undefined && reasoning !== undefined ? { ...said, reasoning } : said

const responses = (payload: Payload): Compared => {
  const { response, ...rest } = payload.type === undefined ? { response: payload } : payload
  if (response === undefined) return { rest, usage: null }
  return { rest: { ...rest, response: withoutOwned(response) }, usage: response.usage ?? null }
}

const messages = (payload: Payload): Compared | null => {
  if (payload.type === 'ping') return null
  if (payload.type === 'message_start')
    return { rest: { ...payload, message: withoutOwned(payload.message) }, usage: payload.message.usage }
  return { rest: withoutOwned(payload), usage: payload.usage ?? null }
}

const COMPARE: Readonly<Record<ClientDialect, (payload: Payload) => Compared | null>> = { chat, responses, messages }

/** Its `content` is a list where clients of the dialect read text, so it is rendered, not passed on. */
const RENDERED: ReadonlySet<string> = new Set(['mistral-reasoning'])

for (const client of CLIENT_DIALECTS) {
  describe(client, () => {
    for (const recording of recordingsOf(OWN_DIALECT[client]).filter((each) => !fails(each) && !RENDERED.has(each.name))) {
      const { dialect, name, stream, bytes, payloads } = recording
      test(`${name}, ${stream ? 'stream' : 'whole'}: what the provider said, member for member`, async () => {
        const { text } = await replayReply(client, dialect, { type: typeOf(stream), pieces: [bytes] })
        const ours = stream ? streamEvents(text).map(({ data }) => data) : [JSON.parse(text)]
        const compare = (all: readonly Payload[]): Compared[] => all.flatMap((payload) => COMPARE[client](payload) ?? [])
        const [got, wanted] = [compare(ours), compare(payloads.map((payload) => JSON.parse(payload)))]
        const restOf = (all: readonly Compared[]): Payload[] => all.flatMap(({ rest }) => (rest === null ? [] : [rest]))
        // What strict clients need and the provider left out is added: complete-answers.test.ts.
        expect(restOf(got)).toMatchObject(restOf(wanted))
        expect(got.at(-1)?.usage ?? got.at(-2)?.usage).toMatchObject(wanted.findLast(({ usage }) => usage !== null)?.usage ?? {})
        for (const payload of ours) for (const id of idsOf(payload)) expect(id).toStartWith(ID[client])
      })
    }
  })
}

const ID: Readonly<Record<ClientDialect, string>> = { chat: 'gen-', responses: 'resp_', messages: 'msg_' }

const idsOf = (payload: Payload): string[] =>
  [payload.object === undefined && payload.type !== 'message' ? undefined : payload.id, payload.response?.id, payload.message?.id].filter(
    (id) => typeof id === 'string',
  )
