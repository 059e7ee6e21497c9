/**
 * Every attribute that our spans can have. Those about models follow the GenAI conventions of OpenTelemetry, which are still in
 * development: this table follows version 1.37 of the semantic conventions, and no other file contains their names.
 */
import type { AttributeType } from '../lib/otlp-json.ts'

export const ATTRIBUTES = {
  operation: ['gen_ai.operation.name', 'string'],
  provider: ['gen_ai.provider.name', 'string'],
  requestModel: ['gen_ai.request.model', 'string'],
  responseModel: ['gen_ai.response.model', 'string'],
  responseId: ['gen_ai.response.id', 'string'],
  finishReasons: ['gen_ai.response.finish_reasons', 'strings'],
  timeToFirstChunk: ['gen_ai.response.time_to_first_chunk', 'double'],
  conversationId: ['gen_ai.conversation.id', 'string'],
  sessionId: ['session.id', 'string'],
  userId: ['user.id', 'string'],
  temperature: ['gen_ai.request.temperature', 'double'],
  topP: ['gen_ai.request.top_p', 'double'],
  topK: ['gen_ai.request.top_k', 'double'],
  maxTokens: ['gen_ai.request.max_tokens', 'int'],
  frequencyPenalty: ['gen_ai.request.frequency_penalty', 'double'],
  presencePenalty: ['gen_ai.request.presence_penalty', 'double'],
  stopSequences: ['gen_ai.request.stop_sequences', 'strings'],
  seed: ['gen_ai.request.seed', 'int'],
  stream: ['gen_ai.request.stream', 'bool'],
  choiceCount: ['gen_ai.request.choice.count', 'int'],
  outputType: ['gen_ai.output.type', 'string'],
  inputTokens: ['gen_ai.usage.input_tokens', 'int'],
  outputTokens: ['gen_ai.usage.output_tokens', 'int'],
  cacheReadTokens: ['gen_ai.usage.cache_read.input_tokens', 'int'],
  cacheCreationTokens: ['gen_ai.usage.cache_creation.input_tokens', 'int'],
  reasoningTokens: ['gen_ai.usage.reasoning.output_tokens', 'int'],
  promptTokens: ['gen_ai.usage.prompt_tokens', 'int'],
  completionTokens: ['gen_ai.usage.completion_tokens', 'int'],
  totalTokens: ['gen_ai.usage.total_tokens', 'int'],
  cost: ['gen_ai.usage.cost', 'double'],
  inputMessages: ['gen_ai.input.messages', 'string'],
  outputMessages: ['gen_ai.output.messages', 'string'],
  systemInstructions: ['gen_ai.system_instructions', 'string'],
  toolDefinitions: ['gen_ai.tool.definitions', 'string'],
  toolName: ['gen_ai.tool.name', 'string'],
  toolCallId: ['gen_ai.tool.call.id', 'string'],
  toolType: ['gen_ai.tool.type', 'string'],
  toolArguments: ['gen_ai.tool.call.arguments', 'string'],
  toolResult: ['gen_ai.tool.call.result', 'string'],
  errorType: ['error.type', 'string'],
  httpStatus: ['http.response.status_code', 'int'],
  referer: ['http.referer', 'string'],
  userAgent: ['user_agent', 'string'],
  generationId: ['patchbay.generation_id', 'string'],
  requestId: ['patchbay.request_id', 'string'],
  preset: ['patchbay.preset', 'string'],
  presetVersion: ['patchbay.preset_version', 'int'],
  workspaceId: ['patchbay.workspace_id', 'string'],
  keyLabel: ['patchbay.key_label', 'string'],
  attempts: ['patchbay.attempts', 'int'],
  attempt: ['patchbay.attempt', 'int'],
  costUsd: ['patchbay.cost_usd', 'double'],
  cancelled: ['patchbay.cancelled', 'bool'],
  contentLeftOut: ['patchbay.content_left_out', 'bool'],
  guardrailId: ['patchbay.guardrail.id', 'string'],
  guardrailName: ['patchbay.guardrail.name', 'string'],
  guardrailScope: ['patchbay.guardrail.scope', 'string'],
  guardrailAction: ['patchbay.guardrail.action', 'string'],
} as const satisfies Readonly<Record<string, readonly [name: string, type: AttributeType]>>

export type AttributeName = keyof typeof ATTRIBUTES

/** The operations of the conventions that this service performs. */
export const OPERATIONS = { chat: 'chat', embeddings: 'embeddings', tool: 'execute_tool' } as const

/** The conventions' names of providers, by our slugs, if the two differ. */
export const PROVIDER_NAMES: Readonly<Record<string, string>> = {
  google: 'gcp.gen_ai',
  'google-vertex': 'gcp.vertex_ai',
  bedrock: 'aws.bedrock',
  azure: 'azure.ai.openai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
}

export const RESOURCE = { serviceName: 'service.name', serviceVersion: 'service.version', instance: 'service.instance.id' } as const

export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.37.0'
