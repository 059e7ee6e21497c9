/** The state of routing, built once: what was learnt about a provider survives a reload of the configuration file. */
import { randomFraction } from '../lib/id.ts'
import type { Clock } from '../lib/clock.ts'
import { createCredentials } from '../routing/credentials.ts'
import { createHealth } from '../routing/health.ts'
import type { RoutingState } from '../routing/routing-state.ts'
import { createSticky } from '../routing/sticky.ts'
import { SANDBOX_PROVIDERS } from '../sandbox-models.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Reloadable } from './reloadable.ts'

export const composeRouting = (parts: {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly reloadable: Reloadable
}): RoutingState => {
  const { clock, log, metrics, reloadable } = parts
  const refusedKeys = metrics.counter('patchbay_credentials_refused_total', 'Provider keys set aside because the provider refused them.', [
    'provider',
  ])
  return {
    health: createHealth({ clock, inFlightMax: () => reloadable.settings.providerInFlight, neverEjected: SANDBOX_PROVIDERS }),
    sticky: createSticky({ clock }),
    credentials: createCredentials({
      clock,
      onRefused(provider, index) {
        refusedKeys.add([provider])
        log.error({ provider, key_number: index + 1 }, 'a provider refuses a key of ours: replace it, or pay its bill')
      },
    }),
    random: randomFraction,
  }
}
