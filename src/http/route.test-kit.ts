import type { Route } from './route.ts'

/** A route that anybody may call, and that answers nothing. */
export const emptyRoute = (method: Route['method'], path: string): Route => ({
  method,
  path,
  operation: `${method} ${path}`,
  summary: '',
  tag: 'Service',
  policy: 'public',
  surface: 'management',
  answers: {},
  errors: [],
  handle: () => new Response(),
})
