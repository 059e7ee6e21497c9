/** Examples of the description. Answers and errors are written by the code that writes the real ones, so they stay true. */
import type { ClientDialect } from '../canonical/call.ts'
import type { Frame } from '../canonical/event.ts'
import { usageOf } from '../canonical/usage.ts'
import { messagesFormat } from '../formats/anthropic-messages/anthropic-messages.ts'
import type { AnswerHead, AnswerTail, ClientFormat } from '../formats/format.ts'
import { chatFormat } from '../formats/openai-chat/openai-chat.ts'
import { responsesFormat } from '../formats/openai-responses/openai-responses.ts'
import { JsonBody } from '../lib/json-body.ts'
import type { JsonObject } from '../lib/json.ts'

export const EXAMPLE_FORMATS: Readonly<Record<ClientDialect, ClientFormat>> = {
  chat: chatFormat,
  responses: responsesFormat,
  messages: messagesFormat,
}

/** The start of an answer that never was. */
export const exampleHead = (): AnswerHead => ({
  generationId: 'gen-4Qd1bVnT0uYkXw7sHc2LmR9p',
  createdSeconds: 1_767_225_600,
  model: 'openai/gpt-5.4',
  provider: 'OpenAI',
  request: JsonBody.read('{}'),
  inputTokensEstimate: 21,
})

/** The answer of each inference interface to its example request: whole, and as a stream. */
export const answerExamples = (dialect: ClientDialect): { readonly body: JsonObject; readonly stream: string } => {
  const format = EXAMPLE_FORMATS[dialect]
  const stream = format.openStream(exampleHead())
  const text = FRAMES.map((frame) => stream.frames([frame])).join('') + stream.finish(TAIL)
  const answer: Frame = { events: FRAMES.flatMap(({ events }) => events) }
  return { body: JSON.parse(format.renderAnswer(exampleHead(), answer, TAIL, null)) as JsonObject, stream: text }
}

const FRAMES: readonly Frame[] = [
  { events: [{ type: 'start', upstreamId: null, upstreamModel: null }] },
  { events: [{ type: 'text', text: 'Reset it under ' }] },
  { events: [{ type: 'text', text: 'Settings → Security.' }] },
  { events: [{ type: 'finish', reason: 'stop', native: 'stop' }] },
]

const TAIL: AnswerTail = {
  usage: usageOf({ inputFresh: 21, output: 9 }),
  cost: {
    totalNanos: 116_250,
    upstreamNanos: 116_250,
    upstreamInputNanos: 26_250,
    upstreamOutputNanos: 90_000,
    isByok: false,
    customersNanos: 0,
  },
  endedSeconds: 1_767_225_602,
  metadata: null,
}

const MODEL = 'openai/gpt-5.4'
const PRESET = '@preset/support-bot'
const RULE = 'You answer questions of our customers, in two sentences at most.'
const QUESTION = 'How do I reset my password?'
const lookup = {
  name: 'find_order',
  description: 'Finds an order by its number.',
  parameters: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] },
}

const KEY_HASH = 'b8b1c3763133866e30b52d6bc35def2d84e10a17d44f69fe3d9b5f0bc4564702'

/** Request bodies, by the name of their schema. */
export const BODY_EXAMPLES: Readonly<Record<string, JsonObject>> = {
  ChatRequest: { model: PRESET, messages: [{ role: 'user', content: QUESTION }] },
  ResponsesRequest: { model: PRESET, input: QUESTION },
  MessagesRequest: { model: PRESET, max_tokens: 1024, messages: [{ role: 'user', content: QUESTION }] },
  PresetFromChat: {
    model: MODEL,
    temperature: 0.3,
    messages: [{ role: 'system', content: RULE }],
    tools: [{ type: 'function', function: lookup }],
  },
  PresetFromResponses: {
    model: MODEL,
    instructions: RULE,
    reasoning: { effort: 'low' },
    provider: { allow_fallbacks: true, sort: 'price' },
    tools: [{ type: 'function', ...lookup }],
    locked: ['model'],
  },
  PresetFromMessages: { model: 'anthropic/claude-sonnet-4.5', max_tokens: 1024, system: RULE, temperature: 0.3 },
  EmbeddingsRequest: { model: 'openai/text-embedding-3-small', input: QUESTION },
  PresetPatch: { description: 'Answers customers.', designated_version: 3, labels: { staging: 4 } },
  OpenSessionBody: { token: '2bnT0uYkXw7sHc2LmR9p4Qd1bVnT0uYkXw7sHc2LmR9' },
  RotateKeyBody: { grace_seconds: 3600 },
  UpdateWorkspaceMemberBody: { role: 'admin', name: 'Ada' },
  CreateAuthCodeBody: { callback_url: 'https://app.example.com/done', code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' },
  ExchangeAuthCodeBody: {
    code: '2bnT0uYkXw7sHc2LmR9p4Qd1bVnT0uYkXw7sHc2LmR9',
    code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  },
  CreateLoginLinkBody: { user_id: 'ada@example.com', role: 'member' },
  CreateKeyBody: { name: 'support backend', kind: 'inference', limit: 25, limit_reset: 'monthly' },
  CreateWorkspaceBody: { name: 'Search team', slug: 'search' },
  UpdateWorkspaceBody: { description: 'Everything behind the search box.' },
  CreateProviderKeyBody: { provider: 'openai', key: 'sk-the-key-as-the-provider-shows-it', name: 'Our own account' },
  UpdateProviderKeyBody: { disabled: true },
  CreateObservabilityDestinationBody: {
    type: 'otel-collector',
    name: 'Our collector',
    config: { endpoint: 'https://otel.example.com', headers: { authorization: 'Bearer the-token' } },
    privacy_mode: true,
  },
  UpdateObservabilityDestinationBody: { sampling_rate: 0.1 },
  PutBudgetBody: { limit_usd: 100 },
  AddCreditsBody: { amount_usd: 25, note: 'Invoice 2026-11' },
  WorkspaceMembersBody: { user_ids: ['user_ada', 'user_grace'] },
  UpdateKeyBody: { name: 'support backend', limit: 50 },
  CreateGuardrailBody: {
    name: 'Customer data',
    content_filter_builtins: [
      { slug: 'email', action: 'redact' },
      { slug: 'secrets', action: 'block' },
    ],
    content_filters: [{ pattern: String.raw`PROJ-\d{3,6}`, action: 'redact', label: 'PROJECT' }],
    allowed_providers: ['openai', 'anthropic'],
    limit_usd: 25,
    reset_interval: 'monthly',
  },
  UpdateGuardrailBody: { allowed_providers: null, limit_usd: 50, reset_interval: 'monthly' },
  GuardrailTestBody: {
    guardrail: { content_filter_builtins: [{ slug: 'email', action: 'redact' }] },
    as_key: KEY_HASH,
    text: 'Write to ada@example.com, please.',
  },
  ProviderTestBody: { model: MODEL },
  RolloutBody: {
    splits: [
      { version: 3, weight: 90 },
      { version: 4, weight: 10 },
    ],
    sticky: 'session',
  },
  PresetFromGeneration: { generation_id: 'gen-4Qd1bVnT0uYkXw7sHc2LmR9p' },
  EvaluationBody: {
    version: 4,
    baseline: 3,
    items: [{ messages: [{ role: 'user', content: QUESTION }], expected: 'Settings' }],
    checks: [{ type: 'contains' }, { type: 'latency', max_ms: 5000 }],
    budget_usd: 1,
  },
  EvaluationResumeBody: { budget_usd: 2 },
  PresetTestBody: { name: 'password', messages: [{ role: 'user', content: QUESTION }], expected: 'Settings → Security' },
  GuardrailKeysBody: { key_hashes: [KEY_HASH] },
  GuardrailMembersBody: { member_user_ids: ['user_0422290a-ce3d-4d7f-8b4f-d75bb802b357'] },
}
