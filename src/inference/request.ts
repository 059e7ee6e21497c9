/**
 * The request, as each step of the pipeline knows it. Each step takes the value of the one before and adds to it, so that a later step, and the metadata of a refusal,
 * can read everything that was found out before.
 */
import type { CustomerKeyLookup } from '../byok/customer-keys.ts'
import type { Call } from '../canonical/call.ts'
import type { FileText } from '../canonical/event.ts'
import type { HiddenPrompt } from '../canonical/hidden-prompt.ts'
import type { Effect } from '../canonical/effect.ts'
import type { Prompt } from '../canonical/prompt.ts'
import type { RoutingLocks } from '../canonical/routing-locks.ts'
import type { ServerTool } from '../canonical/server-tools.ts'
import type { Warning } from '../canonical/warning.ts'
import { GatewayError } from '../errors.ts'
import type { ClientFormat } from '../formats/format.ts'
import type { Effective } from '../guardrails/effective.ts'
import type { OutputScreening } from '../guardrails/screen-output.ts'
import type { Principal } from '../keys/principal.ts'
import type { ApiType } from '../ledger/estimate.ts'
import type { Spender } from '../ledger/scope.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import type { Permit } from '../limits/admission.ts'
import type { AskedPlugins } from '../plugins/asked-plugins.ts'
import type { Plan, PlannedAttempt } from '../routing/plan-attempts.ts'
import type { PresetCaching } from './cache/preset-caching.ts'
import type { OfferedTools } from './loop/offered-tool.ts'
import type { PlannedSearch } from './web/planned-search.ts'

/** A request as it came in, read and authenticated, in the format of its interface. */
export interface Received {
  readonly apiType: ApiType
  /** Reads the body, and reads it again after something changed it. */
  readonly format: Pick<ClientFormat, 'dialect' | 'parseCall'>
  readonly body: JsonBody
  /** The body's length on the wire. */
  readonly bytes: number
  readonly principal: Principal
  /**
   * The permit with which the request was admitted; null if requests are not counted. The pipeline takes it over from the code that
   * admitted the request.
   */
  readonly permit: Pick<Permit, 'handOver' | 'end'> | null
  readonly requestId: string
  readonly userAgent: string | null
  readonly referer: string | null
  readonly headers: OwnHeaders
  /** The purpose of a request that no client sent, such as `test`. */
  readonly origin?: string
}

/** Options for the service in a client's headers, in addition to the body. */
export interface OwnHeaders {
  /** True to refuse the request if any part of it cannot be honoured. */
  readonly strict: boolean
  /** The session, used only if the body does not name one. */
  readonly sessionId: string | null
  /** Headers that are meant for Anthropic; null if there are none. */
  readonly vendor: VendorHeaders | null
  /** `traceparent` and `tracestate` as received (W3C Trace Context); null if the request is not part of a client's trace. */
  readonly trace: TraceContext | null
  /** All headers, for options that nearly no request has; null if no client sent any. */
  readonly sent: Pick<Headers, 'get'> | null
}

export interface TraceContext {
  readonly parent: string
  readonly state: string | null
}

export interface VendorHeaders {
  readonly version: string | null
  /** Comma-separated lists. */
  readonly betas: readonly (string | null)[]
}

/** A request with everything that applies to it: its preset, and the defaults, guardrails and keys of its caller. */
export interface Prepared extends Received {
  readonly call: Call
  /** The model as the client named it, including a preset. */
  readonly requested: string
  readonly preset: UsedPreset | null
  /** Locks of the preset that names in the request could bypass; null if there are none. */
  readonly locks: RoutingLocks | null
  /** Undefined if no preset put text of its own in front of the client's. */
  readonly hidden: HiddenPrompt | undefined
  readonly warnings: readonly Warning[]
  /** The plugins that the request asks for; null if there are none. */
  readonly plugins: AskedPlugins | null
  /** True if every warning is an error. */
  readonly strict: boolean
  /** The guardrails of the caller; null if there are none. */
  readonly guardrails: Effective | null
  /** Tools that the request may not use, whether the service or a provider would run them. */
  readonly deniedTools: readonly ServerTool[]
  /**
   * The effects of guardrails, plugins and tools on the request and, as they happen, on its answer: the routing metadata shows them as
   * `pipeline`.
   */
  readonly effects: Effect[]
  readonly caller: Caller
  /** The provider keys that the caller itself owns and may use; null if there are none. */
  readonly customerKeys: CustomerKeyLookup | null
  /** PDFs of the request that were read as text; undefined if there are none. */
  readonly files?: readonly FileText[]
  /** True if the request bodies that go to providers are kept, for the client to see (docs/contract/debugging.md#echo). */
  readonly echo: boolean
  /** For how many days the request and its answer are stored; null if they are not stored. */
  readonly contents: { readonly retentionDays: number } | null
}

/** A request that the guardrails let pass, perhaps with changed texts. */
export interface Screened extends Prepared {
  /** Creates the screen for one attempt's answer; undefined if answers are not screened. */
  readonly screenOutput?: (() => OutputScreening) | undefined
}

/** A request with its plan: the endpoints to ask are known. */
export interface Planned extends Screened {
  readonly plan: Plan
  /** Tools that the service runs in this request; null if there are none. */
  readonly tools: OfferedTools | null
  /** A search before the answer; null if there is none. */
  readonly search: PlannedSearch | null
  /** The conversation as an endpoint gets it, if it differs from what the client wrote. */
  readonly promptFor?: ((planned: PlannedAttempt) => Prompt) | undefined
}

/** The caller, whose limits and budgets bound the request. */
export interface Caller extends Spender {
  /** The user of the key, for the record of a request that names no user of its own. */
  readonly externalUser: string | null
}

export interface UsedPreset {
  readonly id: string
  readonly slug: string
  readonly version: number
  /** The rollout that chose the version; null if none did. */
  readonly rolloutId: string | null
  readonly caching: PresetCaching
}

/** Throws `invalid_request` for a strict request, which fails rather than lose something. */
export const refuseLosses = (strict: boolean, losses: readonly Warning[]): void => {
  const [first] = losses
  if (strict && first !== undefined) throw strictError(first)
}

/** The error for the loss of a strict request. The warning says what would be done. */
export const strictError = ({ field, message }: Warning): GatewayError => {
  const refusal = `The request is strict. Otherwise it would get this warning: ${message}`
  return new GatewayError('invalid_request', `${field}: ${refusal}`, {
    metadata: { issues: [{ path: field, message: refusal }], strict: true },
  })
}
