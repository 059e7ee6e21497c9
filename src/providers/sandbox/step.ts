/** The input of a sandbox model, and the steps of its script. */
import type { ModelEvent } from '../../canonical/event.ts'
import type { Prompt } from '../../canonical/prompt.ts'
import type { GatewayError } from '../../errors.ts'
import type { SandboxSettings } from './settings.ts'

export interface SandboxInput {
  readonly prompt: Prompt
  readonly maxOutputTokens: number | null
  readonly settings: SandboxSettings
  /** 0 for the first attempt of a request. */
  readonly attempt: number
}

export type SandboxStep =
  | { readonly kind: 'frame'; readonly events: readonly ModelEvent[] }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'fail'; readonly error: GatewayError }
  /** The connection ends before the end of the answer. */
  | { readonly kind: 'cut' }
