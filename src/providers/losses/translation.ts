/** The input of an encoder: the prompt, those of its settings that the dialect has a word for, and functions that report losses. */
import { allowsSome, withoutBarred } from '../../canonical/allowed-tools.ts'
import type { Part, Prompt } from '../../canonical/prompt.ts'
import { mediaOfResult } from '../../canonical/result-pieces.ts'
import type { SettingName, Settings, SettingValues } from '../../canonical/settings.ts'
import type { Warning } from '../../canonical/warning.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { Steps } from '../../lib/steps.ts'
import { type OutputBounds, outputWithin } from '../vendors/field-rules.ts'
import type { Target } from '../provider.ts'
import { withLawfulCalls } from '../tools/lawful-calls.ts'
import { withPicturesOfUser } from '../media/made-pictures.ts'
import { loseOfBash } from '../tools/bash-as-function.ts'
import { withPairedResults } from '../tools/paired-results.ts'
import { withoutTextCalls, withTextCalls } from '../tools/text-calls.ts'
import { asksForForm, lostForm } from '../thinking/summary-form.ts'
import { isStoredAddress } from '../media/stored-addresses.ts'
import { namesFile, refuseName } from '../media/stored-objects.ts'
import { refuseUnread } from './uncarried.ts'
import { SETTING_OUTCOMES, type TranslatedDialect } from './loss-table.ts'
import { asksForNoAnswer, type Losses, lossesTo, refuseEmptyLimit, refuseSetting } from './losses.ts'

export interface Translation extends Losses {
  readonly prompt: Prompt
  /** The value to carry over; undefined if the request does not set it or the loss table drops it. */
  setting<Name extends SettingName>(name: Name): SettingValues[Name] | undefined
}

interface Wants {
  readonly takesText?: boolean
  readonly takesOwnPictures?: boolean
  readonly takesAllowedTools?: boolean
  /** Limits the cache marks of the conversation, whose parts have their last places by then. */
  readonly withMarks?: (prompt: Prompt) => Prompt
  /** Fields without a canonical form that reach the provider as they were written. */
  readonly carried?: JsonObject
}

type Addressee = OutputBounds & Pick<Target, 'providerName' | 'inputModalities' | 'storedObjects' | 'upstreamModel'>

/**
 * Reports all losses of the settings at once. Throws `invalid_request` for a setting that is refused. `takesText`: the provider has tools
 * that take free text. `takesOwnPictures`: messages of its assistant may hold pictures. `takesAllowedTools`: it has that choice of tools.
 */
export function* translate(
  asked: Prompt,
  dialect: TranslatedDialect,
  target: Addressee,
  warn: (warning: Warning) => void,
  {
    takesText = dialect === 'openai-responses',
    takesOwnPictures = dialect === 'google',
    takesAllowedTools = false,
    withMarks = (prompt) => prompt,
    carried = {},
  }: Wants = {},
): Steps<Translation> {
  const { providerName } = target
  const { lose, mapped, refuse } = lossesTo(warn)
  const given = takesAllowedTools && allowsSome(asked.tools) ? asked : withoutBarred(asked)
  const called = takesText ? withTextCalls(given) : withoutTextCalls(given, warn)
  yield
  const lawful = yield* withLawfulCalls(called, mapped)
  yield
  const spoken = { ...lawful, messages: yield* withPairedResults(lawful.messages, warn, { openEnd: dialect === OPEN_ENDED }) }
  yield
  if (target.storedObjects !== true) refuseStoredMedia(spoken, target)
  yield
  for (const { part, at } of heardParts(spoken)) refuseUnread(part, { at, role: 'user' }, { lose, refuse, target })
  yield
  const messages = takesOwnPictures ? spoken.messages : withPicturesOfUser(spoken.messages, lose)
  const prompt = withMarks({ ...spoken, messages, settings: withinLimits(spoken.settings, target, warn) })
  for (const [name, setting] of Object.entries(prompt.settings)) {
    const outcome = SETTING_OUTCOMES[name as SettingName][dialect]
    if (outcome === 'refused' || (outcome === 'dropped' && asksForNoAnswer(setting.value))) refuseSetting(setting.field, providerName)
    if (outcome === 'dropped' && !hasNoEffect(name, setting.value))
      lose(setting.field, `${providerName} has no field for ${setting.field}; it was left out.`)
  }
  const { reasoning } = prompt.settings
  if (reasoning !== undefined && !KEEPS_FORMS.has(dialect) && asksForForm(reasoning.value))
    lose(reasoning.field, lostForm(providerName, reasoning.value))
  // Anthropic's encoder says so itself, since Claude gets the tool as it was declared.
  if (dialect !== 'anthropic')
    for (const [index, tool] of prompt.tools.entries())
      if (tool.type === 'function' && tool.knownToClaude !== undefined) loseOfBash(tool.knownToClaude, `tools[${index}]`, { lose })
  for (const field of prompt.otherFields) {
    if (!Object.hasOwn(carried, field)) lose(field, `${field} could not be translated for ${providerName}; it was left out.`)
  }
  return {
    prompt,
    lose,
    mapped,
    refuse,
    setting: (name) => {
      const outcome = SETTING_OUTCOMES[name][dialect]
      return outcome === 'dropped' || outcome === 'refused' ? undefined : prompt.settings[name]?.value
    },
  }
}

/** Some clients send their defaults, of which a penalty of zero changes nothing. */
const hasNoEffect = (name: string, value: unknown): boolean => (name === 'frequencyPenalty' || name === 'presencePenalty') && value === 0

/** The first has a word for the form of readable thinking; the encoder of the second knows which of its vendors have one. */
const KEEPS_FORMS: ReadonlySet<TranslatedDialect> = new Set(['openai-responses', 'openai-chat'] as const)

/**
 * All dialects but this one refuse a call without a result even at the end of the conversation. Known vendors of this one do too, which the
 * rest of their rules takes care of (openai-chat/message-rules.ts); servers of open models get what the client sent.
 */
const OPEN_ENDED: TranslatedDialect = 'openai-chat'

const refuseStoredMedia = ({ messages }: Prompt, { providerName, upstreamModel }: Addressee): void => {
  for (const { parts, at = 'messages' } of messages)
    for (const part of parts) {
      if ('text' in part && namesFile(part.text, upstreamModel)) refuseName(at, providerName)
      for (const media of part.type === 'tool-result' ? mediaOfResult(part) : [part])
        if ('url' in media && isStoredAddress(media.url)) refuseName(at, providerName)
    }
}

/** Parts of messages of every role but the assistant's. */
const heardParts = ({ messages }: Prompt): { readonly part: Part; readonly at: string }[] =>
  messages.flatMap(({ role, parts, at = 'messages' }) =>
    role === 'assistant'
      ? []
      : parts.flatMap((part) => (part.type === 'tool-result' ? [part, ...mediaOfResult(part)] : [part])).map((part) => ({ part, at })),
  )

/** A limit of output above the maximum is lowered to the maximum. Throws `invalid_request` for a limit that leaves no answer. */
const withinLimits = (settings: Settings, target: Addressee, warn: (warning: Warning) => void): Settings => {
  const { maxOutputTokens: asked } = settings
  if (asked?.value === 0) refuseEmptyLimit(asked.field, target.providerName)
  const most = asked === undefined ? null : outputWithin(asked.value, asked.field, { target, warn })
  return asked === undefined || most === null ? settings : { ...settings, maxOutputTokens: { ...asked, value: most } }
}
