/**
 * The context that all parts of the encoder share. Its part for Claude is the one of the Anthropic encoder, whose rules for thinking and
 * sampling are used unchanged.
 */
import type { CacheMark, Prompt } from '../../canonical/prompt.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { Growth } from '../../lib/json/json-size.ts'
import type { EncodeContext as ClaudeContext } from '../anthropic/encode-context.ts'
import { createGrammarBudget } from '../anthropic/grammar-budget.ts'
import type { Attempt } from '../provider.ts'
import { schemaGrowth } from '../google/json-schema.ts'
import { withLawfulMarks } from '../prompt-marks.ts'
import { translate } from '../losses/translation.ts'
import type { Steps } from '../../lib/steps.ts'
import { factsOf, type ModelFacts } from './model-facts.ts'

export interface EncodeContext extends ClaudeContext {
  readonly facts: ModelFacts
  readonly growth: Growth
  /** Names of the documents in this request: no two may be the same. */
  readonly documentNames: Set<string>
}

export function* encodeContext({ call, target, warn }: Attempt): Steps<EncodeContext> {
  const facts = factsOf(target)
  const prompt = call.prompt()
  const marks = facts.cachePoints === 'nowhere' ? {} : { withMarks: (marked: Prompt) => withLawfulMarks(marked, target.providerName, warn) }
  return {
    ...(yield* translate(prompt, 'bedrock', target, warn, marks)),
    dialect: call.dialect,
    target,
    rules: facts.rules,
    grammar: createGrammarBudget(),
    facts,
    growth: schemaGrowth(),
    documentNames: new Set(),
    fieldOf: (name) => prompt.settings[name]?.field ?? name,
  }
}

/** The block to put after a marked one; null, with a warning, if the model has no cache at this place. */
export const cachePoint = (
  cache: CacheMark | undefined,
  at: string,
  place: 'blocks' | 'tools' | 'result',
  { facts, target, lose, mapped }: EncodeContext,
): JsonObject | null => {
  if (cache === undefined) return null
  if (facts.cachePoints === 'nowhere' || (place !== 'blocks' && facts.cachePoints === 'not-by-tools')) {
    lose(at, `${target.upstreamModel} takes no cache mark here; it was left out.`)
    return null
  }
  if (cache.ttl !== '1h') return { cachePoint: { type: 'default' } } // the default lifetime is five minutes
  if (facts.hourCache) return { cachePoint: { type: 'default', ttl: '1h' } }
  mapped(at, `${target.upstreamModel} keeps its cache for five minutes; a cache of an hour was not to be had.`)
  return { cachePoint: { type: 'default' } }
}
