/** The version that runs here, and its settings. */
import { z } from 'zod'

import { serviceFacts, type ServiceKnowledge } from '../../contract/service-facts.ts'
import { AUDIT_OBJECTS } from '../../storage/tables/schema.ts'
import { jsonResponse } from '../response/json-response.ts'
import { reachOf, type Route } from '../route.ts'

export interface ServiceFactsParts {
  readonly version: string
  readonly knowledge: ServiceKnowledge
}

export const serviceFactsRoute = (parts: ServiceFactsParts): Route => ({
  method: 'GET',
  path: '/service',
  operation: 'getService',
  summary: 'Read the version, and, in the default workspace, the processes and each setting with where it comes from',
  tag: 'Service',
  policy: 'management',
  surface: 'management',
  answers: { 200: { description: 'Without secrets.', schema: z.object({ data: serviceFacts }) } },
  errors: [],
  handle(request) {
    const { version, knowledge } = parts
    // Paths, addresses and processes are the operator's.
    const { isOperator } = reachOf(request)
    return jsonResponse({
      data: {
        version,
        engine: knowledge.engine,
        started_at: knowledge.startedAt,
        processes: isOperator
          ? knowledge.processes().map(({ id, startedAt, seenAt }) => ({ id, started_at: startedAt, seen_at: seenAt }))
          : [],
        switches: knowledge.switches(),
        settings: isOperator ? knowledge.settings() : [],
        audit_objects: AUDIT_OBJECTS,
        config_errors: isOperator ? knowledge.configErrors() : [],
      },
    })
  },
})
