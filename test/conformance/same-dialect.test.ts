/**
 * Answers of a provider of the client's own dialect are relayed: frames and bodies are unchanged except for the members that the service
 * owns.
 */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { isObject } from '../../src/lib/json/json.ts'
import { streamEvents } from '../support/client-stream.ts'
import { at } from '../support/json-at.ts'
import { fails, recordingsOf } from '../support/recordings.ts'
import { OWN_DIALECT, replayReply, typeOf } from '../support/replay.ts'

/** An object of one of three dialects. */
type Payload = Readonly<Record<string, unknown>>

/** The part that is compared: a payload without our own members, and the provider's usage; null if it need not be relayed. */
interface Compared {
  readonly rest: unknown
  readonly usage: unknown
}

const without = (payload: Payload, ...names: readonly string[]): Payload =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !names.includes(name)))

/** A vendor's own name of a tier is replaced: served-tiers.test.ts. */
const withoutOwned = (payload: Payload): Payload =>
  without(payload, 'id', 'model', 'provider', 'created', 'usage', ...(payload['service_tier'] === 'on_demand' ? ['service_tier'] : []))

interface Choice extends Payload {
  readonly native_finish_reason?: unknown
  readonly finish_reason?: unknown
  readonly logprobs?: unknown
  readonly delta?: Payload
  readonly message?: Payload
}

/** An event without a part of the answer: usage only, or padding against traffic analysis. */
const chat = (payload: Payload): Compared | null => {
  const { system_fingerprint: fingerprint, choices: given, ...rest } = without(withoutOwned(payload), 'obfuscation', 'object')
  const choices = (given as Choice[]).map(({ native_finish_reason, delta, message, ...choice }) => ({
    ...choice,
    // A refusal ends with content_filter on this interface (docs/contract/errors.md#types); the provider's own reason is kept beside it.
    finish_reason: native_finish_reason ?? choice.finish_reason,
    logprobs: choice.logprobs ?? null,
    said: withoutRepeated(delta ?? message ?? {}),
  }))
  const more = (fingerprint ?? null) === null ? {} : { system_fingerprint: fingerprint }
  const bare = choices.length === 0 && Object.keys(rest).every((key) => key === 'service_tier')
  const usage = payload['usage'] ?? null
  return bare && usage === null ? null : { rest: bare ? null : { ...rest, ...more, choices }, usage }
}

/** A vendor's field for thinking is also sent under the common name. */
const withoutRepeated = ({ reasoning, ...said }: Payload): Payload =>
  said['reasoning_content'] === undefined && reasoning !== undefined ? { ...said, reasoning } : said

const responses = (payload: Payload): Compared => {
  const { response, ...rest } = payload['type'] === undefined ? { response: payload } : payload
  if (!isObject(response)) return { rest, usage: null }
  return { rest: { ...rest, response: withoutOwned(response) }, usage: response['usage'] ?? null }
}

const messages = (payload: Payload): Compared | null => {
  const { type, message } = payload
  if (type === 'ping') return null
  if (type === 'message_start' && isObject(message))
    return { rest: { ...payload, message: withoutOwned(message) }, usage: message['usage'] }
  return { rest: withoutOwned(payload), usage: payload['usage'] ?? null }
}

const COMPARE: Readonly<Record<ClientDialect, (payload: Payload) => Compared | null>> = { chat, responses, messages }

/** Its `content` is a list where clients of the dialect read a string, so it is translated, not relayed. */
const RENDERED: ReadonlySet<string> = new Set(['mistral-reasoning'])

/** Events were cut out of these recordings: the service adds what the sequence lacks, and numbers it anew (decisions/0156). */
const CUT: ReadonlySet<string> = new Set(['openai-custom-tool.1', 'openai-phase.1'])

/** The payloads that do not follow in this order among the sent ones. */
const missingFrom = (sent: readonly Payload[], wanted: readonly Payload[]): Payload[] => {
  let from = 0
  return wanted.filter((payload) => {
    const { sequence_number: _, ...said } = payload
    const at = sent.findIndex((one, index) => index >= from && Bun.deepMatch(said, one))
    if (at >= 0) from = at + 1
    return at < 0
  })
}

for (const client of CLIENT_DIALECTS) {
  describe(client, () => {
    for (const recording of recordingsOf(OWN_DIALECT[client]).filter((each) => !fails(each) && !RENDERED.has(each.name))) {
      const { dialect, name, stream, bytes, payloads } = recording
      test(`${name}, ${stream ? 'stream' : 'whole'}: what the provider said, member for member`, async () => {
        const { text } = await replayReply(client, dialect, { type: typeOf(stream), pieces: [bytes] })
        const ours: Payload[] = stream ? streamEvents(text).map(({ data }) => data as Payload) : [JSON.parse(text) as Payload]
        const compare = (all: readonly Payload[]): Compared[] => all.flatMap((payload) => COMPARE[client](payload) ?? [])
        const [got, wanted] = [compare(ours), compare(payloads.map((payload) => JSON.parse(payload) as Payload))]
        const restOf = (all: readonly Compared[]): Payload[] => all.flatMap(({ rest }) => (rest === null ? [] : [rest as Payload]))
        // Members that strict clients need and the provider left out are added: see complete-answers.test.ts.
        if (CUT.has(name)) expect(missingFrom(restOf(got), restOf(wanted))).toEqual([])
        else expect(restOf(got)).toMatchObject(restOf(wanted))
        expect(got.at(-1)?.usage ?? got.at(-2)?.usage).toMatchObject(
          (wanted.findLast(({ usage }) => usage !== null)?.usage as Payload | undefined) ?? {},
        )
        for (const payload of ours) for (const id of idsOf(payload)) expect(id).toStartWith(ID[client])
      })
    }
  })
}

const ID: Readonly<Record<ClientDialect, string>> = { chat: 'gen-', responses: 'resp_', messages: 'msg_' }

const idsOf = (payload: Payload): string[] =>
  [
    payload['object'] === undefined && payload['type'] !== 'message' ? undefined : payload['id'],
    at(payload, 'response', 'id'),
    at(payload, 'message', 'id'),
  ].filter((id) => typeof id === 'string')
