/** Reads the settings of a Messages body that are not a single field (docs/contract/messages.md#request). */
import type { ReasoningSetting, Settings } from '../../canonical/settings.ts'
import { disown, malformedMember, type Node, optionalChild, optionalNumber, optionalText, requiredText } from '../json-node.ts'
import { flag, mapped, type Reading, reasoningOf, readSettings, text, unless } from '../setting-reader.ts'

/** `choice` and `outputConfig`: the body's `tool_choice` and `output_config`. */
export const readMessagesSettings = (root: Node, choice: Node | null, outputConfig: Node | null): Settings =>
  readSettings('messages', root, {
    reasoning: readReasoningSetting(root, outputConfig),
    serviceTier: readServiceTier(root),
    user: readUser(root),
    parallelToolCalls: choice === null ? undefined : mapped(flag(choice, 'disable_parallel_tool_use'), (disabled) => !disabled),
  })

const readUser = (root: Node): Reading<string> | undefined => {
  const metadata = optionalChild(root, 'metadata')
  // The service's records use this one if both are present.
  const other = named(text(root, 'user'))
  return (metadata === null ? undefined : named(text(metadata, 'user_id'))) ?? other
}

const named = (name: Reading<string> | undefined): Reading<string> | undefined => unless(name, (value) => value === '')

/**
 * Other interfaces call `standard_only` the default tier; the fast speed is a tier under another name
 * (docs/contract/messages.md#request).
 */
const readServiceTier = (root: Node): Reading<string> | undefined => {
  const speed = unless(text(root, 'speed'), (speed) => speed === 'standard')
  const tier = unless(text(root, 'service_tier'), (tier) => tier === 'auto')
  return mapped(tier, (tier) => TIERS[tier] ?? tier) ?? mapped(speed, (speed) => TIERS[speed] ?? speed)
}

const TIERS: Readonly<Record<string, string>> = { standard_only: 'default', on_demand: 'default', fast: 'priority' }

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
  // Other dialects cannot restrict thinking to the time between tools.
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
