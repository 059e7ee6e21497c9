/** Reads the settings of a Chat Completions body that are not a single field (docs/contract/chat-completions.md#request). */
import type { ReasoningSetting, Settings } from '../../canonical/settings.ts'
import { member, type Node, optionalChild, optionalFlag, optionalNumber, optionalText } from '../json-node.ts'
import { mapped, type Reading, reasoningOf, readSettings, spokenStops, text, texts } from '../setting-reader.ts'

export const readChatSettings = (root: Node): Settings =>
  readSettings('chat', root, {
    stop: readStop(root),
    reasoning: readReasoningSetting(root),
    // `top_logprobs` beside `logprobs: false` has no effect; leaving it unread reports it as lost.
    ...(member(root, 'logprobs') === false ? { topLogprobs: undefined } : {}),
  })

const readStop = (root: Node): Reading<readonly string[]> | undefined => {
  const read = typeof member(root, 'stop') === 'string' ? mapped(text(root, 'stop'), (stop) => [stop]) : texts(root, 'stop')
  const spoken = read === undefined ? undefined : spokenStops(read.value)
  return read === undefined || spoken === undefined ? undefined : { ...read, value: spoken }
}

/**
 * Three fields set the reasoning: `reasoning` first, then OpenAI's `reasoning_effort`, then the oldest, `include_reasoning`, which
 * shows or hides it.
 */
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
