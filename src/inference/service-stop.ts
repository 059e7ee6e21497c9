/** The error for an answer that the stopping service ends: it says nothing about the provider that was asked. */
import { GatewayError } from '../errors.ts'

class ServiceStops extends Error {
  override readonly name = 'ServiceStops'
}

/** The client may send the request again to another node, or to this one after its restart. */
export const serviceStop = (): GatewayError =>
  new GatewayError('provider_overloaded', RESTARTING, {
    retryAfterSeconds: 1,
    cause: new ServiceStops('The time for requests to end was over.'),
  })

export const RESTARTING = 'The service is restarting. Send the request again.'

export const isServiceStop = ({ cause }: GatewayError): boolean => cause instanceof ServiceStops
