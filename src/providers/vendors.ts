/**
 * What is particular to each vendor of the Chat Completions dialect. A fact is here because requests fail, or a setting is
 * passed over in silence, without it; what a vendor takes as OpenAI does needs no word. Found by the provider's slug.
 */
import type { ReasoningWords, Vendor } from './vendor.ts'

export const vendorOf = (slug: string): Vendor => VENDORS.get(slug) ?? UNKNOWN

const EFFORT: ReasoningWords = { efforts: 'any', toggle: null, toggleBesideEffort: false, budgetField: null }

/** A server of the operator's own, say: everything is passed on, in the words that most servers know. */
const UNKNOWN: Vendor = {
  keyHeader: 'authorization',
  maxTokensField: 'max_tokens',
  names: {},
  unsupported: new Set(),
  streamOptions: true,
  developerRole: false,
  textParts: false,
  strictMessages: false,
  refusals: false,
  contentBesideCalls: false,
  callIds: 'any',
  files: 'any',
  video: true,
  cacheMarks: null,
  reasoning: EFFORT,
  thinkingBack: 'untouched',
  showsThinking: true,
  jsonSchema: true,
  requiredToolChoice: true,
  customTools: false,
  webSearch: null,
  embeddings: { names: {}, unsupported: new Set() },
}

const ROUTER_FIELDS = ['top_a', 'image_config', 'cache_control', 'structured_outputs']
const OPEN_SAMPLERS = ['top_k', 'min_p', 'repetition_penalty']
const OPENAI_FIELDS = ['verbosity', 'modalities', 'audio', 'prediction', 'web_search_options', 'prompt_cache_options']
const TOKEN_CHANCES = ['logit_bias', 'logprobs', 'top_logprobs']
const TOOL_FIELDS = ['tools', 'tool_choice', 'parallel_tool_calls']
const ONLY_MAX_TOKENS = { max_completion_tokens: 'max_tokens' }

type Facts = Partial<Omit<Vendor, 'unsupported'>> & { readonly unsupported?: readonly string[] }

const vendor = ({ unsupported = [], ...facts }: Facts): Vendor => ({
  ...UNKNOWN,
  thinkingBack: 'none',
  ...facts,
  unsupported: new Set(unsupported),
})

const OPENAI: Facts = {
  // API reference, "Create chat completion"; the openai package's ChatCompletionCreateParams.
  maxTokensField: 'max_completion_tokens',
  unsupported: [...ROUTER_FIELDS, ...OPEN_SAMPLERS],
  developerRole: true,
  textParts: true,
  refusals: true,
  // "string too long. Expected a string with maximum length 40" for the id of a call.
  callIds: 'at-most-40',
  files: 'data',
  video: false,
  showsThinking: false,
  customTools: true,
  embeddings: { names: {}, unsupported: new Set(['input_type']) },
}

/** A server that one runs oneself; none of them refuses what it does not know, so what it passes over must be told. */
const LOCAL: Facts = {
  unsupported: [...ROUTER_FIELDS, ...OPENAI_FIELDS, 'service_tier', 'metadata', 'prompt_cache_key'],
}

const VENDORS: ReadonlyMap<string, Vendor> = new Map([
  ['openai', vendor(OPENAI)],

  // Azure OpenAI v1 reference, "Authentication": a key goes in api-key. Its base URL may carry ?api-version=.
  ['azure', vendor({ ...OPENAI, keyHeader: 'api-key' })],

  // openrouter.ai/docs: "Reasoning tokens", "Prompt caching"; the @openrouter/sdk package's ChatRequest.
  [
    'openrouter',
    vendor({
      textParts: true,
      refusals: true,
      cacheMarks: { ttl: true, tools: true, request: true },
      reasoning: 'object',
      thinkingBack: 'details',
      webSearch: 'openrouter:web_search',
    }),
  ],

  // console.groq.com/docs/openai, "Currently unsupported OpenAI features": 400 for the chances of tokens, n, names of
  // messages and members that it does not know.
  [
    'groq',
    vendor({
      maxTokensField: 'max_completion_tokens',
      unsupported: [...ROUTER_FIELDS, ...OPEN_SAMPLERS, ...OPENAI_FIELDS, ...TOKEN_CHANCES, 'n', 'prompt_cache_key'],
      strictMessages: true,
      reasoning: { ...EFFORT, efforts: ['none', 'low', 'medium', 'high'] },
      embeddings: null,
    }),
  ],

  // github.com/mistralai/client-python, models/chatcompletionrequest.py: 422 for any other field. Ids of calls: error 3280.
  [
    'mistral',
    vendor({
      names: { ...ONLY_MAX_TOKENS, seed: 'random_seed' },
      unsupported: [
        ...ROUTER_FIELDS,
        ...OPEN_SAMPLERS,
        ...OPENAI_FIELDS.filter((field) => field !== 'prediction'),
        ...TOKEN_CHANCES,
        'service_tier',
        'user',
      ],
      streamOptions: false,
      strictMessages: true,
      callIds: 'nine-alphanumeric',
      files: 'document_url',
      reasoning: { ...EFFORT, efforts: ['none', 'high'] },
      // models/embeddingrequest.py
      embeddings: { names: { dimensions: 'output_dimension' }, unsupported: new Set(['user', 'input_type']) },
    }),
  ],

  // api-docs.deepseek.com/guides/thinking_mode: the toggle, the efforts, and 400 where the thinking of a turn with calls
  // does not come back. /guides/json_mode: no schemas. The developer role is answered with "unknown variant".
  [
    'deepseek',
    vendor({
      names: ONLY_MAX_TOKENS,
      unsupported: [...ROUTER_FIELDS, ...OPEN_SAMPLERS, ...OPENAI_FIELDS, 'logit_bias', 'n', 'seed', 'service_tier'],
      contentBesideCalls: true,
      reasoning: { efforts: ['low', 'medium', 'high', 'xhigh', 'max'], toggle: 'thinking', toggleBesideEffort: true, budgetField: null },
      thinkingBack: { field: 'reasoning_content', filler: '' },
      jsonSchema: false,
      embeddings: null,
    }),
  ],

  // docs.x.ai: chat completions are function calling only (Live Search was withdrawn).
  ['xai', vendor({ unsupported: [...ROUTER_FIELDS, ...OPEN_SAMPLERS, ...OPENAI_FIELDS], strictMessages: true, embeddings: null })],

  // docs.together.ai, "Chat completions" and "Reasoning models": reasoning.enabled for hybrid models.
  [
    'together',
    vendor({
      names: ONLY_MAX_TOKENS,
      unsupported: [...ROUTER_FIELDS, ...OPENAI_FIELDS, 'service_tier', 'metadata', 'prompt_cache_key'],
      reasoning: { efforts: ['low', 'medium', 'high'], toggle: 'reasoning', toggleBesideEffort: false, budgetField: null },
    }),
  ],

  // docs.fireworks.ai, "Create chat completion" and "Reasoning".
  ['fireworks', vendor({ unsupported: [...ROUTER_FIELDS, ...OPENAI_FIELDS.filter((field) => field !== 'prediction')] })],

  // inference-docs.cerebras.ai, "Chat completions" and "OpenAI compatibility": 400 for the penalties and logit_bias.
  [
    'cerebras',
    vendor({
      maxTokensField: 'max_completion_tokens',
      unsupported: [
        ...ROUTER_FIELDS,
        ...OPEN_SAMPLERS,
        ...OPENAI_FIELDS.filter((field) => field !== 'prediction'),
        'frequency_penalty',
        'presence_penalty',
        'logit_bias',
        'n',
        'metadata',
      ],
      developerRole: true,
      strictMessages: true,
      reasoning: { ...EFFORT, efforts: ['none', 'low', 'medium', 'high'] },
      embeddings: null,
    }),
  ],

  // docs.perplexity.ai, "Chat completions": no tools. It always searches, and usage is in every chunk.
  [
    'perplexity',
    vendor({
      names: ONLY_MAX_TOKENS,
      unsupported: [
        ...ROUTER_FIELDS,
        ...OPENAI_FIELDS.filter((field) => field !== 'web_search_options'),
        ...TOKEN_CHANCES,
        ...TOOL_FIELDS,
        'min_p',
        'repetition_penalty',
        'stop',
        'n',
        'seed',
        'user',
        'metadata',
        'service_tier',
        'prompt_cache_key',
      ],
      streamOptions: false,
      strictMessages: true,
      webSearch: 'web_search_options',
      embeddings: null,
    }),
  ],

  // platform.moonshot.ai, "Use Kimi thinking models": 400 where the thinking of a turn with calls is missing or empty, or
  // an effort stands beside the toggle. "Migrating from OpenAI": tool_choice knows no `required`.
  [
    'moonshot',
    vendor({
      names: ONLY_MAX_TOKENS,
      unsupported: [...ROUTER_FIELDS, ...OPEN_SAMPLERS, ...OPENAI_FIELDS, ...TOKEN_CHANCES, 'seed', 'service_tier'],
      contentBesideCalls: true,
      reasoning: { efforts: ['low', 'medium', 'high'], toggle: 'thinking', toggleBesideEffort: false, budgetField: null },
      thinkingBack: { field: 'reasoning_content', filler: ' ' },
      requiredToolChoice: false,
      embeddings: null,
    }),
  ],

  // alibabacloud.com/help/model-studio: "Context cache" (marks on content, for five minutes) and "Deep thinking".
  [
    'alibaba',
    vendor({
      names: ONLY_MAX_TOKENS,
      unsupported: [...ROUTER_FIELDS, ...OPENAI_FIELDS, 'min_p', 'frequency_penalty', 'logit_bias', 'service_tier', 'metadata'],
      textParts: true,
      cacheMarks: { ttl: false, tools: false, request: false },
      reasoning: { efforts: [], toggle: 'enable_thinking', toggleBesideEffort: false, budgetField: 'thinking_budget' },
      webSearch: 'enable_search',
    }),
  ],

  // docs.z.ai, "Deep thinking": a toggle without efforts.
  [
    'zai',
    vendor({
      names: ONLY_MAX_TOKENS,
      unsupported: [...ROUTER_FIELDS, ...OPEN_SAMPLERS, ...OPENAI_FIELDS, ...TOKEN_CHANCES, 'n', 'seed', 'service_tier'],
      reasoning: { efforts: [], toggle: 'thinking', toggleBesideEffort: false, budgetField: null },
      requiredToolChoice: false,
      embeddings: null,
    }),
  ],

  // docs.ollama.com/api/openai-compatibility, "Supported request fields".
  [
    'ollama',
    vendor({
      ...LOCAL,
      names: ONLY_MAX_TOKENS,
      unsupported: [...(LOCAL.unsupported ?? []), ...OPEN_SAMPLERS, 'logit_bias', 'n', 'user', 'parallel_tool_calls'],
    }),
  ],

  // docs.vllm.ai, "OpenAI-compatible server": its extra parameters are the open samplers' and go beside the others.
  ['vllm', vendor(LOCAL)],

  // github.com/ggml-org/llama.cpp, tools/server/README.md: the native names of /completion are accepted here too.
  ['llamacpp', vendor({ ...LOCAL, names: { ...ONLY_MAX_TOKENS, repetition_penalty: 'repeat_penalty' } })],

  // lmstudio.ai/docs, "OpenAI compatibility", supported payload parameters.
  [
    'lmstudio',
    vendor({
      ...LOCAL,
      names: { ...ONLY_MAX_TOKENS, repetition_penalty: 'repeat_penalty' },
      unsupported: [...(LOCAL.unsupported ?? []), 'n', 'user', 'min_p'],
    }),
  ],
])
