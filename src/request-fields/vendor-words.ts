/**
 * Names that vendors document for a setting of this service, beside the fields of its interfaces. Such a field is passed on to a
 * provider of the client's dialect as it is, so a lock on the setting holds it, and it replaces the preset's value otherwise
 * (docs/contract/presets.md#merge). Signs between words and their case do not count: `maxOutputTokens` is `max_output_tokens`.
 */
import { type ClientDialect, CLIENT_DIALECTS } from '../canonical/call.ts'
import { plainName } from '../canonical/conversation-media.ts'
import { SEARCH_NAMES } from '../canonical/search-words.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { isObject } from '../lib/json/json.ts'
import type { Steps } from '../lib/steps.ts'
import { wordSet } from '../lib/text/word-set.ts'
import type { FieldMeaning, RequestField } from './field.ts'
import { fieldOf, REQUEST_FIELDS } from './request-fields.ts'

/** The names, by the setting that they change, or by the field if it has no meaning of its own. */
export const VENDOR_WORDS: Readonly<Partial<Record<FieldMeaning | 'provider', string>>> = {
  // DeepSeek, Zhipu, Moonshot: `thinking`. Alibaba Model Studio, "Deep thinking". Google, "OpenAI compatibility" and ThinkingConfig. Ollama,
  // "Thinking". Mistral, "Reasoning": `prompt_mode`. Groq and Cerebras, "Reasoning". MiniMax, "Text chat": `reasoning_split`. vLLM, SGLang and
  // llama.cpp: the schemas of their servers.
  reasoning: `
    think enable_thinking disable_reasoning thinking_budget thinking_budget_tokens thinking_token_budget thinking_level
    thinking_config reasoning_budget reasoning_budget_tokens reasoning_config reasoning_format reasoning_split
    reasoning_summary include_thoughts separate_reasoning stream_reasoning prompt_mode`,
  // Ollama, Modelfile parameters. llama.cpp, server README. TGI, "Generate". Bedrock, "Llama models". Anthropic, "Text completions". NVIDIA NeMo.
  // TabbyAPI, text-generation-webui: the schemas of their servers.
  maxOutputTokens: `
    num_predict n_predict max_new_tokens max_gen_len max_tokens_to_sample max_response_output_tokens tokens_to_generate
    max_length auto_max_new_tokens`,
  // vLLM, SGLang: the schemas of their servers. text-generation-webui, TabbyAPI: API.
  stop: 'stop_token_ids stop_words stop_strings stop_regex stopping_strings custom_stopping_strings stop_sequence',
  // Mistral, "Chat completion". SGLang, KoboldCpp: the schemas of their servers.
  seed: 'random_seed sampling_seed sampler_seed',
  // Cohere, "Chat".
  topK: 'k',
  topP: 'p',
  // llama.cpp, server README; text-generation-webui, TabbyAPI: API.
  temperature: `
    dynatemp_range dynatemp_exponent dynamic_temperature dynatemp_low dynatemp_high min_temp max_temp temp_exponent`,
  repetitionPenalty: 'repeat_penalty rep_pen',
  topLogprobs: 'n_probs top_logprobs_num',
  logprobs: 'n_probs top_logprobs_num response_logprobs return_logprob',
  // vLLM, "Structured outputs"; SGLang, llama.cpp, Ollama and TabbyAPI: the schemas of their servers; Google, GenerationConfig.
  outputFormat: `
    format structured_outputs guided_json guided_regex guided_choice guided_grammar json_schema grammar grammar_string
    ebnf regex regex_pattern structural_tag response_mime_type response_schema response_json_schema`,
  // Google, "Function calling".
  toolChoice: 'tool_config',
  // Alibaba Model Studio, "Code interpreter"; LM Studio, "MCP".
  tools: 'enable_code_interpreter integrations enabled_tools',
  webSearchOptions: [...SEARCH_NAMES, 'disable_search'].join(' '),
  outputModalities: 'response_modalities',
  audioOutput: 'speech_config',
  // Amazon Bedrock, "Latency-optimized inference".
  serviceTier: 'performance_config',
  // Vercel AI Gateway, "Provider options": they stand in `providerOptions.gateway`.
  provider: 'only order sort',
}

/** A setting, or one of two things that are no settings. */
type Bent = FieldMeaning | 'systemPrompt' | 'model'

/**
 * Names that change what a setting does, or whether it counts at all. They are held where one of the settings is locked, and take no value's
 * place. The system prompt of a preset is always held, since a request can add to it but never replace or read it.
 */
export const BENDING_WORDS: readonly { readonly bends: readonly [Bent, ...Bent[]]; readonly words: string }[] = [
  {
    bends: ['temperature', 'topP', 'topK', 'minP', 'topA', 'frequencyPenalty', 'presencePenalty', 'repetitionPenalty', 'logitBias'],
    // SGLang, vLLM: the schemas of their servers. llama.cpp, server README. KoboldCpp, text-generation-webui and TabbyAPI: API. TGI, "Generate".
    words: `
      custom_logit_processor logits_processors samplers sampler_order sampler_priority sampler_seq do_sample use_beam_search
      mirostat mirostat_mode mirostat_tau mirostat_eta temperature_last`,
  },
  // llama.cpp, server README. KoboldCpp, text-generation-webui and TabbyAPI: API.
  {
    bends: ['repetitionPenalty', 'frequencyPenalty', 'presencePenalty'],
    words: 'repeat_last_n penalty_range repetition_range repetition_penalty_range rep_pen_range',
  },
  // vLLM, TabbyAPI and text-generation-webui: the schemas of their servers.
  {
    bends: ['logitBias'],
    words: 'allowed_token_ids allowed_tokens bad_words banned_tokens banned_strings custom_token_bans',
  },
  // llama.cpp, server README; SGLang: the schema of its server; TGI, "Generate".
  { bends: ['model'], words: 'lora lora_path adapter_id' },
  // A template writes the whole prompt anew, tools included, and tokens stand in its place: vLLM, SGLang and text-generation-webui.
  { bends: ['systemPrompt', 'tools'], words: 'chat_template chat_template_str instruction_template instruction_template_str input_ids' },
  // A member of `chat_template_kwargs` takes the place of the template's own variable: llama.cpp, its template engine (minja).
  { bends: ['systemPrompt', 'tools'], words: 'messages' },
  // A prompt that is cut loses its beginning: vLLM, the schema of its server.
  { bends: ['systemPrompt', 'tools'], words: 'truncate_prompt_tokens truncation_side' },
  // The answer would hold the prompt, in tokens or as it was written: vLLM, SGLang and Ollama.
  { bends: ['systemPrompt'], words: 'prompt_logprobs return_token_ids return_prompt_token_ids return_prompt_text _debug_render_only' },
]

/** A search is a tool, as `web_search_options` says in its row. */
const BESIDE: Readonly<Record<string, readonly string[]>> = { webSearchOptions: ['webSearchOptions', 'tools'] }

/** Objects whose members are settings. Each vendor of `providerOptions` and each model of a compound system has such an object, too. */
export const SETTING_HOLDERS = wordSet(`
  options parameters sampling_params custom_params vllm_xargs generation_config inference_config chat_template_kwargs chat_template_args
  additional_model_request_fields provider_options gateway google vertex openai anthropic xai groq mistral deepseek
  alibaba compound_custom
`)

const HOLDERS: ReadonlySet<string> = new Set([...SETTING_HOLDERS].map(plainName))

/** Too common to be told by their name alone. */
const INSIDE_ONLY: ReadonlySet<string> = wordSet(VENDOR_WORDS.provider ?? '')

interface Word {
  /** Settings and fields that the name changes as a whole. */
  readonly changes: ReadonlySet<string>
  /** Further settings that the name bends. */
  readonly bends: ReadonlySet<string>
  /** The members that change something by themselves. */
  readonly members: ReadonlyMap<string, ReadonlySet<string>>
}

const NO_SETTING: ReadonlySet<FieldMeaning> = new Set(['conversation', 'service', 'written', 'refused', 'none'])

/** A name of another interface's is a vendor's word on an interface that does not know it. */
const changesOf = (name: string, { means, changes = [] }: RequestField): readonly string[] => [
  name,
  ...changes,
  ...(typeof means === 'string' && !NO_SETTING.has(means) ? [means] : []),
]

const namesOfRow = ([name, row]: readonly [string, RequestField]): readonly (readonly [string, Word])[] => {
  if ([row.means].flat().includes('conversation')) return []
  const members = Object.entries(row.members ?? {}).map(([member, meaning]) => [plainName(member), new Set([meaning])] as const)
  return [[plainName(name), { changes: new Set(changesOf(name, row)), bends: NOTHING, members: new Map(members) }]]
}

const NOTHING: ReadonlySet<never> = new Set()

const wordsOf = (words: string, word: Pick<Word, 'changes' | 'bends'>): readonly (readonly [string, Word])[] =>
  [...wordSet(words)].map((name) => [plainName(name), { ...word, members: new Map() }] as const)

const table = (): ReadonlyMap<string, Word> => {
  const rows = CLIENT_DIALECTS.flatMap((client) => Object.entries<RequestField>(REQUEST_FIELDS[client]).flatMap(namesOfRow))
  const words = Object.entries(VENDOR_WORDS).flatMap(([changed, names]) =>
    wordsOf(names, { changes: new Set(BESIDE[changed] ?? [changed]), bends: NOTHING }),
  )
  const bending = BENDING_WORDS.flatMap((row) => wordsOf(row.words, { changes: NOTHING, bends: new Set(row.bends) }))
  const all = Map.groupBy([...rows, ...words, ...bending], ([name]) => name)
  return new Map(
    [...all].map(([name, group]) => [
      name,
      {
        changes: new Set(group.flatMap(([, { changes }]) => [...changes])),
        bends: new Set(group.flatMap(([, { bends }]) => [...bends])),
        members: new Map(group.flatMap(([, { members }]) => [...members])),
      },
    ]),
  )
}

const TABLE = table()

/** A place in a request at which a vendor's word stands, with its value. */
export interface FoundWord {
  readonly path: readonly [string, ...string[]]
  readonly value: unknown
  /** Names of fields and meanings of settings. */
  readonly changes: ReadonlySet<string>
  /** The settings whose effect the word changes; `systemPrompt` is the preset's. */
  readonly bends: ReadonlySet<string>
}

/** The vendors' words in a body, in its order; a word whose value is null says nothing. */
export function* vendorWordsIn(client: ClientDialect, body: Pick<JsonBody, 'keys' | 'parsing'>): Steps<readonly FoundWord[]> {
  const found: FoundWord[] = []
  for (const key of body.keys) {
    const plain = plainName(key)
    if (fieldOf(client, key) !== undefined || INSIDE_ONLY.has(plain) || (!TABLE.has(plain) && !HOLDERS.has(plain))) continue
    read([key], yield* body.parsing(key), found)
    yield
  }
  return found
}

const read = (path: FoundWord['path'], value: unknown, found: FoundWord[]): void => {
  if ((value ?? null) === null) return
  const name = plainName(path.at(-1) ?? '')
  const word = TABLE.get(name)
  if (word !== undefined) found.push({ path, value, changes: word.changes, bends: word.bends })
  if (!isObject(value)) return
  for (const [member, inner] of Object.entries(value)) {
    const changes = word?.members.get(plainName(member))
    if (changes !== undefined && inner !== null) found.push({ path: [...path, member], value: inner, changes, bends: NOTHING })
    else if (HOLDERS.has(name)) read([...path, member], inner, found)
  }
}

/** True if the word asks for the setting not to be used at all, such as `enable_thinking: false` and `thinking: {"type": "disabled"}`. */
export const turnsOff = ({ path, value }: Pick<FoundWord, 'path' | 'value'>): boolean => {
  if (isObject(value)) return Object.entries(value).some(([member, inner]) => SWITCHES.has(plainName(member)) && OFF.has(inner))
  return plainName(path.at(-1) ?? '').startsWith('disable') ? value === true : OFF.has(value)
}

const OFF: ReadonlySet<unknown> = new Set([false, 0, 'none', 'off', 'disabled'])

/** The members of vendors' objects that turn thinking off. */
const SWITCHES: ReadonlySet<string> = new Set([...wordSet('type enabled effort budget_tokens thinking_budget')].map(plainName))

/** Returns the value without the members at these paths; null if nothing is left of it. */
export const withoutPaths = (value: unknown, paths: readonly (readonly string[])[]): unknown => {
  if (!isObject(value) || paths.some((path) => path.length === 0)) return null
  const rest = Object.entries(value).flatMap(([member, inner]) => {
    const inside = paths.flatMap(([first, ...others]) => (first === member ? [others] : []))
    const kept = inside.length === 0 ? inner : withoutPaths(inner, inside)
    return inside.length > 0 && kept === null ? [] : [[member, kept] as const]
  })
  return rest.length === 0 ? null : Object.fromEntries(rest)
}
