/**
 * Differences between the models behind Converse: the API is the same for all, and refuses with a 400 what the model does not know.
 * Sources: the Bedrock user guide ("Prompt caching", "Structured outputs", "Tool use", "Model parameters", "Supported models and model
 * features") and that of Amazon Nova ("Extended thinking", "Defining a tool"); for Claude the same rules hold as at Anthropic. What the
 * results of tools may hold and stand beside is written nowhere: it was measured in pydantic-ai's pull requests 6098 and 6254.
 */
import { rulesOf, type ModelRules } from '../anthropic/model-rules.ts'
import type { Target } from '../provider.ts'
import { openAiModel } from '../vendors/openai-model.ts'
import type { PatternForm } from '../tools/schema-patterns.ts'
import { DASHED, UNDASHED, type ToolNameForm } from '../tools/tool-name-form.ts'

export interface ModelFacts {
  /** The rules of a Claude; for any other model the rules of an imitation, with `claude` false. */
  readonly rules: ModelRules
  /** The places for a cache point; `not-by-tools`: neither among the tools nor after the result of one. */
  readonly cachePoints: 'anywhere' | 'not-by-tools' | 'nowhere'
  /** Caches may live for an hour. */
  readonly hourCache: boolean
  /** Takes `outputConfig.textFormat`. */
  readonly schemas: boolean
  /** Takes `strict` tools. */
  readonly strictTools: boolean
  /** The path of top_k in `additionalModelRequestFields`. */
  readonly topK: 'top_k' | 'k' | 'inferenceConfig.topK' | null
  readonly thinking: 'claude' | 'reasoning_effort' | 'reasoning' | 'reasoning_config' | 'reasoningConfig' | null
  /** The efforts that it knows, if it is no Claude. */
  readonly efforts: readonly string[]
  /** Takes `temperature` and `topP`. */
  readonly sampling: boolean
  /** The lowest `maxTokens` that it takes. */
  readonly leastTokens: number
  /** Takes `stopSequences`. */
  readonly stops: boolean
  /** Takes tools in the request for a stream. */
  readonly streamsTools: boolean
  /** The patterns that it takes in schemas of tools. */
  readonly patterns: PatternForm
  /** The schema of a tool may have only `type`, `properties` and `required` at its top level. */
  readonly bareSchemas: boolean
  /** It can be limited to one call of a tool at a time. */
  readonly singleCalls: boolean
  /** The tool choices that it takes besides `auto`. */
  readonly toolChoice: 'any and tool' | 'any' | 'neither'
  /** The kinds of media that the result of a tool may hold. */
  readonly resultMedia: ReadonlySet<string>
  /** The content that a turn of the user may have behind the results of tools. */
  readonly besideResults: 'anything' | 'no documents but PDFs' | 'nothing'
  /** Takes `status` on a tool's result. */
  readonly resultStatus: boolean
  readonly toolNames: ToolNameForm
  readonly callIds: 'any' | 'nine-alphanumeric'
  readonly hears: boolean
}

export const factsOf = ({ upstreamModel, modelId }: Target): ModelFacts => {
  // The name of an inference profile or of provisioned throughput (an ARN) may say nothing: then our own id of the model is used.
  const own = rulesOf(upstreamModel)
  const rules = own.claude ? own : rulesOf(modelId)
  const names = `${upstreamModel} ${modelId}`.toLowerCase()
  if (rules.claude) {
    const recent = SINCE_4_5.test(names)
    // Claude Opus 4.5, the only model that takes an effort but only budgets for thinking, has its efforts here only in a beta.
    const efforts = rules.thinking === 'budget' ? [] : rules.efforts
    return {
      ...CLAUDE,
      rules: { ...rules, efforts },
      hourCache: recent,
      schemas: recent && !WITHOUT_SCHEMAS.test(names),
      strictTools: recent && !WITHOUT_STRICT_TOOLS.test(names),
      singleCalls: recent,
    }
  }
  if (/\bnova-/.test(names)) return { ...OTHER, ...NOVA, thinking: /\bnova-[2-9]/.test(names) ? 'reasoningConfig' : null, rules }
  if (/\b(?:mistral|mixtral|ministral|magistral|pixtral)/.test(names))
    return {
      ...OTHER,
      rules,
      topK: 'top_k',
      callIds: 'nine-alphanumeric',
      streamsTools: !WHOLE_CALLS_OF_MISTRAL.test(names),
      resultMedia: DOCUMENTS,
      besideResults: 'nothing',
    }
  if (/\bcohere[./]/.test(names)) return { ...OTHER, rules, topK: 'k', schemas: false, strictTools: false }
  const gpt = /\bgpt-\d[\w.-]*/.exec(names)?.[0]
  if (gpt !== undefined) return { ...OTHER, ...GPT, rules, efforts: openAiModel(gpt).efforts ?? EFFORTS }
  if (/\b(?:openai[./]|gpt-)/.test(names)) return { ...OTHER, rules, thinking: 'reasoning_effort', stops: false }
  if (/\b(?:meta[./]|llama)/.test(names))
    return { ...OTHER, rules, schemas: false, strictTools: false, toolChoice: 'neither', streamsTools: false, besideResults: 'nothing' }
  if (/\bgrok/.test(names))
    return { ...OTHER, ...GROK, rules, ...(GROK_WITHOUT_SCHEMAS.test(names) ? { schemas: false, strictTools: false } : {}) }
  const holdsSchemas = !/\b(?:amazon|ai21)[./]/.test(names)
  return {
    ...OTHER,
    rules,
    schemas: holdsSchemas,
    strictTools: holdsSchemas,
    ...thinkingOf(names),
    ...(/\bkimi/.test(names) ? NARROW_PATTERNS : {}),
    ...(/\b(?:qwen|kimi)/.test(names) ? { resultMedia: NO_MEDIA } : {}),
    ...(/\b(?:writer[./]|palmyra)/.test(names) ? ({ resultMedia: DOCUMENTS, besideResults: 'nothing' } as const) : {}),
    leastTokens: /\bkimi-k[3-9]/.test(names) ? LEAST_TOKENS : 1,
    stops: !WITHOUT_STOPS.test(names),
    streamsTools: !/\b(?:ai21|writer)[./]/.test(names),
  }
}

/**
 * How open models are asked to think. Kimi and GLM always do (the user guide's model cards of Kimi K3 and GLM 5.3; langchain-aws, pull request
 * 1188). DeepSeek and Qwen do it only if they are asked to (aws-samples/bedrock-access-gateway; an answer that pydantic-ai recorded).
 */
const thinkingOf = (names: string): Pick<ModelFacts, 'thinking' | 'efforts'> | null => {
  if (ALWAYS_THINKING.test(names)) return { thinking: 'reasoning_effort', efforts: ['low', 'high', 'max'] }
  if (/\bdeepseek\.v3-v1|\bdeepseek-(?:chat-)?v3\.1/.test(names)) return { thinking: 'reasoning_config', efforts: EFFORTS }
  return /\bqwen3-32b/.test(names) ? { thinking: 'reasoning_config', efforts: ['low', 'high'] } : null
}

const ALWAYS_THINKING = /\bkimi-k(?:2-thinking|2[.-]5|3)(?!\d)|\bglm-5[.-]3(?!\d)/

/** "This model doesn't support the stopSequences field": OpenAI's models say the same. */
const WITHOUT_STOPS = /\b(?:qwen|deepseek|moonshot|kimi|minimax|gemma)/

/**
 * Bedrock checks requests by a schema of its own, which got the newer fields later than Anthropic's: "output_config.format: Extra inputs are
 * not permitted", "tools.0.custom.strict: Extra inputs are not permitted". The government regions are further behind.
 */
const WITHOUT_SCHEMAS = /claude-(?:opus-4[-.]7|fable-5(?![-.]\d)|mythos-preview)|\bus-gov\.anthropic\.claude-(?:opus-4[-.]8|[a-z]+-[5-9])/
const WITHOUT_STRICT_TOOLS = /claude-(?:opus-4[-.][78]|[a-z]+-[5-9](?!\d)|mythos-preview)/

/** A pattern that looks around ends in a refusal or in an empty answer. */
const NARROW_PATTERNS = { patterns: 'without-lookaround' } as const

/** "This model doesn't support tool use in streaming mode": models before Mistral Large 3, and also Llama, Jamba and Palmyra. */
const WHOLE_CALLS_OF_MISTRAL = /\b(?:mistral-(?:large|small)-24|pixtral-large|mistral-7b|mixtral)/

const SINCE_4_5 = /claude-[a-z]+-(?:4[-.](?:[5-9]|1\d)(?!\d)|[5-9](?!\d)|\d\d(?!\d))/

const PICTURES_AND_DOCUMENTS: ReadonlySet<string> = new Set(['image', 'document'])
const PICTURES: ReadonlySet<string> = new Set(['image'])
const DOCUMENTS: ReadonlySet<string> = new Set(['document'])
const NO_MEDIA: ReadonlySet<string> = new Set()

type Facts = Omit<ModelFacts, 'rules'>

const CLAUDE: Facts = {
  cachePoints: 'anywhere',
  hourCache: false,
  schemas: false,
  strictTools: false,
  topK: 'top_k',
  thinking: 'claude',
  efforts: [],
  sampling: true,
  leastTokens: 1,
  stops: true,
  streamsTools: true,
  patterns: 'any',
  bareSchemas: false,
  singleCalls: false,
  toolChoice: 'any and tool',
  resultMedia: PICTURES_AND_DOCUMENTS,
  besideResults: 'no documents but PDFs',
  resultStatus: true,
  toolNames: DASHED,
  callIds: 'any',
  hears: false,
}

const NOVA = {
  cachePoints: 'not-by-tools',
  bareSchemas: true,
  toolNames: UNDASHED,
  schemas: false,
  strictTools: false,
  topK: 'inferenceConfig.topK',
  toolChoice: 'any and tool',
  // And documents of text.
  resultMedia: PICTURES,
  resultStatus: true,
} as const satisfies Partial<Facts>

/** Models of the Responses API refuse a lower cap, here too. */
const LEAST_TOKENS = 16

/** OpenAI's own models but those with open weights. */
const GPT = {
  thinking: 'reasoning',
  sampling: false,
  leastTokens: LEAST_TOKENS,
  stops: false,
  patterns: 'python',
} as const satisfies Partial<Facts>

/** It always thinks (the user guide's model cards of Grok), and its refusals say "This model doesn't support the temperature field". */
const GROK = {
  ...NARROW_PATTERNS,
  thinking: 'reasoning',
  efforts: ['low', 'medium', 'high', 'xhigh'],
  sampling: false,
  leastTokens: LEAST_TOKENS,
} as const satisfies Partial<Facts>

/** The model card of 4.7 is the first that names structured outputs. */
const GROK_WITHOUT_SCHEMAS = /\bgrok-4[.-][0-6](?!\d)/

const EFFORTS: readonly string[] = ['low', 'medium', 'high']

/** Mostly models with open weights. */
const OTHER: Facts = {
  cachePoints: 'nowhere',
  hourCache: false,
  schemas: true,
  strictTools: true,
  topK: null,
  thinking: null,
  efforts: EFFORTS,
  sampling: true,
  leastTokens: 1,
  stops: true,
  streamsTools: true,
  patterns: 'any',
  bareSchemas: false,
  singleCalls: false,
  toolChoice: 'any',
  resultMedia: PICTURES_AND_DOCUMENTS,
  besideResults: 'anything',
  resultStatus: false,
  toolNames: DASHED,
  callIds: 'any',
  hears: true,
}
