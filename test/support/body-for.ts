/** The body that a provider gets for a request. */
import { expect } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { GatewayError } from '../../src/errors.ts'
import { recording, type UpstreamDialect } from './recordings.ts'
import { MODEL, replay, type Replayed } from './replay.ts'

interface Provider {
  readonly dialect: UpstreamDialect
  readonly slug: string
  readonly model: string
}

/** Null if the request is refused here, which names its fault. */
export const bodyFor = async (
  client: ClientDialect,
  provider: Provider,
  body: object,
): Promise<Readonly<Record<string, unknown>> | null> => {
  const reply = { type: 'application/json', pieces: [recording(provider.dialect, 'length', false).bytes] } as const
  const upstreams = [{ ...provider, reply }]
  const replayed = await replay({ client, upstreams, body: { model: MODEL, ...body } }).catch((thrown: unknown) => thrown)
  if (replayed instanceof GatewayError) {
    expect({ status: replayed.status, message: replayed.message }).toMatchObject({ status: 400 })
    return null
  }
  const { status, sent, text, internalErrors } = replayed as Replayed
  expect(internalErrors).toEqual([])
  const [request] = sent
  if (request !== undefined) return JSON.parse(request.body) as Record<string, unknown>
  expect({ status, text }).toMatchObject({ status: 400 })
  return null
}
