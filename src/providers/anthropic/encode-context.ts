/** The context that all parts of the encoder share. */
import type { ClientDialect } from '../../canonical/call.ts'
import type { SettingName } from '../../canonical/settings.ts'
import type { Attempt, Target } from '../provider.ts'
import { withLawfulMarks } from '../prompt-marks.ts'
import { translate, type Translation } from '../losses/translation.ts'
import type { Steps } from '../../lib/steps.ts'
import { createGrammarBudget, type GrammarBudget } from './grammar-budget.ts'
import { type ModelRules, rulesAt } from './model-rules.ts'

export interface EncodeContext extends Translation, ModelContext {
  /** The client's dialect, whose field names warnings use. */
  readonly dialect: ClientDialect
  readonly grammar: GrammarBudget
}

/** The view of a request for the rules of a model, whether the request was translated or came in this dialect. */
export interface ModelContext extends Pick<Translation, 'setting' | 'lose' | 'mapped'> {
  readonly target: Target
  readonly rules: ModelRules
  /** The client's field for a setting. */
  fieldOf(name: SettingName): string
}

export function* encodeContext({ call, target, warn }: Attempt): Steps<EncodeContext> {
  const prompt = call.prompt()
  return {
    ...(yield* translate(prompt, 'anthropic', target, warn, { withMarks: (marked) => withLawfulMarks(marked, target.providerName, warn) })),
    dialect: call.dialect,
    target,
    rules: rulesAt(target),
    grammar: createGrammarBudget(),
    fieldOf: (name) => prompt.settings[name]?.field ?? name,
  }
}

/** `cache_control` of a block or a tool. */
export const cacheMember = (cache: { readonly ttl?: '5m' | '1h' } | undefined): { cache_control?: { type: 'ephemeral'; ttl?: string } } =>
  cache === undefined ? {} : { cache_control: { type: 'ephemeral', ...(cache.ttl === undefined ? {} : { ttl: cache.ttl }) } }
