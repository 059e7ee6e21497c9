import { z } from 'zod'

import { provider } from '../../contract/model.ts'
import type { Models } from '../../models/models.ts'
import { jsonResponse } from '../response/json-response.ts'
import type { Route } from '../route.ts'

export const providersList = (models: Models): Route => ({
  method: 'GET',
  path: '/providers',
  operation: 'listProviders',
  summary: 'List the enabled providers',
  tag: 'Models',
  policy: 'any-key',
  surface: 'management',
  ignoresUnknownQuery: true,
  answers: {
    200: { description: 'Providers by the slug that `provider.order` and its like take.', schema: z.object({ data: z.array(provider) }) },
  },
  errors: [],
  handle: () =>
    jsonResponse({
      data: models.providers().map(({ name, slug }): z.output<typeof provider> => ({ name, slug, ...UNREPORTED })),
    }),
})

/** The catalogue says how to reach a provider, but nothing about its policies. */
const UNREPORTED = {
  privacy_policy_url: null,
  terms_of_service_url: null,
  status_page_url: null,
  headquarters: null,
  datacenters: null,
}
