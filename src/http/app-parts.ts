/** The parts that the app is made of. */
import type { Formats } from '../formats/formats.ts'
import type { MakeRequest } from '../inference/own-request.ts'
import type { Guardrails } from '../guardrails/guardrails.ts'
import type { ScreenLimits } from '../guardrails/screen-request.ts'
import type { Keys } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Admission } from '../limits/admission.ts'
import type { BodyRoom } from '../limits/body-room.ts'
import type { AddressRange } from '../lib/network/address-ranges.ts'
import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import type { Models } from '../models/models.ts'
import type { Presets } from '../presets/presets.ts'
import type { HealthView } from '../routing/health.ts'
import type { ServiceKnowledge } from '../contract/service-facts.ts'
import type { Credentials } from '../routing/credentials.ts'
import type { EndpointHealthStore } from '../storage/nodes/endpoint-health.ts'
import type { SearchStore } from '../storage/generations/search-store.ts'
import type { ContentStore } from '../storage/generations/content-store.ts'
import type { GenerationList } from '../storage/generations/generation-list.ts'
import type { GenerationStore } from '../storage/generations/generation-store.ts'
import type { UsageSeriesStore } from '../storage/usage/usage-series.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { InferenceAnswering } from './inference/answer-inference.ts'
import type { Cors } from './access/cors.ts'
import type { Sessions } from '../sign-in/sessions.ts'
import type { BodyLimits } from './body/read-body.ts'
import type { Row } from './later-routes.ts'
import type { DashboardParts } from './routes/dashboard.ts'
import type { ManagementParts } from './routes/management.ts'
import type { OidcRouteParts } from './routes/oidc.ts'
import type { OauthRouteParts } from './routes/oauth.ts'
import type { SessionRouteParts } from './routes/sessions.ts'

export interface AppParts {
  readonly formats: Formats
  readonly answering: InferenceAnswering
  readonly keys: Keys
  readonly sessions: Sessions
  readonly management: ManagementParts
  readonly admission: Admission
  readonly presets: Presets
  readonly makeRequest: MakeRequest
  readonly guardrails: Guardrails
  readonly screenLimits: ScreenLimits
  /** Resolves when the next step of the work on a large text may run. */
  readonly largeStep: () => Promise<void>
  /** Routes for the resources that a workspace stores. */
  readonly resources: readonly Row[]
  readonly models: Models
  readonly health: HealthView
  readonly generations: {
    readonly store: GenerationStore
    readonly list: GenerationList
    readonly usage: UsageSeriesStore
    readonly flush: () => Promise<void>
  }
  readonly contents: { readonly store: ContentStore; readonly flush: () => Promise<void> }
  readonly searching: SearchStore
  readonly endpointHealth: EndpointHealthStore
  readonly credentials: Credentials
  readonly knowledge: ServiceKnowledge
  /** Called with a failure that can no longer be reported to the client. */
  readonly onError: (thrown: unknown, doing: string) => void
  readonly figures: Ledger['figures']
  readonly ready: () => Promise<string | null>
  readonly isLeaving: () => boolean
  readonly isDraining: () => boolean
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Log
  readonly metrics: Metrics
  readonly cors: Cors
  /** The operator's own proxies, whose headers about the client are trusted. */
  readonly trustedProxies: readonly AddressRange[]
  /** Null if the configuration file switches it off. */
  readonly dashboard: DashboardParts | null
  /** How people sign in; null if they cannot. */
  readonly signIn: SignIn | null
  /** How applications get keys; null if the configuration file does not allow it. */
  readonly oauth: OauthRouteParts | null
  /** Null if the configuration file names no identity provider. */
  readonly oidc: OidcRouteParts | null
  readonly bodyRoom: BodyRoom
  readonly bodyLimits: Omit<BodyLimits, 'clock' | 'space'>
  readonly version: string
}

/** How people sign in. */
export type SignIn = Omit<SessionRouteParts, 'workspaces' | 'onceness'>
