/** What an encoder works with: the prompt, its settings as far as the dialect has a word for them, and a place for losses. */
import type { Prompt } from '../canonical/prompt.ts'
import type { SettingName, Settings, SettingValues } from '../canonical/settings.ts'
import type { Warning } from '../canonical/warning.ts'
import { GatewayError } from '../errors.ts'
import { outputWithin } from './field-rules.ts'
import type { Target } from './provider.ts'
import { withPairedResults } from './paired-results.ts'
import { withoutTextCalls, withTextCalls } from './text-calls.ts'
import { SETTING_FATES, type TranslatedDialect } from './loss-table.ts'

export interface Translation {
  readonly prompt: Prompt
  /** The value to carry over; undefined where the request leaves it open or the loss table drops it. */
  setting<Name extends SettingName>(name: Name): SettingValues[Name] | undefined
  /** A loss that the table cannot know of, such as a part of a message. `field` is the client's path. */
  lose(field: string, message: string): void
}

type Addressee = Pick<Target, 'providerName' | 'upstreamModel' | 'maxCompletionTokens'>

/** Tells every loss of the settings at once. Throws `invalid_request` for one that is refused. `takesText`: it has tools that take any text. */
export const translate = (
  given: Prompt,
  dialect: TranslatedDialect,
  target: Addressee,
  warn: (warning: Warning) => void,
  { takesText = dialect === 'openai-responses' }: { readonly takesText?: boolean } = {},
): Translation => {
  const { providerName } = target
  const spoken = takesText ? withTextCalls(given) : withoutTextCalls(given, warn)
  const messages = withPairedResults(spoken.messages, warn)
  const prompt = { ...spoken, messages, settings: withinLimits(spoken.settings, target, warn) }
  const lose = (field: string, message: string): void => warn({ code: 'unsupported_field', field, message })
  for (const [name, setting] of Object.entries(prompt.settings)) {
    const fate = SETTING_FATES[name as SettingName][dialect]
    if (fate === 'dropped') lose(setting.field, `${providerName} has no word for ${setting.field}; it was left out.`)
    if (fate === 'refused') throw new GatewayError('invalid_request', `${setting.field}: ${providerName} cannot do this.`)
  }
  for (const field of prompt.otherFields) lose(field, `${field} could not be translated for ${providerName}; it was left out.`)
  return {
    prompt,
    lose,
    setting: (name) => {
      const fate = SETTING_FATES[name][dialect]
      return fate === 'dropped' || fate === 'refused' ? undefined : prompt.settings[name]?.value
    },
  }
}

/** A limit of output above what there is asks for as much as there is. */
const withinLimits = (settings: Settings, target: Addressee, warn: (warning: Warning) => void): Settings => {
  const { maxOutputTokens: asked } = settings
  const most = asked === undefined ? null : outputWithin(asked.value, asked.field, { target, warn })
  return asked === undefined || most === null ? settings : { ...settings, maxOutputTokens: { ...asked, value: most } }
}
