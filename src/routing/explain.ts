/**
 * Explains why no provider was asked, or not every one: in words for people and in facts for programs
 * (docs/contract/routing.md#nobody-fits).
 */
import type { Warning } from '../canonical/warning.ts'
import { GatewayError } from '../errors.ts'
import { cutText } from '../lib/text/cut-text.ts'
import type { Models } from '../models/models.ts'

export interface Removed {
  readonly model: string
  /** The endpoint's tag; `*` for a model that no provider serves. */
  readonly provider: string
  /** The filter that removed it. */
  readonly reason: string
}

export const UNKNOWN_MODEL = 'unknown model'

export const unknownModel = (id: string, models: Models): GatewayError => {
  const meant = models.named(id)
  if (meant.length > 1) {
    const ids = meant.slice(0, MEANT_MAX).map((model) => model.id)
    return new GatewayError('not_found', `"${shown(id)}" is a name of more than one model here: use ${ids.join(' or ')}.`)
  }
  const variables = models.enabledBy(id)
  if (variables.length > 0) {
    return new GatewayError('not_found', `No provider of "${shown(id)}" is enabled here. The operator can set ${variables.join(' or ')}.`)
  }
  const near = models.nearest(id, 3).map((known) => {
    const enabling = models.enabledBy(known)
    return enabling.length === 0 ? known : `${known} (set ${enabling.join(' or ')})`
  })
  const hint = near.length === 0 ? 'GET /api/v1/models lists what there is.' : `Did you mean ${near.join(', ')}?`
  return new GatewayError('not_found', `The model "${shown(id)}" does not exist here, or no enabled provider serves it. ${hint}`)
}

/** For a list of names that are all unknown. */
export const unknownModels = (ids: readonly string[], models: Models): GatewayError =>
  new GatewayError('not_found', [...new Set(ids)].map((id) => unknownModel(id, models).message).join(' '))

/** The maximum number of models named in an error if a name can mean several. */
const MEANT_MAX = 5

/** `retryAfterSeconds`: until an endpoint that is only temporarily out of order lets a request through; null if waiting does not help. */
export const noProvider = (names: readonly string[], removed: readonly Removed[], retryAfterSeconds: number | null): GatewayError => {
  const reported = removed.slice(0, REPORTED_MAX).map(({ model, provider, reason }) => `${provider} for ${model} (${reason})`)
  const more = removed.length > REPORTED_MAX ? ` and ${removed.length - REPORTED_MAX} more` : ''
  const why = reported.length === 0 ? 'none, since no model fits' : reported.join(', ') + more
  return new GatewayError(
    'provider_overloaded',
    `No provider meets the requirements for ${names.map(shown).join(', ')}. Removed: ${why}.`,
    { status: 503, metadata: { excluded_by: removed }, retryAfterSeconds: retryAfterSeconds ?? undefined },
  )
}

/** The maximum number in the sentence; the metadata contains all of them. */
const REPORTED_MAX = 20

export const passedOver = (model: string, field: string): Warning => ({
  code: 'unsupported_field',
  field,
  message: `The model "${shown(model)}" does not exist here; it was passed over.`,
})

export const unheededVariant = (message: string): Warning => ({ code: 'unsupported_field', field: 'model', message })

/** A hostile name is not repeated in full. */
export const shown = (id: string): string => cutText(id, 200)
