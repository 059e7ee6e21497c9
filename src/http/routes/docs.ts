/** The description of the API as a page for people. */
import { REFERENCE_PAGE_POLICY } from '../../reference/reference-page.ts'
import type { Route } from '../route.ts'

export const docsPage = (page: () => Promise<string>): Route => ({
  method: 'GET',
  path: '/docs',
  operation: 'docs',
  tag: 'Service',
  policy: 'public',
  surface: 'management',
  summary: 'This description, to browse',
  errors: [],
  answers: { 200: { description: 'A page that loads nothing from elsewhere.', types: ['text/html'] } },
  handle: async () =>
    new Response(await page(), {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': REFERENCE_PAGE_POLICY,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      },
    }),
})
