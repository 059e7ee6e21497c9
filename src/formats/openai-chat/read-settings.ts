/** Reads the settings of a Chat Completions body that are not a single field (docs/contract/chat-completions.md#request). */
import type { ReasoningSetting, Settings } from '../../canonical/settings.ts'
import { isObject } from '../../lib/json/json.ts'
import { child, member, type Node, optionalChild, optionalFlag, optionalNumber, optionalText } from '../json-node.ts'
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
 * shows or hides it. Without `reasoning`, the `thinking` of other vendors' clients says whether the model thinks, and how much.
 */
const readReasoningSetting = (root: Node): Reading<ReasoningSetting> | undefined => {
  const reasoning = optionalChild(root, 'reasoning')
  const effort = optionalText(root, 'reasoning_effort')
  const shown = optionalFlag(root, 'include_reasoning')
  const hidden = shown === false ? true : null
  if (reasoning === null) {
    const thinking = readThinking(root)
    const field = effort !== null ? 'reasoning_effort' : thinking !== null ? 'thinking' : 'include_reasoning'
    return reasoningOf({ ...thinking, effort, exclude: hidden }, field)
  }
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

/**
 * Anthropic's member, which it documents for clients of OpenAI's SDK too, as do DeepSeek, Moonshot and Z.ai. It is no field of this
 * interface, so a form of it that is not known here stays unread, and a warning names it.
 */
const readThinking = (root: Node): { readonly enabled: boolean; readonly maxTokens: number | null } | null => {
  const value = root.members['thinking']
  if (!isObject(value) || !THINKING.has(value['type'])) return null
  const thinking = child(root, 'thinking')
  const type = optionalText(thinking, 'type')
  const { budget_tokens: budget } = value
  const isBudget = type === 'enabled' && typeof budget === 'number' && Number.isInteger(budget) && budget > 0
  return { enabled: type !== 'disabled', maxTokens: isBudget ? optionalNumber(thinking, 'budget_tokens') : null }
}

const THINKING: ReadonlySet<unknown> = new Set(['enabled', 'adaptive', 'disabled'])
