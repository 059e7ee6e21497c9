/** Whatever an accepted request contains, on any interface: the body that reaches Anthropic is one that its API accepts. */
import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { GatewayError } from '../../src/errors.ts'
import { defined, REQUESTS } from '../support/arbitrary-requests.ts'
import { recording } from '../support/recordings.ts'
import { MODEL, replay, type Replayed } from '../support/replay.ts'
import { refusedByAnthropic } from '../support/strict-anthropic.ts'

const ANSWERS = {
  anthropic: recording('anthropic', 'anthropic-text', false).bytes,
  bedrock: recording('bedrock', 'length', false).bytes,
} as const

const MODELS = [
  'claude-3-5-haiku-20241022',
  'claude-sonnet-4-5',
  'claude-opus-4-6',
  'claude-opus-4-8',
  'claude-sonnet-5-5',
  'claude-haiku-4-5',
]

interface Sent {
  readonly status: number
  /** Null if nothing was sent. */
  readonly body: Readonly<Record<string, unknown>> | null
  readonly answer: string
}

type Upstream = 'anthropic' | 'bedrock'

const send = async (client: ClientDialect, upstream: Upstream, model: string, body: object): Promise<Sent> => {
  const reply = { type: 'application/json', pieces: [ANSWERS[upstream]] } as const
  const upstreams = [{ dialect: upstream, reply, model, slug: upstream }]
  const replayed = await replay({ client, upstreams, body: { model: MODEL, ...body } }).catch((thrown: unknown) => thrown)
  if (replayed instanceof GatewayError) return { status: replayed.status, body: null, answer: replayed.message }
  const { status, sent, text, internalErrors } = replayed as Replayed
  expect(internalErrors).toEqual([])
  const [request] = sent
  return { status, body: request === undefined ? null : (JSON.parse(request.body) as Record<string, unknown>), answer: text }
}

/** A Converse request in the format of Messages: Claude is the same behind both. */
const asMessages = (model: string, { system, messages, toolConfig, inferenceConfig, ...rest }: Converse): Record<string, unknown> => {
  const { tools = [], toolChoice } = toolConfig ?? {}
  const { maxTokens = 100_000, temperature, topP, stopSequences } = inferenceConfig ?? {}
  const choice = toolChoice === undefined ? undefined : 'any' in toolChoice ? { type: 'any' } : { type: 'tool', ...toolChoice['tool'] }
  const effort = rest.outputConfig?.effort
  return defined({
    model,
    max_tokens: maxTokens,
    temperature,
    top_p: topP,
    stop_sequences: stopSequences,
    system: (system ?? []).flatMap(asBlock),
    messages: messages.map(({ role, content }) => ({ role, content: content.flatMap(asBlock) })),
    tools: tools.flatMap(({ toolSpec }) =>
      toolSpec === undefined ? [] : [{ name: toolSpec.name, strict: toolSpec.strict, input_schema: toolSpec.inputSchema.json }],
    ),
    tool_choice: choice,
    output_config: effort === undefined ? undefined : { effort },
    ...rest.additionalModelRequestFields,
  }) as Record<string, unknown>
}

type ConverseBlock = Readonly<Record<string, Readonly<Record<string, unknown>>>>

interface Converse {
  readonly system?: readonly ConverseBlock[]
  readonly messages: readonly { readonly role: string; readonly content: readonly ConverseBlock[] }[]
  readonly toolConfig?: {
    readonly tools?: readonly {
      readonly toolSpec?: { readonly name: string; readonly strict?: boolean; readonly inputSchema: { readonly json: object } }
    }[]
    readonly toolChoice?: Readonly<Record<string, object>>
  }
  readonly inferenceConfig?: Readonly<Record<'maxTokens' | 'temperature' | 'topP' | 'stopSequences', unknown>>
  readonly additionalModelRequestFields?: object
  readonly outputConfig?: { readonly effort?: string }
}

const asBlock = (block: ConverseBlock): readonly object[] => {
  const { text, toolUse, toolResult, reasoningContent, image } = block
  if (text !== undefined) return [{ type: 'text', text }]
  if (toolUse !== undefined) return [{ type: 'tool_use', id: toolUse['toolUseId'], name: toolUse['name'], input: toolUse['input'] }]
  if (toolResult !== undefined)
    return [
      { type: 'tool_result', tool_use_id: toolResult['toolUseId'], content: (toolResult['content'] as ConverseBlock[]).flatMap(asBlock) },
    ]
  if (reasoningContent !== undefined) return [{ type: 'thinking' }]
  return image === undefined ? [] : [{ type: 'image' }]
}

const BEHIND = {
  anthropic: (_: string, body: object) => body as Record<string, unknown>,
  bedrock: (model: string, body: object) => asMessages(model, body as Converse),
} as const

describe.each(['anthropic', 'bedrock'] as const)('before Claude at %s', (upstream) => {
  test.each(['chat', 'responses', 'messages'] as const)(
    'a %s request is refused here, or takes a form that the API takes',
    async (client) => {
      let accepted = 0
      await fc.assert(
        fc.asyncProperty(REQUESTS[client], fc.constantFrom(...MODELS), async (given, model) => {
          const { status, body, answer } = await send(
            client,
            upstream,
            upstream === 'bedrock' ? `anthropic.${model}-v1:0` : model,
            defined(given),
          )
          if (body === null) {
            // Our own error names the fault, and nothing breaks.
            expect({ status, answer }).toMatchObject({ status: 400 })
            return
          }
          accepted += 1
          const read = BEHIND[upstream](model, body)
          expect({ refused: refusedByAnthropic(read), read }).toEqual({ refused: null, read })
        }),
        { numRuns: 400 },
      )
      expect(accepted).toBeGreaterThan(120)
    },
  )
})
