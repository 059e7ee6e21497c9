/** The entry of every request: how each one is answered, and counted. */
import type { AppParts } from './app-parts.ts'
import { errorResponse } from './error-boundary.ts'
import { GatewayError } from '../errors.ts'
import { createTurn } from '../inference/large-steps.ts'
import { asFailure } from '../inference/as-failure.ts'
import { RESTARTING } from '../inference/service-stop.ts'
import { isPerson } from '../keys/caller.ts'
import type { BodySpace } from '../limits/body-room.ts'
import { joinCohort } from '../lib/cohort.ts'
import { once } from '../lib/once.ts'
import { inTurns, type Turn } from '../lib/steps.ts'
import { authenticate } from './access/authenticate.ts'
import { clientAddress } from './access/client-address.ts'
import { requireKnownConditions } from './known-conditions.ts'
import { requireKnownParameters } from './known-parameters.ts'
import { LongAnswer } from './response/json-response.ts'
import { mountsOf } from './later-routes.ts'
import { pacedBody } from './response/paced-body.ts'
import { consumeBody, readBodyText, readJsonBody, readObject, type BodyLimits, type HttpRequest } from './body/read-body.ts'
import { endWithSession } from './access/end-with-session.ts'
import type { Policy } from './access/policies.ts'
import { changedByPerson, type Route, type Surface } from './route.ts'
import { asRefusedUpgrade } from './refused-upgrade.ts'
import { ALIAS_BASE, doorsOf, routeTable } from './route-table.ts'
import { createRouter, type Match } from './router.ts'
import { namedWorkspace, resolveReach } from './workspace-scope.ts'

/** The remote ends of connections. */
export interface Peers {
  /** An internet address; '' if it is no longer known. */
  addressOf(request: HttpRequest): string
}

export interface App {
  /** `literalPath` is the path as it was sent, if the runtime's own reading of it differs. */
  answer(request: HttpRequest, literalPath?: string, peers?: Peers): Promise<Response>
}

const UNKNOWN: Peers = { addressOf: () => '' }

export const createApp = (parts: AppParts): App => {
  const startTurn = (): Turn => createTurn(parts.clock, parts.largeStep)
  const turn = startTurn()
  const document = once(async () => {
    const { openapiDocument } = await import('./openapi/openapi.ts')
    const described = tables.filter(({ base }) => base !== ALIAS_BASE)
    const mounts = await mountsOf(described, turn)
    return inTurns(openapiDocument(mounts, { version: parts.version }), turn)
  })
  const tables = routeTable(parts, {
    json: once(async () => JSON.stringify(await document())),
    page: once(async () => {
      const { referencePage } = await import('../reference/reference-page.ts')
      return inTurns(referencePage(await document()), turn)
    }),
  })
  const router = createRouter(tables)
  const doors = doorsOf(parts)
  const bodyLimits = { ...parts.bodyLimits, clock: parts.clock }
  const requests = parts.metrics.counter('patchbay_http_requests_total', 'Requests by operation and status.', ['operation', 'status'])

  /** Throws every refusal: what the route does not allow, and what its handler throws. */
  const answerRoute = async (request: HttpRequest, { route, params }: Match, { requestId, query, peers }: Arrival): Promise<Response> => {
    const { headers, method } = request
    if (route.policy === 'inference' && parts.isDraining())
      throw new GatewayError('provider_overloaded', RESTARTING, { retryAfterSeconds: 1 })
    const authenticated = authenticate(headers, route.policy, doors, route.unproven)
    const caller = authenticated instanceof Promise ? await authenticated : authenticated
    const person = caller !== null && isPerson(caller) ? caller : null
    const key = caller === null || isPerson(caller) ? null : caller
    // A person's requests are charged to a key of their own.
    const charged = person !== null && (route.policy === 'inference' || route.isCharged === true)
    const principal = charged ? await parts.keys.playground(person, changedByPerson(person, requestId)) : key
    const asked = query === '' ? NO_QUERY : new URLSearchParams(query)
    const named = query === '' ? null : namedWorkspace(route, asked)
    if (query !== '') requireKnownParameters(route, asked)
    requireKnownConditions(route, headers)
    const reaches = caller !== null && REACHING.has(route.policy)
    const reach = reaches ? await resolveReach(caller, named, parts.management.workspaces) : null
    const holder = principal?.hash ?? person?.sessionId ?? NOBODY
    const space = parts.bodyRoom.enter(holder)
    const isCounted = route.policy === 'inference' || (route.isCounted === true && key?.kind === 'inference')
    const entered = isCounted && principal !== null ? parts.admission.enter(principal, space.free) : null
    const permit = entered instanceof Promise ? await entered : entered
    const limits: BodyLimits = { ...bodyLimits, space }
    let response: Response
    try {
      response = await route.handle({
        method,
        params,
        query: asked,
        headers,
        requestId,
        caller,
        principal,
        reach,
        address: () => clientAddress(peers.addressOf(request), headers.get('x-forwarded-for'), parts.trustedProxies),
        permit,
        signal: request.signal,
        startTurn,
        text: () => readBodyText(request, limits),
        object: () => readObject(request, limits),
        json: () => readJsonBody(request, limits),
        consume: (maxBytes, consume) => consumeBody(request, maxBytes, limits, consume),
      })
    } finally {
      // The room for a body lasts as long as the permit or, without one, as long as the handler.
      if (permit === null) space.free()
      else if (!permit.handedOver) permit.end(0)
    }
    const bound = person === null ? response : endWithSession(response, person.sessionId, parts.sessions)
    // An answer to HEAD is sent without its body.
    return bound instanceof LongAnswer && method !== 'HEAD' ? writtenAtPace(bound, parts.bodyRoom.enter(holder), method === 'GET') : bound
  }

  const answer = async (request: HttpRequest, literalPath?: string, peers: Peers = UNKNOWN): Promise<Response> => {
    const startedMs = parts.clock.monotonicMs()
    // The id begins with the time, so that consecutive ids are adjacent in the index of records.
    const requestId = parts.ids.prefixed(`req-${Math.floor(parts.clock.now())}`)
    const { path: resolvedPath, query } = targetOf(request.url)
    const path = literalPath ?? resolvedPath
    let route: Route | null = null
    let response: Response
    let failure: GatewayError | null = null
    await joinCohort()
    try {
      if (!HOST.test(request.headers.get('host') ?? 'localhost')) throw new GatewayError('invalid_request', 'The Host header is malformed.')
      if (request.method === 'OPTIONS')
        response = parts.cors.preflight(request.headers.get('origin'), await router.methods(path), await router.isOpen(path))
      else {
        const found = router.match(request.method, path)
        const matched = found instanceof Promise ? await found : found
        route = matched.route
        response = await answerRoute(request, matched, { requestId, query, peers })
      }
    } catch (thrown) {
      failure = asRefusedUpgrade(asFailure(thrown), request.headers)
      const page = wantsPage(request.headers) ? route?.failurePage : undefined
      response = page === undefined ? errorResponse(failure, route?.surface ?? surfaceOf(path), parts.formats) : page(failure, requestId)
    }
    const operation = route?.operation ?? 'none'
    const { headers } = response
    headers.set('x-request-id', requestId)
    headers.set('request-id', requestId)
    if (parts.isLeaving()) headers.set('connection', 'close')
    parts.cors.mark(headers, request.headers.get('origin'))
    if (route?.anyOrigin === true) headers.set('access-control-allow-origin', '*')
    requests.add([operation, String(response.status)])
    logRequest(parts, { operation, method: request.method, requestId, startedMs }, response, failure)
    return response
  }
  /** A read may be refused if unread answers fill the memory; the answer to a change is always sent. */
  const writtenAtPace = (answered: LongAnswer, space: BodySpace, isRead: boolean): Response => {
    const refused = isRead ? space.refusal(lengthOf(answered)) : null
    if (refused !== null) throw refused
    const body = pacedBody(answered.pieces, { clock: parts.clock, unreadMs: parts.answering.unreadMs, onUnread: space.holdAnswer })
    return new Response(body, answered)
  }
  return { answer }
}

const lengthOf = ({ pieces }: LongAnswer): number => pieces.reduce((length, piece) => length + piece.length, 0)

/** The facts of a request that are known before its route. */
interface Arrival {
  readonly requestId: string
  /** Without the question mark; '' if there is none. */
  readonly query: string
  readonly peers: Peers
}

/** A generation has a log line of its own when it ends; everything else gets this one. */
const logRequest = (
  { log, clock }: AppParts,
  about: { operation: string; method: string; requestId: string; startedMs: number },
  response: Response,
  failure: GatewayError | null,
): void => {
  if (failure === null && response.headers.has('x-generation-id')) return
  const fields = {
    request_id: about.requestId,
    operation: about.operation,
    method: about.method,
    status: response.status,
    duration_ms: Math.round((clock.monotonicMs() - about.startedMs) * 10) / 10,
    ...(failure === null ? {} : { error_type: failure.type }),
  }
  // A refusal, such as that of one request too many, is no fault: a flood of stacks would hide what is.
  const isRefusal = response.status > 500 && failure !== null && failure.cause === undefined
  if (isRefusal) log.warn({ ...fields, reason: failure.message }, 'request refused')
  else if (response.status >= 500) log.error({ ...fields, error: failure }, 'request failed')
  else if (about.operation.startsWith('health')) log.debug(fields, 'request')
  else log.info(fields, 'request')
}

/** Policies of routes that act in a workspace of the caller. */
const REACHING: ReadonlySet<Policy> = new Set(['management', 'own', 'any-key'])

/** The holder for callers of public routes, whose bodies are not read. */
const NOBODY = ''

const NO_QUERY = new URLSearchParams()

/** Browsers say so where a person opens an address; programs take anything. */
const wantsPage = (headers: Headers): boolean => headers.get('accept')?.includes('text/html') === true

const HOST = /^[\w.:[\]-]*$/

/** The path and the query of an address. Nothing is decoded before the router has decided. */
export const targetOf = (url: string): { path: string; query: string } => {
  // Without a Host header, as HTTP/1.0 allows, the runtime passes only the path.
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('//') + 2)
  const target = start < 0 ? '/' : url.slice(start)
  const mark = target.indexOf('?')
  return mark < 0 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark + 1) }
}

/** Before the route is known, the form of an error follows the path, so that a client can read its 404 or 405. */
const surfaceOf = (path: string): Surface =>
  SURFACES[/^(?:\/api)?\/v1\/(messages|responses|chat|embeddings)(?:\/|$)/.exec(path)?.[1] ?? ''] ?? 'management'

const SURFACES: Readonly<Record<string, Surface>> = { messages: 'messages', responses: 'responses', chat: 'chat', embeddings: 'chat' }
