/**
 * Finds the route for a request target. The policy comes from the route found here and from nothing else: not from the Host header, not
 * from a reassembled URL (docs/contract/keys-and-workspaces.md#authentication).
 */
import { GatewayError } from '../errors.ts'
import { isLater, type LaterRoutes, type Table } from './later-routes.ts'
import type { Route } from './route.ts'

export interface Match {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

export interface Router {
  /**
   * Throws `not_found` for an unknown path, 405 (naming what is allowed) for an unknown method, 400 for an invalid encoding. A promise only
   * while routes of the path are not loaded.
   */
  match(method: string, path: string): Match | Promise<Match>
  /** The methods of a path, for OPTIONS. Throws `not_found` for an unknown path. */
  methods(path: string): Promise<readonly string[]>
  /** True if apps of every origin may request it. */
  isOpen(path: string): Promise<boolean>
}

interface Node {
  readonly literal: Map<string, Node>
  parameter: Node | null
  /** Matches every path below that no other route matches. */
  rest: Node | null
  readonly routes: Map<string, Route>
  /** Files with further routes of this path, until they are loaded. */
  readonly later: Set<LaterRoutes>
}

interface Found {
  readonly node: Node
  readonly values: readonly string[]
}

const newNode = (): Node => ({ literal: new Map(), parameter: null, rest: null, routes: new Map(), later: new Set() })

/** A longer path is not one of our routes; splitting it would only cost time. */
export const SEGMENTS_MAX = 12

/** Each route is reachable below each of its bases, e.g. `/api/v1` and `/v1`. */
export const createRouter = (tables: readonly Table[]): Router => {
  const root = newNode()
  /** Paths without parameters, which are looked up directly. */
  const fixed = new Map<string, Match>()
  const nodeOf = (base: string, path: string): Node => descend(root, segmentsOf(base + path))
  const place = (base: string, route: Route): void => {
    const node = nodeOf(base, route.path)
    if (node.routes.has(route.method)) throw new TypeError(`Two routes for ${route.method} ${base}${route.path}`)
    node.routes.set(route.method, route)
    if (!route.path.includes(':')) fixed.set(`${route.method} ${base}${route.path}`, { route, params: {} })
  }
  const waiting = new Set<LaterRoutes>()
  for (const { base, rows } of tables) {
    for (const row of rows) {
      if (!isLater(row)) place(base, row)
      else for (const path of row.paths) nodeOf(base, path).later.add(row)
      if (isLater(row)) waiting.add(row)
    }
  }
  /** Under every base path at once, so that no request finds a part of them. */
  const arrive = async (file: LaterRoutes): Promise<void> => {
    const routes = await file.load()
    // Another request may have waited for the same file.
    if (!waiting.delete(file)) return
    for (const { base, rows } of tables) {
      if (!rows.includes(file)) continue
      for (const path of file.paths) nodeOf(base, path).later.delete(file)
      for (const route of routes) place(base, route)
    }
  }
  const loaded = async (found: readonly Found[]): Promise<readonly Found[]> => {
    for (const { node } of found) for (const file of node.later) await arrive(file)
    return found
  }
  const find = (path: string): readonly Found[] => {
    const segments = segmentsOf(path)
    return segments.length > SEGMENTS_MAX ? [] : [...walk(root, segments, 0, [])]
  }
  return {
    match(method, path) {
      const known = fixed.get(`${method} ${path}`)
      if (known !== undefined) return known
      const found = find(path)
      if (found.length === 0) throw unknownPath(path)
      return found.every(({ node }) => node.later.size === 0)
        ? matchAmong(found, method, path)
        : loaded(found).then(() => matchAmong(found, method, path))
    },
    isOpen: async (path) =>
      (await loaded(find(path))).some(({ node }) => [...node.routes.values()].some(({ anyOrigin }) => anyOrigin === true)),
    async methods(path) {
      const found = find(path)
      if (found.length === 0) throw unknownPath(path)
      return methodsOf(await loaded(found))
    },
  }
}

const matchAmong = (found: readonly Found[], method: string, path: string): Match => {
  // HEAD is routed like GET: the server leaves the body out.
  const asked = method === 'HEAD' ? 'GET' : method
  for (const { node, values } of found) {
    const route = node.routes.get(asked)
    if (route === undefined) continue
    const names = segmentsOf(route.path).filter((segment) => segment.startsWith(':'))
    return {
      route,
      params: Object.fromEntries(names.map((name, position) => [name.slice(1), decodeSegment(values[position] ?? '')])),
    }
  }
  const allow = methodsOf(found)
  throw new GatewayError('invalid_request', `${path.slice(0, 200)} answers ${allow.join(', ')}, not ${method}.`, {
    status: 405,
    metadata: { allow },
  })
}

const unknownPath = (path: string): GatewayError =>
  new GatewayError('not_found', `There is no ${path.slice(0, 200)} here. GET /openapi.json lists every path.`)

/** HEAD is answered wherever GET is. */
const methodsOf = (found: readonly Found[]): string[] => {
  const methods = new Set(found.flatMap(({ node }) => [...node.routes.keys()]))
  return [...methods].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
}

const segmentsOf = (path: string): string[] => path.split('/').slice(1)

const descend = (root: Node, segments: readonly string[]): Node => {
  let node = root
  for (const segment of segments) {
    if (segment === '*') {
      node.rest ??= newNode()
      node = node.rest
    } else if (segment.startsWith(':')) {
      node.parameter ??= newNode()
      node = node.parameter
    } else {
      const next = node.literal.get(segment) ?? newNode()
      node.literal.set(segment, next)
      node = next
    }
  }
  return node
}

/**
 * Every node with routes to which the path leads, those first that are to be preferred: a literal segment wins over a parameter, as long as
 * there is a route for the method. `/presets/versions` may be a slug, and a member may be called `add`.
 */
function* walk(node: Node, segments: readonly string[], at: number, values: readonly string[]): Generator<Found> {
  const segment = segments[at]
  if (segment === undefined) {
    if (node.routes.size > 0 || node.later.size > 0) yield { node, values }
    return
  }
  const literal = node.literal.get(segment)
  if (literal !== undefined) yield* walk(literal, segments, at + 1, values)
  // An empty segment in the middle is refused later as a name; at the end it is only the trailing slash of another path.
  const isName = segment !== '' || at < segments.length - 1
  if (node.parameter !== null && isName) yield* walk(node.parameter, segments, at + 1, [...values, segment])
  if (node.rest !== null) yield { node: node.rest, values }
}

/** Decoded exactly once: the result is data and never part of a path again (docs/contract/presets.md#slugs). */
const decodeSegment = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch (cause) {
    throw new GatewayError('invalid_request', 'The path holds a percent sign that encodes nothing. Write it as %25.', { cause })
  }
}
