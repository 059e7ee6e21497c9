/** The settings of a Responses body. Contract 2.3. */
import type { ReasoningSetting, Settings } from '../../canonical/settings.ts'
import { type Node, optionalChild, optionalFlag, optionalNumber, optionalText } from '../json-node.ts'
import {
  anything,
  flag,
  mapped,
  number,
  type Reading,
  reasoningOf,
  record,
  serviceTier,
  settingsOf,
  text as textSetting,
  texts,
  unless,
} from '../setting-reader.ts'

/** `text`: the body's object of that name. */
export const readSettings = (root: Node, text: Node | null): Settings => {
  const include = texts(root, 'include')
  return settingsOf({
    temperature: number(root, 'temperature'),
    topP: number(root, 'top_p'),
    topK: number(root, 'top_k'),
    frequencyPenalty: number(root, 'frequency_penalty'),
    presencePenalty: number(root, 'presence_penalty'),
    maxOutputTokens: number(root, 'max_output_tokens'),
    logprobs: include?.value.includes(LOGPROBS) === true ? { value: true, field: include.field } : undefined,
    topLogprobs: number(root, 'top_logprobs'),
    reasoning: readReasoningSetting(root),
    verbosity: text === null ? undefined : textSetting(text, 'verbosity'),
    serviceTier: serviceTier(root),
    user: textSetting(root, 'user'),
    safetyIdentifier: textSetting(root, 'safety_identifier'),
    metadata: record(root, 'metadata'),
    parallelToolCalls: flag(root, 'parallel_tool_calls'),
    outputModalities: unless(texts(root, 'modalities'), (kinds) => kinds.every((kind) => kind === 'text')),
    promptCacheKey: textSetting(root, 'prompt_cache_key'),
    cacheControl: anything(root, 'cache_control'),
    truncation: unless(textSetting(root, 'truncation'), (mode) => mode === 'disabled'),
    include: unless(
      mapped(include, (values) => values.filter((value) => value !== LOGPROBS && value !== SEALED_THINKING)),
      (values) => values.length === 0,
    ),
    imageConfig: anything(root, 'image_config'),
    promptCacheOptions: anything(root, 'prompt_cache_options'),
  })
}

const LOGPROBS = 'message.output_text.logprobs'
/** Always given: without it no next turn could be answered. */
const SEALED_THINKING = 'reasoning.encrypted_content'

const readReasoningSetting = (root: Node): Reading<ReasoningSetting> | undefined => {
  const reasoning = optionalChild(root, 'reasoning')
  if (reasoning === null) return undefined
  const olderSummary = optionalText(reasoning, 'generate_summary')
  return reasoningOf(
    {
      enabled: optionalFlag(reasoning, 'enabled'),
      effort: optionalText(reasoning, 'effort'),
      maxTokens: optionalNumber(reasoning, 'max_tokens'),
      summary: optionalText(reasoning, 'summary') ?? olderSummary,
      exclude: optionalFlag(reasoning, 'exclude'),
    },
    'reasoning',
  )
}
