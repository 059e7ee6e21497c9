/** The context of every part of the encoder. */
import type { ClientDialect } from '../../canonical/call.ts'
import type { SettingName } from '../../canonical/settings.ts'
import type { Attempt, Target } from '../provider.ts'
import { withLawfulMarks } from '../prompt-marks.ts'
import { translate, type Translation } from '../translation.ts'
import type { Steps } from '../../lib/steps.ts'
import { createGrammarBudget, type GrammarBudget } from './grammar-budget.ts'
import { type ModelRules, rulesOf } from './model-rules.ts'

export interface EncodeContext extends Translation, ModelContext {
  /** The dialect of the client: warnings name its fields. */
  readonly dialect: ClientDialect
  readonly grammar: GrammarBudget
}

/** The view that the rules of a model work with, whether the request was translated or came in this dialect. */
export interface ModelContext extends Pick<Translation, 'setting' | 'lose' | 'mapped'> {
  readonly target: Target
  readonly rules: ModelRules
  /** The field that the client wrote a setting in. */
  fieldOf(name: SettingName): string
}

export function* encodeContext({ call, target, warn }: Attempt): Steps<EncodeContext> {
  const prompt = withLawfulMarks(call.prompt(), target.providerName, warn)
  return {
    ...(yield* translate(prompt, 'anthropic', target, warn)),
    dialect: call.dialect,
    target,
    rules: rulesOf(target.upstreamModel),
    grammar: createGrammarBudget(),
    fieldOf: (name) => prompt.settings[name]?.field ?? name,
  }
}

/** `cache_control` of a block or a tool. */
export const cacheMember = (cache: { readonly ttl?: '5m' | '1h' } | undefined): { cache_control?: { type: 'ephemeral'; ttl?: string } } =>
  cache === undefined ? {} : { cache_control: { type: 'ephemeral', ...(cache.ttl === undefined ? {} : { ttl: cache.ttl }) } }
