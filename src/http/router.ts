/**
 * Finds the route for a request target. The policy comes from the route found here and from nothing else: not from the Host header, not
 * from a reassembled URL (docs/contract/keys-and-workspaces.md#authentication).
 */
import { GatewayError } from '../errors.ts'
import type { Route } from './route.ts'

export interface Match {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

export interface Router {
  /** Throws `not_found` for an unknown path, 405 (naming what is allowed) for an unknown method, 400 for an invalid encoding. */
  match(method: string, path: string): Match
  /** The methods of a path, for OPTIONS. Throws `not_found` for an unknown path. */
  methods(path: string): readonly string[]
  /** True if apps of every origin may request it. */
  isOpen(path: string): boolean
}

interface Node {
  readonly literal: Map<string, Node>
  parameter: Node | null
  /** Matches every path below that no other route matches. */
  rest: Node | null
  readonly routes: Map<string, Route>
}

interface Found {
  readonly node: Node
  readonly values: readonly string[]
}

const newNode = (): Node => ({ literal: new Map(), parameter: null, rest: null, routes: new Map() })

/** A longer path is not one of our routes; splitting it would only cost time. */
const SEGMENTS_MAX = 12

/** Each route is reachable below each of its bases, e.g. `/api/v1` and `/v1`. */
export const createRouter = (mounts: readonly { readonly base: string; readonly routes: readonly Route[] }[]): Router => {
  const root = newNode()
  /** Paths without parameters, which are looked up directly. */
  const fixed = new Map<string, Match>()
  for (const { base, routes } of mounts) {
    for (const route of routes) {
      const node = descend(root, segmentsOf(base + route.path))
      if (node.routes.has(route.method)) throw new TypeError(`Two routes for ${route.method} ${base}${route.path}`)
      node.routes.set(route.method, route)
      if (!route.path.includes(':')) fixed.set(`${route.method} ${base}${route.path}`, { route, params: {} })
    }
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
    },
    isOpen: (path) => find(path).some(({ node }) => [...node.routes.values()].some(({ anyOrigin }) => anyOrigin === true)),
    methods: (path) => {
      const found = find(path)
      if (found.length === 0) throw unknownPath(path)
      return methodsOf(found)
    },
  }
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
    if (node.routes.size > 0) yield { node, values }
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
