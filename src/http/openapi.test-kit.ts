/** The real routes, without the parts that their handlers would need: only their description is read. */
import { routeTable } from './app.ts'
import type { Mount } from './openapi.ts'

export const describedMounts = (): readonly Mount[] =>
  routeTable({ formats: {}, answering: {}, generations: {}, management: {}, oauth: {}, oidc: {} } as never, () => ({}))
