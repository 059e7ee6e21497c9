/** The dialect in which an attempt is made: the client's own where the provider has it, else the one that loses least. */
import type { Call } from '../canonical/call.ts'
import { dialectFor, type ProviderDialect, speaksDialectOf } from '../models/models.ts'
import { fewestLosses } from '../providers/fewest-losses.ts'
import type { PlannedAttempt } from '../routing/plan-attempts.ts'

export const dialectOf = ({ endpoint, model }: Pick<PlannedAttempt, 'endpoint' | 'model'>, call: Call): ProviderDialect => {
  const { provider, upstreamModel } = endpoint
  const { dialects } = provider
  if (dialects.length < 2 || speaksDialectOf(provider, call.dialect)) return dialectFor(provider, call.dialect)
  return fewestLosses(dialects, call, { provider: provider.slug, upstreamModel, modelId: model.id }) ?? dialectFor(provider, call.dialect)
}
