/** How an encoder reports what a request loses on its way to a provider. */
import { OWN_DIALECT } from '../../canonical/provider-dialects.ts'
import type { Call } from '../../canonical/call.ts'
import type { SettingName } from '../../canonical/settings.ts'
import type { Warning } from '../../canonical/warning.ts'
import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json/json.ts'
import { pathsOf } from '../../request-fields/setting-spellings.ts'
import type { Attempt } from '../provider.ts'
import { SETTING_OUTCOMES } from './loss-table.ts'

/** `field` is the client's path. */
export interface Losses {
  /** Reports something that was left out and that the table cannot know of, such as a part of a message. */
  lose(field: string, message: string): void
  /** Reports something that is done in another way than asked for. */
  mapped(field: string, message: string): void
  /** For something that cannot be carried over and whose absence would change the request's meaning. Throws `invalid_request`. */
  refuse(field: string, message: string): never
}

export const lossesTo = (warn: (warning: Warning) => void): Losses => ({
  lose: (field, message) => warn({ code: 'unsupported_field', field, message }),
  mapped: (field, message) => warn({ code: 'mapped_field', field, message }),
  refuse: (field, message) => {
    throw new GatewayError('invalid_request', `${field}: ${message}`, { metadata: { field } })
  },
})

/**
 * Reports settings of a preset that a relayed body cannot have: its dialect, which is also the client's, lacks the fields. Throws
 * `invalid_request` for a setting without which the request must not be sent.
 */
export const loseCarried = ({ call: { carried, dialect, body }, warn, target }: Pick<Attempt, 'call' | 'warn' | 'target'>): void => {
  for (const [name, setting] of Object.entries(carried?.settings ?? {}))
    if (SETTING_OUTCOMES[name as SettingName][OWN_DIALECT[dialect]] === 'refused') refuseSetting(setting.field, target.providerName)
  for (const field of Object.keys(carried?.written ?? {})) {
    // The format of the request takes the place of the preset's.
    if (pathsOf(carried?.shape ?? dialect, 'outputFormat').includes(field) && hasFormat(body, dialect)) continue
    lossesTo(warn).lose(field, `The preset's ${field} has no counterpart on ${dialect}; it was left out.`)
  }
}

const hasFormat = (body: Call['body'], dialect: Call['dialect']): boolean =>
  pathsOf(dialect, 'outputFormat').some((path) => {
    const [field = '', member = ''] = path.split('.')
    const value = body.value(field) ?? null
    return member === '' ? value !== null : isObject(value) && (value[member] ?? null) !== null
  })

/** Says whether `prompt_cache_options` ask to fill the cache and for no answer: without them the model would answer, which costs more. */
export const asksForNoAnswer = (options: unknown): boolean => isObject(options) && options['prewarm'] === true

export const refuseSetting = (field: string, providerName: string): never => {
  throw new GatewayError('invalid_request', `${field}: ${providerName} cannot do this. Leave it out, or use another model.`)
}

/** A limit of zero asks Claude to fill its cache and for no answer; a model that takes it for no limit would answer (decisions/0281). */
export const refuseEmptyLimit = (field: string, providerName: string): never => {
  throw new GatewayError(
    'invalid_request',
    `${field}: With 0, a request only fills the cache of a Claude model, which ${providerName} cannot do. Send at least 1, or use another model.`,
  )
}
