/** What is asked of one inference, and by whom. */
import type { CustomerKeyLookup } from '../byok/customer-keys.ts'
import type { Call } from '../canonical/call.ts'
import type { HiddenPrompt } from '../canonical/hidden-prompt.ts'
import type { PipelineStage } from '../canonical/pipeline.ts'
import type { RoutingPolicy } from '../canonical/routing-policy.ts'
import type { Warning } from '../canonical/warning.ts'
import { GatewayError } from '../errors.ts'
import type { OutputScreen } from '../guardrails/screen-output.ts'
import type { Spender } from '../ledger/scope.ts'

export interface InferenceRequest {
  readonly call: Call
  readonly apiType: 'completions' | 'embeddings'
  /** The model as the client named it, preset and all. */
  readonly requested: string
  readonly preset: UsedPreset | null
  /** Absent where no preset put words of its own in front of the client's. */
  readonly hidden?: HiddenPrompt
  readonly warnings: readonly Warning[]
  /** Every warning is an error. */
  readonly strict: boolean
  /** What the caller's guardrails leave to choose from; absent or null: everything. */
  readonly policy?: RoutingPolicy | null
  /** What was done to the request, and, as it happens, to its answer. */
  readonly pipeline?: readonly PipelineStage[]
  /** Each attempt's answer goes through a screen of its own; absent: nothing looks at it. */
  readonly screenOutput?: () => OutputScreen
  readonly caller: Caller
  /** Its leave to run: ended when it is settled. */
  readonly pass?: { end(tokens: number): void }
  /** The provider keys of the caller's own that it may use; absent or null where it has none. */
  readonly customerKeys?: CustomerKeyLookup | null
  readonly requestId: string
  readonly userAgent: string | null
  readonly referer: string | null
  /** The request bodies that go to providers are kept, for the client to see (docs/contract/debugging.md#echo). */
  readonly echo?: boolean
}

/** Who asks, and whose limits and budgets bound it. */
export interface Caller extends Spender {
  /** Who uses its key, for the record of a request that names no user of its own. */
  readonly externalUser: string | null
}

export interface UsedPreset {
  readonly id: string
  readonly slug: string
  readonly version: number
}

/** Strict requests would rather fail than lose something. */
export const strictError = ({ field, message }: Warning): GatewayError =>
  new GatewayError('invalid_request', `${field}: ${message}`, { metadata: { issues: [{ path: field, message }], strict: true } })
