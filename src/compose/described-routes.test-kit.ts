/** The real routes, without the parts that their handlers would need: only their description is read. */
import { configFileSchema } from '../config-file.ts'
import type { AppParts } from '../http/app-parts.ts'
import { mountsOf } from '../http/later-routes.ts'
import { routeTable } from '../http/route-table.ts'
import type { Mount } from '../http/openapi/openapi.ts'
import { composeResources } from './resources.ts'

/** A stand-in for a part that is never used: each of its members is such a part too, and as a text it is ''. */
const PART: object = new Proxy(() => PART, { get: (_, name) => (name === Symbol.toPrimitive ? () => '' : PART) })

export const describedMounts = async (): Promise<readonly Mount[]> => {
  const part = PART as never
  const resources = composeResources(part, { file: configFileSchema.parse({}), pipeline: part })
  const parts = new Proxy({ resources }, { get: (known, name) => (name === 'resources' ? known.resources : PART) })
  const tables = routeTable(parts as AppParts, { json: () => Promise.resolve(''), page: () => Promise.resolve('') })
  return mountsOf(tables)
}
