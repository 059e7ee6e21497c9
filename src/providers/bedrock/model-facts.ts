/**
 * Differences between the models behind Converse: the API is one, and refuses with a 400 what a model of it does not know.
 * Sources: the Bedrock user guide ("Prompt caching", "Structured outputs", "Tool use", "Model parameters", "Supported models and model features") and that of Amazon
 * Nova ("Extended thinking", "Defining a tool"); for Claude the same rules hold as at Anthropic.
 */
import { rulesOf, type ModelRules } from '../anthropic/model-rules.ts'
import type { Target } from '../provider.ts'
import { DASHED, UNDASHED, type ToolNameForm } from '../tool-name-form.ts'

export interface ModelFacts {
  /** The rules of a Claude; for anything else the rules of an imitation, with `claude` false. */
  readonly rules: ModelRules
  /** Where a cache point may stand; `not-by-tools`: neither among the tools nor behind the result of one. */
  readonly cachePoints: 'anywhere' | 'not-by-tools' | 'nowhere'
  /** Caches may live for an hour. */
  readonly hourCache: boolean
  /** `outputConfig.textFormat`, and `strict` tools. */
  readonly schemas: boolean
  /** Where in `additionalModelRequestFields` top_k goes. */
  readonly topK: 'top_k' | 'k' | 'inferenceConfig.topK' | null
  readonly thinking: 'claude' | 'reasoning_effort' | 'reasoningConfig' | null
  /** `stopSequences`. */
  readonly stops: boolean
  /** Tools may stand in the request for a stream. */
  readonly streamsTools: boolean
  /** The schema of a tool has nothing but `type`, `properties` and `required` at its top. */
  readonly bareSchemas: boolean
  /** Can be kept to one call of a tool at a time. */
  readonly singleCalls: boolean
  /** The tool choices that it takes beside `auto`. */
  readonly toolChoice: 'any and tool' | 'any' | 'neither'
  /** `status` of a tool's result. */
  readonly resultStatus: boolean
  readonly toolNames: ToolNameForm
  readonly callIds: 'any' | 'nine-alphanumeric'
  readonly hears: boolean
}

export const factsOf = ({ upstreamModel, modelId }: Target): ModelFacts => {
  // The name of an inference profile or of provisioned throughput (an ARN) may say nothing: then our own id of the model does.
  const own = rulesOf(upstreamModel)
  const rules = own.claude ? own : rulesOf(modelId)
  const names = `${upstreamModel} ${modelId}`.toLowerCase()
  if (rules.claude) {
    const recent = SINCE_4_5.test(names)
    // Claude Opus 4.5, the one that takes an effort and a budget alone, has its efforts here in a beta only.
    const efforts = rules.thinking === 'budget' ? [] : rules.efforts
    return { ...CLAUDE, rules: { ...rules, efforts }, hourCache: recent, schemas: recent, singleCalls: recent }
  }
  if (/\bnova-/.test(names)) return { ...OTHER, ...NOVA, thinking: /\bnova-[2-9]/.test(names) ? 'reasoningConfig' : null, rules }
  if (/\b(?:mistral|mixtral|ministral|magistral|pixtral)/.test(names))
    return { ...OTHER, rules, topK: 'top_k', callIds: 'nine-alphanumeric', streamsTools: !WHOLE_CALLS_OF_MISTRAL.test(names) }
  if (/\bcohere[./]/.test(names)) return { ...OTHER, rules, topK: 'k', schemas: false }
  if (/\b(?:openai[./]|gpt-)/.test(names)) return { ...OTHER, rules, thinking: 'reasoning_effort', stops: false }
  if (/\b(?:meta[./]|llama)/.test(names)) return { ...OTHER, rules, schemas: false, toolChoice: 'neither', streamsTools: false }
  return {
    ...OTHER,
    rules,
    schemas: !/\b(?:amazon|ai21)[./]/.test(names),
    stops: !WITHOUT_STOPS.test(names),
    streamsTools: !/\b(?:ai21|writer)[./]/.test(names),
  }
}

/** "This model doesn't support the stopSequences field": so do OpenAI's models. */
const WITHOUT_STOPS = /\b(?:qwen|deepseek|moonshot|kimi|minimax|gemma)/

/** "This model doesn't support tool use in streaming mode": those before Mistral Large 3, as Llama, Jamba and Palmyra. */
const WHOLE_CALLS_OF_MISTRAL = /\b(?:mistral-(?:large|small)-24|pixtral-large|mistral-7b|mixtral)/

const SINCE_4_5 = /claude-[a-z]+-(?:4[-.](?:[5-9]|1\d)(?!\d)|[5-9](?!\d)|\d\d(?!\d))/

type Facts = Omit<ModelFacts, 'rules'>

const CLAUDE: Facts = {
  cachePoints: 'anywhere',
  hourCache: false,
  schemas: false,
  topK: 'top_k',
  thinking: 'claude',
  stops: true,
  streamsTools: true,
  bareSchemas: false,
  singleCalls: false,
  toolChoice: 'any and tool',
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
  topK: 'inferenceConfig.topK',
  toolChoice: 'any and tool',
  resultStatus: true,
} as const satisfies Partial<Facts>

/** Open weights, mostly. */
const OTHER: Facts = {
  cachePoints: 'nowhere',
  hourCache: false,
  schemas: true,
  topK: null,
  thinking: null,
  stops: true,
  streamsTools: true,
  bareSchemas: false,
  singleCalls: false,
  toolChoice: 'any',
  resultStatus: false,
  toolNames: DASHED,
  callIds: 'any',
  hears: true,
}
