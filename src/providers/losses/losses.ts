/** How an encoder reports what a request loses on its way to a provider. */
import type { Warning } from '../../canonical/warning.ts'
import { GatewayError } from '../../errors.ts'
import type { Attempt } from '../provider.ts'

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

/** Reports settings of a preset that a relayed body cannot have: its dialect, which is also the client's, lacks the fields. */
export const loseCarried = ({ call: { carried, dialect }, warn }: Pick<Attempt, 'call' | 'warn'>): void => {
  for (const { field } of Object.values(carried?.settings ?? {}))
    lossesTo(warn).lose(field, `The preset's ${field} has no counterpart on ${dialect}; it was left out.`)
}
