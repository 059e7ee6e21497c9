/** The service ends before the answer does: its own doing, which says nothing of the provider that was asked. */
import { GatewayError } from '../errors.ts'

class ServiceStops extends Error {
  override readonly name = 'ServiceStops'
}

/** Another node, or this one after its start, answers the same request. */
export const serviceStop = (): GatewayError =>
  new GatewayError('provider_overloaded', 'The service is restarting. Send the request again.', {
    retryAfterSeconds: 1,
    cause: new ServiceStops('The time for requests to end was over.'),
  })

export const isServiceStop = ({ cause }: GatewayError): boolean => cause instanceof ServiceStops
