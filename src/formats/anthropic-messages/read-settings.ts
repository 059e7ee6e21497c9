/** The settings of a Messages body. Contract 2.4. */
import type { ReasoningSetting, Settings } from '../../canonical/settings.ts'
import { disown, malformedMember, type Node, optionalChild, optionalNumber, optionalText, requiredText } from '../json-node.ts'
import {
  anything,
  flag,
  mapped,
  number,
  type Reading,
  reasoningOf,
  serviceTier,
  settingsOf,
  text,
  texts,
  unless,
} from '../setting-reader.ts'

/** `choice` and `outputConfig`: the body's `tool_choice` and `output_config`. */
export const readSettings = (root: Node, choice: Node | null, outputConfig: Node | null): Settings =>
  settingsOf({
    temperature: number(root, 'temperature'),
    topP: number(root, 'top_p'),
    topK: number(root, 'top_k'),
    maxOutputTokens: number(root, 'max_tokens'),
    stop: texts(root, 'stop_sequences'),
    reasoning: readReasoningSetting(root, outputConfig),
    serviceTier: readServiceTier(root),
    user: readUser(root),
    parallelToolCalls: choice === null ? undefined : mapped(flag(choice, 'disable_parallel_tool_use'), (disabled) => !disabled),
    cacheControl: anything(root, 'cache_control'),
    contextManagement: anything(root, 'context_management'),
    safeguards: anything(root, 'safeguards'),
  })

const readUser = (root: Node): Reading<string> | undefined => {
  const metadata = optionalChild(root, 'metadata')
  const other = text(root, 'user')
  return (metadata === null ? undefined : text(metadata, 'user_id')) ?? other
}

/** `standard_only` is elsewhere called the default tier; the fast speed is a tier by another name (contract 2.4). */
const readServiceTier = (root: Node): Reading<string> | undefined => {
  const speed = unless(text(root, 'speed'), (speed) => speed === 'standard')
  const tier = mapped(serviceTier(root), (tier) => (tier === 'standard_only' ? 'default' : tier))
  return tier ?? mapped(speed, (speed) => (speed === 'fast' ? 'priority' : speed))
}

const readReasoningSetting = (root: Node, outputConfig: Node | null): Reading<ReasoningSetting> | undefined => {
  const effort = outputConfig === null ? null : optionalText(outputConfig, 'effort')
  const thinking = optionalChild(root, 'thinking')
  if (thinking === null) return reasoningOf({ effort }, 'output_config.effort')
  const type = requiredText(thinking, 'type')
  const maxTokens = type === 'enabled' ? optionalNumber(thinking, 'budget_tokens') : null
  return reasoningOf({ enabled: isEnabled(thinking, type), effort, maxTokens, ...readDisplay(thinking) }, 'thinking')
}

const isEnabled = (thinking: Node, type: string): boolean => {
  if (type === 'enabled' || type === 'adaptive' || type === 'disabled') return type !== 'disabled'
  if (type !== 'between_tools') throw malformedMember(thinking, 'type', 'must be one of enabled, disabled, adaptive, between_tools')
  // Elsewhere it cannot be kept to the time between tools.
  disown(thinking, 'type')
  return true
}

const readDisplay = (thinking: Node): Pick<ReasoningSetting, 'summary' | 'exclude'> => {
  const display = optionalText(thinking, 'display')
  if (display === 'omitted') return { exclude: true }
  if (display === 'summarized') return { summary: 'auto' }
  if (display !== null) disown(thinking, 'display')
  return {}
}
