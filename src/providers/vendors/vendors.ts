/**
 * The particulars of each vendor of the Chat Completions and Responses dialects. A fact is listed here because without it requests fail or
 * a setting is silently ignored; what a vendor takes as OpenAI does is not listed. Rows are found by the provider's slug.
 */
import { DASHED, DASHED_WORD } from '../tools/tool-name-form.ts'
import type { ClientDialect } from '../../canonical/call.ts'
import type { OutputLimit, ReasoningWords, Vendor } from './vendor.ts'

export const vendorOf = (slug: string): Vendor => VENDORS.get(slug) ?? UNKNOWN

export const isKnownVendor = (slug: string): boolean => VENDORS.has(slug)

/** The slugs of the vendors that have a row here and speak the dialect. */
export const vendorsOf = (dialect: ClientDialect): readonly string[] =>
  [...VENDORS].flatMap(([slug, { accepts }]) => (accepts !== 'everything' && accepts[dialect] !== undefined ? [slug] : []))

const EFFORT: ReasoningWords = { efforts: 'any', toggle: null, toggleBesideEffort: false, budgetField: null }

const EITHER_LIMIT: readonly OutputLimit[] = ['max_tokens', 'max_completion_tokens']
const NEWER_LIMIT: readonly OutputLimit[] = ['max_completion_tokens', 'max_tokens']
const OLDER_LIMIT: readonly OutputLimit[] = ['max_tokens']

/** For example a server of the operator's own: everything is passed on, in the form that most servers know. */
const UNKNOWN: Vendor = {
  keyHeader: 'authorization',
  accepts: 'everything',
  openAiModels: false,
  outputLimits: EITHER_LIMIT,
  names: {},
  stopMax: null,
  identifierMax: null,
  ordinaryTier: 'default',
  streamOptions: true,
  developerRole: false,
  systemFirst: false,
  textParts: 'none',
  toolMedia: false,
  namedRoles: 'any',
  strictOrder: false,
  strictMessages: false,
  prefixes: false,
  refusals: false,
  contentBesideCalls: false,
  callIds: 'any',
  toolNames: null,
  objectSchemas: false,
  typesInside: false,
  patterns: 'any',
  toolNamespaces: false,
  builtInTools: true,
  files: 'any',
  video: true,
  cacheMarks: null,
  reasoning: EFFORT,
  thinkingBack: 'untouched',
  showsThinking: true,
  jsonSchema: true,
  structuredOutputs: 'flag',
  neverRequired: null,
  unforcedThinkers: null,
  refusedFields: [],
  customTools: false,
  webSearch: null,
  reportsCharge: false,
  embeddings: { names: {}, accepts: new Set(['dimensions', 'encoding_format', 'input_type', 'user']) },
}

/** Families of fields. BASIC is what every vendor takes. */
const BASIC = ['temperature', 'top_p', 'response_format']
const TOOLS = ['tools', 'tool_choice']
const PARALLEL = 'parallel_tool_calls'
const PENALTIES = ['frequency_penalty', 'presence_penalty']
const TOKEN_CHANCES = ['logit_bias', 'logprobs', 'top_logprobs']
const OPEN_SAMPLERS = ['top_k', 'min_p', 'repetition_penalty']
const USUAL = [...BASIC, ...TOOLS, PARALLEL, ...PENALTIES, 'stop', 'seed', 'user']
const RESPONSES = [
  'instructions',
  'text',
  'include',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_tool_calls',
  'truncation',
  'store',
  'service_tier',
  'user',
  'safety_identifier',
  'metadata',
  'prompt_cache_key',
]

/** The fields that a vendor accepts in each dialect that it speaks, and what else is known about it. */
type Facts = Partial<Omit<Vendor, 'accepts'> & Readonly<Record<ClientDialect, readonly string[]>>>

const vendor = ({ chat, responses, messages, ...facts }: Facts): Vendor => ({
  ...UNKNOWN,
  thinkingBack: 'none',
  toolNames: DASHED,
  ...facts,
  accepts: Object.fromEntries(
    Object.entries({ chat, responses, messages }).flatMap(([dialect, fields]) =>
      fields === undefined ? [] : [[dialect, new Set(fields)]],
    ),
  ),
})

const OPENAI = {
  // API reference, "Create chat completion" and "Create a model response"; the openai package's types.
  chat: [
    'response_format',
    ...TOOLS,
    // The older names for tools.
    'functions',
    'function_call',
    'n',
    'seed',
    'user',
    'safety_identifier',
    'service_tier',
    'prompt_cache_key',
    'prompt_cache_retention',
    'modalities',
    'audio',
  ],
  responses: [...RESPONSES, 'prompt_cache_retention', 'context_management'],
  openAiModels: true,
  outputLimits: NEWER_LIMIT,
  // "stop: up to 4 sequences"; "string too long. Expected a string with maximum length 64" for user and its like.
  stopMax: 4,
  identifierMax: 64,
  developerRole: true,
  textParts: 'any',
  refusals: true,
  // "string too long. Expected a string with maximum length 40" for the id of a call.
  callIds: 'at-most-40',
  objectSchemas: true,
  patterns: 'python',
  toolNamespaces: true,
  files: 'data',
  video: false,
  showsThinking: false,
  customTools: true,
  embeddings: { names: {}, accepts: new Set(['dimensions', 'encoding_format', 'user']) },
} as const satisfies Facts

/** A self-hosted server. None of these refuses what it does not know, so whatever it ignores must be reported. */
const LOCAL = { toolNames: null, systemFirst: true, textParts: 'any' as const, chat: [...USUAL, ...OPEN_SAMPLERS, ...TOKEN_CHANCES, 'n'] }

/** Grok models that take no effort of thinking, whether they think or not. */
const EFFORTLESS_GROK = /^grok-(?:[23]|4-fast|4-1-fast|4\.20(?!-multi-agent)|code|build|composer)/

/** gpt-oss always thinks: a host that shows its efforts refuses `none`. */
const GPT_OSS = { models: /gpt-oss/, words: { efforts: ['low', 'medium', 'high'], toggle: null } }

/** Llama does not think, and some hosts refuse any effort: "reasoning_effort is not supported with this model". */
const EFFORTLESS_LLAMA = { models: /llama/, words: { efforts: [], thinks: false as const } }

/** Models that think, among the open ones that Groq and Cerebras serve. */
const OPEN_THINKERS = /gpt-oss|qwen-?3|glm/

/** The names of Mistral's models that think. */
const MISTRALS_THINKERS = /magistral|mistral-(?:small-(?:26|latest)|medium-(?:26|3(?:$|[-.]5)|[4-9]|latest)|large-[4-9]|vibe-cli)/

/** Its other models refuse any effort: "Reasoning effort is not enabled for this model". */
const MISTRALS_OTHERS = new RegExp(
  `^(?=(?:labs-)?(?:mistral|codestral|devstral|ministral|pixtral|voxtral|open-))(?!.*(?:${MISTRALS_THINKERS.source}))`,
)

/** Kimi models that always think. */
const THIRD_KIMI = /^kimi-k[3-9]/

/** Kimi models that think unless thinking is turned off, and whose sampling is fixed. */
const FIXED_KIMI = /^kimi-k(?:2\.[5-9]|[3-9])/

const VENDORS: ReadonlyMap<string, Vendor> = new Map([
  [
    'openai',
    vendor({ ...OPENAI, chat: [...OPENAI.chat, 'moderation'], responses: [...OPENAI.responses, 'moderation', 'image', 'access_programs'] }),
  ],

  // docs.claude.com, "Create a Message"; for thinking the models have rules of their own (anthropic/model-rules.ts).
  [
    'anthropic',
    vendor({
      messages: [
        'temperature',
        'top_p',
        'top_k',
        'stop_sequences',
        'output_config',
        'metadata',
        'service_tier',
        'speed',
        ...TOOLS,
        'cache_control',
        'container',
        'mcp_servers',
        'context_management',
        'safeguards',
        'compaction',
        'inference_geo',
      ],
    }),
  ],

  // platform.minimax.io, "Compatible Anthropic API": it ignores top_k, stop_sequences, service_tier and context_management.
  ['minimax', vendor({ messages: ['temperature', 'top_p', 'metadata', ...TOOLS] })],

  // Azure OpenAI v1 reference, "Authentication": a key goes in api-key. Its base URL may carry ?api-version=.
  ['azure', vendor({ ...OPENAI, keyHeader: 'api-key' })],

  // openrouter.ai/docs: "Reasoning tokens", "Prompt caching", "Usage accounting"; the @openrouter/sdk package's ChatRequest and ResponsesRequest.
  [
    'openrouter',
    vendor({
      reportsCharge: true,
      chat: [
        ...LOCAL.chat,
        'top_a',
        'image_config',
        'cache_control',
        'structured_outputs',
        'verbosity',
        'modalities',
        'audio',
        'prediction',
        'web_search_options',
        'prompt_cache_key',
        'prompt_cache_options',
        'service_tier',
        'metadata',
        'safety_identifier',
      ],
      responses: [
        ...RESPONSES,
        ...BASIC,
        ...PENALTIES,
        'top_k',
        'top_logprobs',
        'modalities',
        'image_config',
        'cache_control',
        'prompt_cache_options',
      ],
      developerRole: true,
      textParts: 'any',
      toolMedia: true,
      refusals: true,
      cacheMarks: { ttl: true, tools: true },
      reasoning: 'object',
      thinkingBack: 'details',
      webSearch: 'openrouter:web_search',
    }),
  ],

  // console.groq.com/docs/openai, "Currently unsupported OpenAI features": 400 for logprobs and logit_bias, n, names of
  // messages and members that it does not know. "for 'role:system' the following must be satisfied: value must be a string".
  // github.com/groq/groq-python, types/chat/completion_create_params.py: the tiers. "Reasoning", "Options for reasoning effort": the efforts;
  // Qwen thinks by default, and "`reasoning_effort` must be one of `none` or `default`".
  // chat_completion_assistant_message_param.py: `reasoning`, "supported on models that support reasoning", and by others refused
  // (github.com/vercel/ai/issues/8056).
  [
    'groq',
    vendor({
      chat: [...USUAL, 'service_tier', 'metadata'],
      outputLimits: NEWER_LIMIT,
      stopMax: 4,
      ordinaryTier: 'on_demand',
      strictMessages: true,
      textParts: 'user',
      namedRoles: [],
      reasoning: {
        ...EFFORT,
        efforts: ['none', 'low', 'medium', 'high'],
        others: [GPT_OSS, EFFORTLESS_LLAMA, { models: /qwen/, words: { efforts: ['none', 'default'] } }],
      },
      thinkingBack: { field: 'reasoning', filler: null, models: OPEN_THINKERS },
      embeddings: null,
    }),
  ],

  // github.com/mistralai/client-python, models/chatcompletionrequest.py: 422 for any other field; models/toolmessage.py:
  // the one message that has a name; models/assistantmessage.py and toolcall.py: `prefix` and `index`. Ids of calls: error 3280. The order of turns: error 3230, "Unexpected role 'user'
  // after role 'tool'", "Expected last role User or Tool (or Assistant with prefix True)"; mistral-common's validator, which takes the
  // user after a tool since 1.11, while the API still refused it in August 2026. docs.mistral.ai, "Reasoning", "Multi-turn conversations":
  // the thinking goes back; the validators of older models take text only.
  [
    'mistral',
    vendor({
      chat: [...USUAL.filter((field) => field !== 'user'), 'n', 'metadata', 'prediction', 'prompt_cache_key'],
      outputLimits: OLDER_LIMIT,
      names: { seed: 'random_seed' },
      streamOptions: false,
      strictMessages: true,
      prefixes: true,
      textParts: 'any',
      namedRoles: ['tool'],
      strictOrder: true,
      callIds: 'nine-alphanumeric',
      files: 'document_url',
      reasoning: {
        ...EFFORT,
        efforts: ['none', 'high'],
        others: [
          { models: MISTRALS_OTHERS, words: { efforts: [], thinks: false } },
          { models: /^mistral-large-/, words: { efforts: ['none', 'low', 'medium', 'high'] } },
        ],
      },
      thinkingBack: { field: 'content', filler: null, models: MISTRALS_THINKERS },
      // models/embeddingrequest.py
      embeddings: { names: { dimensions: 'output_dimension' }, accepts: new Set(['dimensions', 'encoding_format']) },
    }),
  ],

  // api-docs.deepseek.com/guides/thinking_mode: the toggle, the efforts, and 400 if the thinking of a turn with calls does not come back.
  // /guides/json_mode: no schemas. The developer role is answered with "unknown variant". "Thinking mode does not support this
  // tool_choice": all but auto and none. "schema must be a JSON Schema of 'type: "object"', got 'type: null'" for a tool; "is not a
  // "regex"" for a pattern (github.com/anthropics/claude-code/issues/92964).
  [
    'deepseek',
    vendor({
      chat: [...BASIC, ...TOOLS, PARALLEL, ...PENALTIES, 'stop', 'logprobs', 'top_logprobs', 'user', 'metadata', 'prompt_cache_key'],
      outputLimits: OLDER_LIMIT,
      stopMax: 16,
      contentBesideCalls: true,
      reasoning: { efforts: ['low', 'medium', 'high', 'xhigh', 'max'], toggle: 'thinking', toggleBesideEffort: true, budgetField: null },
      thinkingBack: { field: 'reasoning_content', filler: '' },
      jsonSchema: false,
      objectSchemas: true,
      patterns: 'python',
      unforcedThinkers: /^deepseek-(?!chat)/,
      embeddings: null,
    }),
  ],

  // docs.x.ai: chat completions take function calls only (Live Search was withdrawn). "Model grok-4.5 does not support parameter
  // presencePenalty", also with 0; models that think refuse `stop` too. "Only messages of role 'user' can have a name." "Tool parameter
  // root must be an object type". "Reasoning", "The reasoning_effort parameter": the efforts; only Grok 4.3 need not think. The others
  // answer any effort with "Model grok-build does not support parameter reasoningEffort."
  [
    'xai',
    vendor({
      reportsCharge: true,
      chat: [...USUAL, ...TOKEN_CHANCES, 'n', 'service_tier', 'metadata', 'prompt_cache_key'],
      responses: [...RESPONSES, 'temperature', 'top_p', 'top_logprobs'],
      builtInTools: false,
      objectSchemas: true,
      patterns: 'without-lookaround',
      strictMessages: true,
      textParts: 'any',
      namedRoles: ['user'],
      reasoning: {
        ...EFFORT,
        efforts: ['low', 'medium', 'high', 'xhigh'],
        others: [
          { models: /^grok-.*non-reasoning/, words: { efforts: [], thinks: false } },
          { models: /^grok-4(?:\.3|-0709|-latest|$)/, words: { efforts: ['none', 'low', 'medium', 'high'] } },
          { models: /^grok-4\.5/, words: { efforts: ['low', 'medium', 'high'] } },
          { models: /^grok-3-mini/, words: { efforts: ['low', 'high'] } },
          { models: EFFORTLESS_GROK, words: { efforts: [] } },
        ],
      },
      refusedFields: [
        { models: /^grok-(?!3)/, fields: PENALTIES },
        { models: /^grok-(?!3|.*non-reasoning)/, fields: ['stop'] },
      ],
      embeddings: null,
    }),
  ],

  // docs.together.ai, "Chat completions" and "Reasoning models": reasoning.enabled for hybrid models.
  [
    'together',
    vendor({
      chat: LOCAL.chat,
      outputLimits: OLDER_LIMIT,
      textParts: 'user',
      reasoning: {
        efforts: ['low', 'medium', 'high'],
        toggle: 'reasoning',
        toggleBesideEffort: false,
        budgetField: null,
        others: [GPT_OSS],
      },
    }),
  ],

  // docs.fireworks.ai, "Create chat completion" and "Reasoning": its templates read the thinking of earlier turns.
  [
    'fireworks',
    vendor({
      chat: [...LOCAL.chat, 'service_tier', 'metadata', 'prediction', 'prompt_cache_key'],
      textParts: 'any',
      thinkingBack: { field: 'reasoning_content', filler: null },
    }),
  ],

  // inference-docs.cerebras.ai, "Chat completions" and "OpenAI compatibility": 400 for the penalties and logit_bias.
  // github.com/Cerebras/cerebras-cloud-sdk-python, types/chat/completion_create_params.py: `reasoning` of the assistant's messages.
  [
    'cerebras',
    vendor({
      chat: [
        ...BASIC,
        ...TOOLS,
        PARALLEL,
        'stop',
        'seed',
        'user',
        'logprobs',
        'top_logprobs',
        'prediction',
        'service_tier',
        'prompt_cache_key',
      ],
      outputLimits: NEWER_LIMIT,
      stopMax: 4,
      developerRole: true,
      strictMessages: true,
      textParts: 'user',
      namedRoles: [],
      reasoning: { ...EFFORT, efforts: ['none', 'low', 'medium', 'high'], others: [GPT_OSS, EFFORTLESS_LLAMA] },
      thinkingBack: { field: 'reasoning', filler: null, models: OPEN_THINKERS },
      embeddings: null,
    }),
  ],

  // docs.perplexity.ai, "Chat completions": no tools. It always searches, and usage is in every chunk. "Media & Attachments": files.
  [
    'perplexity',
    vendor({
      reportsCharge: true,
      chat: [...BASIC, ...PENALTIES, 'top_k', 'web_search_options'],
      outputLimits: OLDER_LIMIT,
      streamOptions: false,
      strictMessages: true,
      textParts: 'user',
      namedRoles: [],
      files: 'file_url',
      webSearch: 'web_search_options',
      embeddings: null,
    }),
  ],

  // platform.moonshot.ai, "Use Kimi thinking models": 400 if the thinking of a turn with calls is missing or empty, or if an effort stands
  // beside the toggle. K2.7 takes no toggle that turns thinking off. "Kimi K3 quickstart": the efforts low, high and max, no toggle, and
  // the choice `required`. "Migrating from OpenAI": tool_choice knows no `required`, and no name beside thinking; from K2.5 on sampling is
  // fixed ("invalid temperature: only 1 is allowed for this model"). "stop": up to 5. "tools.function.parameters.type is required and must
  // be "object"", and no alternatives beside it.
  [
    'moonshot',
    vendor({
      chat: [...USUAL.filter((field) => field !== 'seed'), 'n', 'metadata', 'prompt_cache_key', 'safety_identifier'],
      outputLimits: OLDER_LIMIT,
      stopMax: 5,
      textParts: 'any',
      contentBesideCalls: true,
      reasoning: {
        efforts: ['low', 'medium', 'high'],
        others: [
          { models: /^kimi-k2\.7/, words: { toggle: null } },
          { models: THIRD_KIMI, words: { efforts: ['low', 'high', 'max'], toggle: null } },
        ],
        toggle: 'thinking',
        toggleBesideEffort: false,
        budgetField: null,
      },
      thinkingBack: { field: 'reasoning_content', filler: ' ' },
      neverRequired: new RegExp(`^(?!${THIRD_KIMI.source})`),
      unforcedThinkers: /^kimi-k2\.[5-9]/,
      refusedFields: [{ models: FIXED_KIMI, fields: ['temperature', 'top_p', 'n', ...PENALTIES] }],
      toolNames: DASHED_WORD,
      objectSchemas: true,
      typesInside: true,
      patterns: 'without-lookaround',
      embeddings: null,
    }),
  ],

  // alibabacloud.com/help/model-studio: "Context cache" (marks on content, for five minutes) and "Deep thinking". docs.qwencloud.com,
  // "Function calling with thinking mode": the thinking before a call comes back with its result; a model that does not read it ignores it.
  [
    'alibaba',
    vendor({
      chat: [
        ...USUAL.filter((field) => field !== 'frequency_penalty'),
        'top_k',
        'repetition_penalty',
        'logprobs',
        'top_logprobs',
        'n',
        'prompt_cache_key',
      ],
      outputLimits: OLDER_LIMIT,
      textParts: 'any',
      cacheMarks: { ttl: false, tools: false },
      reasoning: { efforts: [], toggle: 'enable_thinking', toggleBesideEffort: false, budgetField: 'thinking_budget' },
      thinkingBack: { field: 'reasoning_content', filler: null },
      webSearch: 'enable_search',
    }),
  ],

  // docs.z.ai, "Deep thinking": a toggle, and from GLM-5.2 on efforts beside it, of which `max` is the default (docs.bigmodel.cn, "Migrate to
  // GLM-5.2"). "Chat completion": a single stop sequence, no penalties. "Thinking
  // mode": the thinking between calls has to come back with their results.
  [
    'zai',
    vendor({
      chat: [...BASIC, ...TOOLS, PARALLEL, 'stop', 'user', 'metadata', 'prompt_cache_key'],
      outputLimits: OLDER_LIMIT,
      stopMax: 1,
      textParts: 'user',
      reasoning: {
        efforts: [],
        others: [{ models: /^glm-(?:5\.[2-9]|[6-9])/, words: { efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] } }],
        toggle: 'thinking',
        toggleBesideEffort: true,
        budgetField: null,
      },
      thinkingBack: { field: 'reasoning_content', filler: null },
      neverRequired: /^/,
      embeddings: null,
    }),
  ],

  // docs.ollama.com/api/openai-compatibility, "Supported request fields"; openai/openai.go: the thinking of a message is its `reasoning`.
  [
    'ollama',
    vendor({
      systemFirst: true,
      textParts: 'user',
      chat: [...BASIC, ...TOOLS, ...PENALTIES, 'stop', 'seed', 'logprobs', 'top_logprobs'],
      outputLimits: OLDER_LIMIT,
      thinkingBack: { field: 'reasoning', filler: null },
    }),
  ],

  // docs.vllm.ai, "OpenAI-compatible server": its extra parameters are the open samplers' and go beside the others. "Interleaved thinking":
  // `reasoning` comes back; the older name is ignored (github.com/vllm-project/vllm/issues/38488).
  // "Structured outputs": an object of `structured_outputs` holds the schema, the choices, the expression or the grammar of the answer.
  [
    'vllm',
    vendor({
      ...LOCAL,
      chat: [...LOCAL.chat, 'structured_outputs'],
      structuredOutputs: 'object',
      thinkingBack: { field: 'reasoning', filler: null },
    }),
  ],

  // github.com/ggml-org/llama.cpp/tools/server/README.md: the native names of /completion are accepted here too. Its templates read
  // `reasoning_content`, which its own web pages send back (pull/21249).
  [
    'llamacpp',
    vendor({
      ...LOCAL,
      outputLimits: OLDER_LIMIT,
      names: { repetition_penalty: 'repeat_penalty' },
      // issues/27580 and 26930: schemas of tools become one grammar, "Pattern must start with '^' and end with '$'".
      patterns: 'grammar',
      thinkingBack: { field: 'reasoning_content', filler: null },
    }),
  ],

  // lmstudio.ai/docs, "OpenAI compatibility", supported payload parameters. It runs llama.cpp.
  [
    'lmstudio',
    vendor({
      systemFirst: true,
      textParts: 'user',
      chat: [...USUAL.filter((field) => field !== 'user'), ...TOKEN_CHANCES, 'top_k', 'repetition_penalty'],
      outputLimits: OLDER_LIMIT,
      names: { repetition_penalty: 'repeat_penalty' },
      patterns: 'grammar',
    }),
  ],
])
