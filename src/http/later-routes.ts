/** Routes whose file is loaded when one of their paths is first asked for: most services answer inference, and need few of them (decisions/0266). */
import type { Turn } from '../lib/steps.ts'
import type { Mount } from './openapi/openapi.ts'
import type { Route } from './route.ts'

export interface LaterRoutes {
  /** Every path that the routes have, below the base path. */
  readonly paths: readonly string[]
  /** Throws what importing the file throws; the next call tries again. */
  readonly load: () => Promise<readonly Route[]>
}

export type Row = Route | LaterRoutes

export const isLater = (row: Row): row is LaterRoutes => 'load' in row

/** Below one base path, e.g. `/api/v1`; '' for those at the root. */
export interface Table {
  readonly base: string
  readonly rows: readonly Row[]
}

export const later = <Loaded>(
  paths: readonly string[],
  load: () => Promise<Loaded>,
  routesOf: (loaded: Loaded) => Route | readonly Route[],
): LaterRoutes => {
  let loading: Promise<readonly Route[]> | null = null
  const read = async (): Promise<readonly Route[]> => {
    const routes = [routesOf(await load())].flat()
    requireSame(paths, routes)
    return routes
  }
  const forget = (thrown: unknown): never => {
    loading = null
    throw thrown
  }
  return { paths, load: () => (loading ??= read().catch(forget)) }
}

/** Loads every file, in the order of the tables. Together they take longer than one step. */
export const mountsOf = async (tables: readonly Table[], turn: Turn = () => undefined): Promise<readonly Mount[]> => {
  const mounts: Mount[] = []
  for (const { base, rows } of tables) {
    const routes: Route[] = []
    for (const row of rows) {
      routes.push(...(isLater(row) ? await row.load() : [row]))
      await turn()
    }
    mounts.push({ base, routes })
  }
  return mounts
}

/** A path that the table does not name could not be reached. */
const requireSame = (paths: readonly string[], routes: readonly Route[]): void => {
  const named = new Set(paths)
  const found = new Set(routes.map(({ path }) => path))
  const wrong = [...named.symmetricDifference(found)]
  if (wrong.length > 0) throw new TypeError(`The table of routes and their file do not name the same paths: ${wrong.join(', ')}`)
}
