/**
 * The dialect in which an attempt is made: the client's own if the provider has it and accepts the request in it, otherwise the one that
 * loses least.
 */
import type { Call } from '../../canonical/call.ts'
import { dialectFor, speaksDialectOf } from '../../models/models.ts'
import { fewestLosses, refusesIn } from '../../providers/losses/fewest-losses.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'
import type { ProviderDialect } from '../../canonical/provider-dialects.ts'

export const dialectOf = ({ endpoint, model }: Pick<PlannedAttempt, 'endpoint' | 'model'>, call: Call): ProviderDialect => {
  const { provider, upstreamModel } = endpoint
  const { dialects } = provider
  const usual = dialectFor(provider, call.dialect)
  if (dialects.length < 2) return usual
  const target = { provider: provider.slug, upstreamModel, modelId: model.id }
  if (speaksDialectOf(provider, call.dialect) && !refusesIn(usual, call, target)) return usual
  return fewestLosses(dialects, call, target) ?? usual
}
