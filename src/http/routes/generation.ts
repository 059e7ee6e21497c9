import { z } from 'zod'

import { scopeOf } from '../../canonical/reach.ts'
import { generation, generationId, generationIdQuery } from '../../contract/generation.ts'
import { validate } from '../../contract/validate.ts'
import { GatewayError } from '../../errors.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import type { GenerationStore } from '../../storage/generations/generation-store.ts'
import { generationResource } from '../generation-resource.ts'
import { jsonResponse } from '../response/json-response.ts'
import { reachOf, type Route } from '../route.ts'

/** A record can be read right after its answer: records that wait to be written are written first. */
export const generationGet = (parts: { store: GenerationStore; flush: () => Promise<void> }): Route => ({
  method: 'GET',
  path: '/generation',
  operation: 'getGeneration',
  summary: 'Read what one inference request did and cost',
  tag: 'Generations',
  policy: 'any-key',
  surface: 'management',
  query: generationIdQuery,
  answers: { 200: { description: 'The record.', schema: z.object({ data: generation }) } },
  errors: [400, 404],
  async handle(request) {
    const { id } = validate(z.object(generationIdQuery), { id: request.query.get('id') ?? undefined })
    await parts.flush()
    const reach = reachOf(request)
    const found = await parts.store.get(generationId(id), scopeOf(reach), reach.onlyUserId)
    if (found === null) throw new GatewayError('not_found', `There is no generation "${cutText(id, 128)}".`)
    return jsonResponse({ data: generationResource(found) })
  },
})
