/**
 * The facts of a request. Each step takes the value of the one before and adds to it, so that a later step, and the
 * metadata of a refusal, can read whatever was found out before.
 */
import type { CustomerKeyLookup } from '../byok/customer-keys.ts'
import type { Call } from '../canonical/call.ts'
import type { FileText } from '../canonical/event.ts'
import type { HiddenPrompt } from '../canonical/hidden-prompt.ts'
import type { PipelineStage } from '../canonical/pipeline.ts'
import type { Prompt } from '../canonical/prompt.ts'
import type { RoutingLocks } from '../canonical/routing-locks.ts'
import type { ServerTool } from '../canonical/server-tools.ts'
import type { Warning } from '../canonical/warning.ts'
import { GatewayError } from '../errors.ts'
import type { ClientFormat } from '../formats/format.ts'
import type { Effective } from '../guardrails/effective.ts'
import type { OutputScreen } from '../guardrails/screen-output.ts'
import type { Principal } from '../keys/keys.ts'
import type { ApiType } from '../ledger/estimate.ts'
import type { Spender } from '../ledger/scope.ts'
import type { JsonBody } from '../lib/json-body.ts'
import type { Permit } from '../limits/admission.ts'
import type { AskedPlugins } from '../plugins/asked-plugins.ts'
import type { Plan, PlannedAttempt } from '../routing/plan-attempts.ts'
import type { PresetCaching } from './cache/preset-caching.ts'
import type { OfferedTools } from './loop/offered-tool.ts'
import type { PlannedSearch } from './web/planned-search.ts'

/** A request as it came in, read and authenticated, in the words of its interface. */
export interface Received {
  readonly apiType: ApiType
  /** Reads the body, also after something changed it. */
  readonly format: Pick<ClientFormat, 'dialect' | 'parseCall'>
  readonly body: JsonBody
  /** Its length on the wire. */
  readonly bytes: number
  readonly principal: Principal
  /** The permit with which it was let in; null where requests are not counted. The pipeline takes it over from the code that let it in. */
  readonly permit: Pick<Permit, 'handOver' | 'end'> | null
  readonly requestId: string
  readonly userAgent: string | null
  readonly referer: string | null
  readonly headers: OwnHeaders
  /** The purpose of one that no client sent, such as `test`. */
  readonly origin?: string
}

/** The options for the service in a client's headers, beside the body. */
export interface OwnHeaders {
  /** A request is refused where any part of it cannot be honoured. */
  readonly strict: boolean
  /** Names the session where the body does not. */
  readonly sessionId: string | null
  /** Meant for Anthropic; null where there are none. */
  readonly vendor: VendorHeaders | null
  /** `traceparent` and `tracestate` as they came (W3C Trace Context); null: the request is part of no client's trace. */
  readonly trace: TraceContext | null
  /** All headers, for options that nearly no request has; null where no client sent any. */
  readonly sent: Pick<Headers, 'get'> | null
}

export interface TraceContext {
  readonly parent: string
  readonly state: string | null
}

export interface VendorHeaders {
  readonly version: string | null
  /** Lists, with commas. */
  readonly betas: readonly (string | null)[]
}

/** A request with everything that holds for it: its preset, and the defaults, guardrails and keys of its caller. */
export interface Prepared extends Received {
  readonly call: Call
  /** The model as the client named it, preset and all. */
  readonly requested: string
  readonly preset: UsedPreset | null
  /** Locks of the preset that names in the request could get around; null: none. */
  readonly locks: RoutingLocks | null
  /** Undefined where no preset put words of its own in front of the client's. */
  readonly hidden: HiddenPrompt | undefined
  readonly warnings: readonly Warning[]
  /** The plugins that it asks for; null: none. */
  readonly plugins: AskedPlugins | null
  /** Every warning is an error. */
  readonly strict: boolean
  /** The guardrails of its caller; null: none. */
  readonly guardrails: Effective | null
  /** Tools that it may not use, whether the service or a provider would run them. */
  readonly deniedTools: readonly ServerTool[]
  /** The work of guardrails on the request, and, as it happens, on its answer. */
  readonly pipeline: PipelineStage[]
  readonly caller: Caller
  /** The provider keys of the caller's own that it may use; null where it has none. */
  readonly customerKeys: CustomerKeyLookup | null
  /** PDFs of it that were read as text; undefined: none. */
  readonly files?: readonly FileText[]
  /** The request bodies that go to providers are kept, for the client to see (docs/contract/debugging.md#echo). */
  readonly echo: boolean
  /** The request and its answer are stored, for so many days; null: they are not. */
  readonly contents: { readonly retentionDays: number } | null
}

/** A request that the guardrails let pass, perhaps with changed texts. */
export interface Screened extends Prepared {
  /** Each attempt's answer goes through a screen of its own; undefined: nothing looks at it. */
  readonly screenOutput?: (() => OutputScreen) | undefined
}

/** A request with its plan: it is known which endpoints are to be asked. */
export interface Planned extends Screened {
  readonly plan: Plan
  /** Tools that the service runs in this request; null: none. */
  readonly tools: OfferedTools | null
  /** A search before the answer; null: none. */
  readonly search: PlannedSearch | null
  /** The conversation as an endpoint gets it, where that is not as the client wrote it. */
  readonly promptFor?: (planned: PlannedAttempt) => Prompt
}

/** The one who asks. Its limits and budgets bound the request. */
export interface Caller extends Spender {
  /** Who uses its key, for the record of a request that names no user of its own. */
  readonly externalUser: string | null
}

export interface UsedPreset {
  readonly id: string
  readonly slug: string
  readonly version: number
  /** The rollout that chose the version; null where none did. */
  readonly rolloutId: string | null
  readonly caching: PresetCaching
}

/** Strict requests would rather fail than lose something. */
export const strictError = ({ field, message }: Warning): GatewayError =>
  new GatewayError('invalid_request', `${field}: ${message}`, { metadata: { issues: [{ path: field, message }], strict: true } })
