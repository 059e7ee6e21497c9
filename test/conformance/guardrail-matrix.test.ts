/**
 * An output guardrail is not skipped by `stream: true`, nor on one of three interfaces
 * (docs/contract/guardrails.md#fail-closed). One policy, all ways: each action × interface × stream or not × same
 * dialect upstream or another × preset or not × first attempt or fallback.
 */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import type { FilterAction } from '../../src/contract/guardrail.ts'
import type { Presets } from '../../src/presets/presets.ts'
import { GatewayError } from '../../src/errors.ts'
import { reportOf } from '../../src/inference/run/attempt-report.ts'
import { emailGuardrail } from '../support/guardrail.ts'
import { readStream } from '../support/client-stream.ts'
import { readAnswer } from '../support/read-answer.ts'
import type { UpstreamDialect } from '../support/recordings.ts'
import { MODEL, OWN_DIALECT, question, replay, type Replayed, type Reply } from '../support/replay.ts'
import { reportedBytes } from '../support/reported-answers.ts'
import { whole } from '../support/upstream-replies.ts'

const SECRET = 'jane@example.com'
/** The text of the caller, which the Responses dialect echoes in its instructions. */
const ASKED = 'john@sample.org'
const SAID = `Write to ${SECRET} today.`

/** The address is split over frames, within words and at its `@`; frames arrive one by one, or all at once. */
const streamOf = (dialect: UpstreamDialect, atOnce = false): Reply => {
  const bytes = reportedBytes(dialect, {
    text: ['Write to ja', 'ne', '@', 'exam', 'ple.c', 'om', ' today', '.'],
    thinking: ['They asked for ja', 'ne@example', '.com I think.'],
    calls: [{ id: 'call_0', name: 'get_weather', args: { city: `${SECRET}\n"here"` } }],
    stop: 'end',
    input: 7,
    output: 3,
    cut: 12,
  })
  const frames = new TextDecoder().decode(bytes).split(/(?<=\n\n)/)
  return { type: 'text/event-stream', pieces: atOnce ? [bytes] : frames.map((frame) => new TextEncoder().encode(frame)) }
}

const CHAT_ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'm',
  choices: [
    { index: 0, message: { role: 'assistant', content: SAID, refusal: null }, finish_reason: 'stop', logprobs: null },
    { index: 1, message: { role: 'assistant', content: SAID, refusal: null }, finish_reason: 'stop', logprobs: null },
  ],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
}
const WHOLE: Readonly<Record<'openai-chat' | 'openai-responses' | 'anthropic', unknown>> = {
  'openai-chat': CHAT_ANSWER,
  'openai-responses': {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
    output: [
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: SAID, annotations: [] }],
      },
    ],
    output_text: SAID,
    usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
  },
  anthropic: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: SAID }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 7, output_tokens: 3 },
  },
}

const asking = (client: ClientDialect, stream: boolean, preset: boolean): Readonly<Record<string, unknown>> => {
  const said = `I am ${ASKED}.`
  const body = {
    ...question(client, stream),
    ...(client === 'responses' ? { input: said } : { messages: [{ role: 'user', content: said }] }),
  }
  return preset ? { ...body, model: '@preset/house' } : body
}

/** The preset's system prompt contains the address too. */
const presets = {
  serve: () => ({
    preset: { id: 'preset-1', slug: 'house', status: 'active' },
    version: { version: 1, shape: 'chat', config: { model: MODEL }, system_prompt: `Answer for ${ASKED}.` },
    rollout: null,
  }),
} as unknown as Presets

const FAILED: Reply = { status: 500, type: 'application/json', pieces: [new TextEncoder().encode('{"error":{"message":"down"}}')] }
const HEADERS = { 'x-service-experimental-metadata': 'enabled' }

interface Way {
  readonly client: ClientDialect
  readonly stream: boolean
  readonly upstream: 'openai-chat' | 'openai-responses' | 'anthropic'
  readonly preset: boolean
  readonly fallback: boolean
}

const WAYS: readonly Way[] = CLIENT_DIALECTS.flatMap((client) =>
  [false, true].flatMap((stream) =>
    (['openai-chat', 'openai-responses', 'anthropic'] as const).flatMap((upstream) =>
      [false, true].flatMap((preset) => [false, true].map((fallback) => ({ client, stream, upstream, preset, fallback }))),
    ),
  ),
)

const nameOf = ({ client, stream, upstream, preset, fallback }: Way): string =>
  `${client}${stream ? ', stream' : ''}, from ${upstream === OWN_DIALECT[client] ? 'its own dialect' : upstream}${preset ? ', preset' : ''}${fallback ? ', fallback' : ''}`

const go = (way: Way, action: FilterAction, side: 'input' | 'output'): Promise<Replayed> => {
  const reply = way.stream ? streamOf(way.upstream) : whole(WHOLE[way.upstream])
  const upstreams = [...(way.fallback ? [{ dialect: way.upstream, reply: FAILED }] : []), { dialect: way.upstream, reply }]
  return replay({
    client: way.client,
    upstreams,
    body: asking(way.client, way.stream, way.preset),
    headers: HEADERS,
    guardrails: [emailGuardrail(action, side)],
    ...(way.preset ? { presets } : {}),
  })
}

interface ErrorBody {
  readonly type?: string
  readonly error: {
    readonly type?: string
    readonly code?: number
    readonly message: string
    readonly metadata?: { readonly patterns: readonly string[] }
  }
  readonly metadata?: { readonly patterns: readonly string[] }
  readonly service_metadata: {
    readonly attempt: number
    readonly endpoints: { readonly total: number }
    readonly pipeline: readonly unknown[]
  }
}

const STAGE = { type: 'guardrail', name: 'content-filter', guardrail_id: 'guardrail-1', guardrail_scope: 'api-key' }

const expectBlocked = ({ status, text }: Replayed, client: ClientDialect, what: 'Request' | 'Response'): void => {
  expect(status).toBe(403)
  expect(text).not.toContain(what === 'Request' ? 'john' : 'jane')
  const body = JSON.parse(text) as ErrorBody
  if (client === 'messages') {
    expect(body).toMatchObject({ type: 'error', error: { type: 'permission_error' }, metadata: { patterns: ['[EMAIL]'] } })
  } else if (what === 'Request') expect(body.error).toMatchObject({ code: 403, metadata: { patterns: ['[EMAIL]'] } })
  expect(text).toContain(`${what} blocked by content filter: [EMAIL]`)
  expect(body.service_metadata).toMatchObject({
    pipeline: [{ ...STAGE, data: { action: 'blocked', detected: true, engines: ['regex'], patterns: ['[EMAIL]'] } }],
  })
}

describe('input, block: 403, and no provider hears of it', () => {
  for (const way of WAYS) {
    test(nameOf(way), async () => {
      const replayed = await go(way, 'block', 'input')
      expectBlocked(replayed, way.client, 'Request')
      expect(replayed.sent).toEqual([])
      const { service_metadata } = JSON.parse(replayed.text) as ErrorBody
      expect(service_metadata).toMatchObject({ attempt: 1, is_byok: false, region: null, endpoints: { total: way.fallback ? 2 : 1 } })
      expect(service_metadata).not.toHaveProperty('attempts')
    })
  }
})

describe('input, redact: every attempt gets the placeholder', () => {
  for (const way of WAYS) {
    test(nameOf(way), async () => {
      const { status, sent, text } = await go(way, 'redact', 'input')
      expect(status).toBe(200)
      expect(sent).toHaveLength(way.fallback ? 2 : 1)
      for (const { body } of sent) {
        expect(body).not.toContain('john')
        expect(body).toContain('I am [EMAIL].')
        if (way.preset) expect(body).toContain('Answer for [EMAIL].')
      }
      expect(text).toContain('"action":"redacted"')
    })
  }
})

describe('input, flag: it is reported, and nothing is changed', () => {
  for (const way of WAYS) {
    test(nameOf(way), async () => {
      const { status, sent, text } = await go(way, 'flag', 'input')
      expect(status).toBe(200)
      for (const { body } of sent) expect(body).toContain(`I am ${ASKED}.`)
      expect(text).toContain('"action":"flagged"')
    })
  }
})

describe('output, block: nothing of it is delivered', () => {
  for (const way of WAYS) {
    test(nameOf(way), async () => {
      const replayed = await go(way, 'block', 'output')
      expect(replayed.text).not.toContain('jane')
      expect(replayed.text).not.toContain('ne@')
      if (!way.stream) {
        expectBlocked(replayed, way.client, 'Response')
        return
      }
      expect(replayed.status).toBe(200)
      expect(replayed.text).toContain('Response blocked by content filter: [EMAIL]')
      expect(readStream(way.client, replayed.text)).toEqual({ end: 'error', faults: [] })
    })
  }
})

describe('output, block: where nothing was delivered yet, a stream has its status too', () => {
  for (const client of CLIENT_DIALECTS) {
    test(client, async () => {
      const dialect = OWN_DIALECT[client]
      const replayed = await replay({
        client,
        upstreams: [{ dialect, reply: streamOf(dialect, true) }],
        body: question(client, true),
        headers: HEADERS,
        guardrails: [emailGuardrail('block', 'output')],
      })
      expect(replayed.status).toBe(403)
      expect(replayed.text).not.toContain('jane')
    })
  }
})

describe('output, block: no other provider is asked, none is blamed, and what was said is charged', () => {
  for (const client of CLIENT_DIALECTS) {
    for (const stream of [false, true]) {
      test(`${client}${stream ? ', stream' : ''}`, async () => {
        const dialect = OWN_DIALECT[client] as Way['upstream']
        const reply = stream ? streamOf(dialect) : whole(WHOLE[dialect])
        const { sent, run } = await replay({
          client,
          upstreams: [
            { dialect, reply },
            { dialect, reply },
          ],
          body: { ...question(client, stream), models: [MODEL, 'replay/other'] },
          guardrails: [emailGuardrail('block', 'output')],
        })
        expect(sent).toHaveLength(1)
        expect(run?.bill.cost.totalNanos).toBeGreaterThan(0)
        // An answer that was cut off is counted by its text; a whole one by its provider.
        if (!stream) expect(run?.bill.usage).toMatchObject({ inputFresh: 7, output: 3 })
        if (run?.log.attempts[0] === undefined) throw new Error('no attempt')
        const failure = { error: run.log.error ?? new GatewayError('server'), zone: 'sent', upstreamStatus: 200 } as const
        const dispatch = {
          planned: run.log.attempts[0].planned,
          credential: run.log.attempts[0].credential,
          retry: false,
          spareKeys: false,
        }
        expect(reportOf(run.connection.stopped, dispatch, run.log.attempts[0], failure).outcome).toBe('ok')
      })
    }
  }
})

test('a dry run is screened like the request itself: it shows the placeholder, or is refused', async () => {
  for (const client of CLIENT_DIALECTS) {
    const dialect = OWN_DIALECT[client]
    const dry = (action: FilterAction): Promise<Replayed> =>
      replay({
        client,
        upstreams: [{ dialect, reply: FAILED }],
        body: asking(client, false, true),
        headers: { ...HEADERS, 'x-service-dry-run': 'enabled' },
        guardrails: [emailGuardrail(action, 'input')],
        presets,
      })
    const shown = await dry('redact')
    expect([shown.status, shown.sent]).toEqual([200, []])
    expect(shown.text).toContain('I am [EMAIL].')
    expect(shown.text).not.toContain('john')
    expectBlocked(await dry('block'), client, 'Request')
  }
})

describe('output, redact: text, thinking and arguments have the placeholder', () => {
  for (const way of WAYS) {
    test(nameOf(way), async () => {
      const { status, text } = await go(way, 'redact', 'output')
      expect(status).toBe(200)
      expect(text).not.toContain('jane')
      expect(text).not.toContain('ja"')
      const reading = await readAnswer(OWN_DIALECT[way.client], way.stream, text)
      expect(reading.text).toBe('Write to [EMAIL] today.')
      if (!way.stream) return
      expect(readStream(way.client, text)).toEqual({ end: 'normal', faults: [] })
      expect(reading.reasoning).toBe('They asked for [EMAIL] I think.')
      expect(reading.calls).toMatchObject([{ name: 'get_weather', arguments: { city: '[EMAIL]\n"here"' } }])
      expect(text).toContain('"action":"redacted"')
    })
  }
})

describe('output, flag: the answer is as it was, and it is reported', () => {
  for (const way of WAYS) {
    test(nameOf(way), async () => {
      const { text } = await go(way, 'flag', 'output')
      const reading = await readAnswer(OWN_DIALECT[way.client], way.stream, text)
      expect(reading.text).toBe(SAID)
      expect(text).toContain('"action":"flagged"')
    })
  }
})

describe('without the header', () => {
  for (const client of CLIENT_DIALECTS) {
    test(`${client}: an answer tells nothing of its stages`, async () => {
      const dialect = OWN_DIALECT[client]
      const upstreams = [{ dialect, reply: streamOf(dialect) }]
      const { text } = await replay({ client, upstreams, body: asking(client, true, false), guardrails: [emailGuardrail('redact')] })
      expect(text).toContain('[EMAIL]')
      expect(text).not.toContain('service_metadata')
      expect(text).not.toContain('guardrail-1')
    })
  }
})

test('messages: an answer that is blocked in its stream ends with a permission_error event', async () => {
  const { text } = await go(
    { client: 'messages', stream: true, upstream: 'openai-chat', preset: false, fallback: false },
    'block',
    'output',
  )
  const event = /^event: error\ndata: (.+)$/m.exec(text)?.[1] ?? '{}'
  expect(JSON.parse(event)).toMatchObject({
    type: 'error',
    error: { type: 'permission_error', error_type: 'permission_denied' },
    metadata: { patterns: ['[EMAIL]'] },
  })
})

test('chat and responses: the last event of a blocked answer has code 403, or the failed response', async () => {
  const way = { stream: true, upstream: 'anthropic', preset: false, fallback: false } as const
  const chat = await go({ client: 'chat', ...way }, 'block', 'output')
  expect(chat.text).toContain('"error":{"code":403,"message":"Response blocked by content filter: [EMAIL]"')
  const responses = await go({ client: 'responses', ...way }, 'block', 'output')
  expect(responses.text).toContain('event: response.failed')
  expect(responses.text).toContain('"error_type":"permission_denied"')
})
