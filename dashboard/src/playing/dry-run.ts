/** The effect of a request without sending it. */
import { ask } from '../api/client.ts'
import type { Warning } from '../parts/warning-text.tsx'
import { type Asked, INFERENCE_PATHS, requestBody } from './conversation-input.ts'

export interface DryRun {
  readonly request: unknown
  readonly plan: {
    readonly attempts: readonly { readonly model: string; readonly provider: string }[]
    readonly removed: readonly { readonly provider: string; readonly reason: string }[]
  }
  readonly upstream_request: { readonly provider: string; readonly model: string; readonly body: unknown } | null
  readonly cost_estimate: { readonly input_tokens: number; readonly min_usd: number | null; readonly max_usd: number | null }
  readonly warnings: readonly Warning[]
}

/** Calls no provider and charges nothing. */
export const dryRunOf = (path: string, body: unknown): Promise<DryRun> =>
  ask(path, { method: 'POST', body, headers: { 'x-service-dry-run': 'enabled' } })

export const dryRun = (asked: Asked): Promise<DryRun> => dryRunOf(INFERENCE_PATHS[asked.interface], requestBody(asked))
