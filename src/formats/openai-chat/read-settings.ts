/** The settings of a Chat Completions body. Contract 2.2. */
import type { ReasoningSetting, Settings } from '../../canonical/settings.ts'
import { malformedMember, member, type Node, optionalChild, optionalFlag, optionalNumber, optionalText } from '../json-node.ts'
import {
  anything,
  flag,
  mapped,
  number,
  numbers,
  type Reading,
  reasoningOf,
  record,
  serviceTier,
  settingsOf,
  text,
  texts,
  unless,
} from '../setting-reader.ts'

export const readSettings = (root: Node): Settings => {
  const olderLimit = number(root, 'max_tokens')
  return settingsOf({
    temperature: number(root, 'temperature'),
    topP: number(root, 'top_p'),
    topK: number(root, 'top_k'),
    topA: number(root, 'top_a'),
    minP: number(root, 'min_p'),
    frequencyPenalty: number(root, 'frequency_penalty'),
    presencePenalty: number(root, 'presence_penalty'),
    repetitionPenalty: number(root, 'repetition_penalty'),
    seed: number(root, 'seed'),
    maxOutputTokens: number(root, 'max_completion_tokens') ?? olderLimit,
    stop: readStop(root),
    logitBias: numbers(root, 'logit_bias'),
    logprobs: unless(flag(root, 'logprobs'), (wanted) => !wanted),
    topLogprobs: number(root, 'top_logprobs'),
    candidates: unless(readCandidates(root), (count) => count === 1),
    reasoning: readReasoningSetting(root),
    verbosity: text(root, 'verbosity'),
    serviceTier: serviceTier(root),
    user: text(root, 'user'),
    safetyIdentifier: text(root, 'safety_identifier'),
    metadata: record(root, 'metadata'),
    parallelToolCalls: flag(root, 'parallel_tool_calls'),
    outputModalities: unless(texts(root, 'modalities'), (kinds) => kinds.every((kind) => kind === 'text')),
    audioOutput: record(root, 'audio'),
    prediction: anything(root, 'prediction'),
    promptCacheKey: text(root, 'prompt_cache_key'),
    cacheControl: anything(root, 'cache_control'),
    webSearchOptions: anything(root, 'web_search_options'),
    imageConfig: anything(root, 'image_config'),
    promptCacheOptions: anything(root, 'prompt_cache_options'),
  })
}

const readStop = (root: Node): Reading<readonly string[]> | undefined =>
  typeof member(root, 'stop') === 'string' ? mapped(text(root, 'stop'), (stop) => [stop]) : texts(root, 'stop')

const readCandidates = (root: Node): Reading<number> | undefined => {
  const count = number(root, 'n')
  if (count !== undefined && (!Number.isSafeInteger(count.value) || count.value < 1)) {
    throw malformedMember(root, 'n', 'must be a whole number above 0')
  }
  return count
}

/** Three fields for one thing: `reasoning` first, then OpenAI's name of its effort, then the oldest, which shows or hides it. */
const readReasoningSetting = (root: Node): Reading<ReasoningSetting> | undefined => {
  const reasoning = optionalChild(root, 'reasoning')
  const effort = optionalText(root, 'reasoning_effort')
  const shown = optionalFlag(root, 'include_reasoning')
  const hidden = shown === false ? true : null
  if (reasoning === null) return reasoningOf({ effort, exclude: hidden }, effort === null ? 'include_reasoning' : 'reasoning_effort')
  return reasoningOf(
    {
      enabled: optionalFlag(reasoning, 'enabled'),
      effort: optionalText(reasoning, 'effort') ?? effort,
      maxTokens: optionalNumber(reasoning, 'max_tokens'),
      summary: optionalText(reasoning, 'summary'),
      exclude: optionalFlag(reasoning, 'exclude') ?? hidden,
    },
    'reasoning',
  )
}
