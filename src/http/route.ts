/** A route is an operation with its policy, its schemas (for validation and for the API description) and its handler. */
import type { z } from 'zod'

import type { ClientDialect } from '../canonical/call.ts'
import type { Reach } from '../canonical/reach.ts'
import type { GatewayError } from '../errors.ts'
import { type Caller, isPerson, type Person } from '../keys/caller.ts'
import type { Principal } from '../keys/principal.ts'
import { type Clock, isoTimestamp } from '../lib/clock.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import type { Turn } from '../lib/steps.ts'
import type { Permit } from '../limits/admission.ts'
import type { Change, ChangedBy } from '../storage/changes/audit-log.ts'
import type { Policy } from './access/policies.ts'
import type { ReadObject } from './body/read-body.ts'
import type { Unproven } from './access/session-door.ts'

/** The interface that determines the form of a route's errors. */
export type Surface = ClientDialect | 'management'

export interface RouteRequest {
  readonly method: string
  /** Decoded once, in the order of the path. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: Headers
  readonly requestId: string
  /** The caller; null only on public routes. */
  readonly caller: Caller | null
  /** The key that asks or, on inference routes, the key that is charged: a person's own key if a person asks. Null if there is none. */
  readonly principal: Principal | null
  /** Where the caller may read and act; null on public and inference routes. */
  readonly reach: Reach | null
  /** Set for an inference request. Code that still runs after the handler has returned must take it over. */
  readonly permit: Permit | null
  /** The client's address, as the connection reports it. */
  readonly address: () => string
  /** Aborted when the client is gone, or when its session has ended. */
  readonly signal: AbortSignal
  /** The body as text: JSON content type, UTF-8, limited to the length of an object's description. Throws 400, 413, 415. */
  text(): Promise<string>
  /** Starts work in steps; the returned function must be called between two steps. */
  startTurn(): Turn
  /** The body as an object that may be as long as a request for a model. Throws as `text` does. */
  object(): Promise<ReadObject>
  /** The body as JSON whose members are parsed later, and its length in UTF-8. Throws as `text` does. */
  json(): Promise<{ readonly body: JsonBody; readonly bytes: number }>
  /** Passes a body of any type on as it arrives, up to `maxBytes`. Throws as `text` does, and what `consume` throws. */
  consume<Result>(maxBytes: number, consume: (pieces: AsyncIterable<Uint8Array>) => Promise<Result>): Promise<Result>
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the base path; a segment that starts with a colon is a parameter. `*` at the end matches the rest. */
  readonly path: string
  readonly operation: string
  readonly summary: string
  readonly tag:
    | 'Presets'
    | 'Inference'
    | 'Keys'
    | 'Guardrails'
    | 'Workspaces'
    | 'Provider keys'
    | 'Credits'
    | 'Models'
    | 'Generations'
    | 'Files'
    | 'Observability'
    | 'Audit'
    | 'Sign-in'
    | 'Service'
  /** Who may call it. There is no default: a route without a policy does not compile. */
  readonly policy: Policy
  /** The route calls a model and charges the caller's key, or a person's own key, as all inference routes do. */
  readonly isCharged?: true
  /** The error for a session without its second half; by default `authentication`, as for any other unknown caller. */
  readonly unproven?: Unproven
  /** A request with an inference key counts towards the key's limits, as a request for a model does. */
  readonly isCounted?: true
  readonly surface: Surface
  readonly params?: Readonly<Record<string, z.ZodType>>
  readonly query?: Readonly<Record<string, z.ZodType>>
  /** Vendors' SDKs and apps call it and add parameters that mean nothing here: those that `query` does not name are ignored. */
  readonly ignoresUnknownQuery?: true
  readonly headers?: Readonly<Record<string, z.ZodType>>
  readonly body?: z.ZodType
  /** The type of the body; JSON by default. */
  readonly bodyType?: 'multipart/form-data'
  /** Browser apps of every origin may read the answer: it depends on nothing that a browser adds by itself. */
  readonly anyOrigin?: true
  readonly answers: Readonly<
    Record<
      number,
      {
        readonly description: string
        /** A body in JSON. */
        readonly schema?: z.ZodType
        readonly stream?: boolean
        /** The media types of a body of another kind. */
        readonly types?: readonly string[]
      }
    >
  >
  /** Statuses of errors that the route may answer with, in addition to those of its policy. */
  readonly errors: readonly number[]
  /** People open it in a browser: a failure is a page for them, and an error as on every other route for programs. */
  readonly failurePage?: (failure: GatewayError, requestId: string) => Response
  readonly handle: (request: RouteRequest) => Promise<Response> | Response
}

/** The caller of a route whose policy is not public. */
export const callerOf = (request: RouteRequest): Caller => {
  if (request.caller === null) throw new TypeError('A public route asked for its caller.')
  return request.caller
}

/** The key of a route that people cannot call, or that charges the key of the person. */
export const principalOf = (request: RouteRequest): Principal => {
  if (request.principal === null) throw new TypeError('A route asked for a key that nobody has to send.')
  return request.principal
}

/** For routes whose policy is `session`. */
export const personOf = (request: RouteRequest): Person => {
  const caller = callerOf(request)
  if (!isPerson(caller)) throw new TypeError('A route for keys asked for a person.')
  return caller
}

/** For routes whose policy is `management` or `any-key`. */
export const reachOf = (request: RouteRequest): Reach => {
  if (request.reach === null) throw new TypeError('A route without management asked for its reach.')
  return request.reach
}

/** The caller's unique name: that of its key, or of its session. */
export const asksAs = (request: RouteRequest): string => {
  const caller = callerOf(request)
  return isPerson(caller) ? caller.sessionId : caller.hash
}

/** The caller as the audit log names it. */
export const changedBy = (request: RouteRequest): ChangedBy => {
  const { requestId } = request
  const caller = callerOf(request)
  return isPerson(caller) ? changedByPerson(caller, requestId) : { requestId, userId: caller.userId, keyHash: caller.hash }
}

/** A change that the request makes now. */
export const changeOf = (request: RouteRequest, clock: Pick<Clock, 'now'>): Change => ({
  by: changedBy(request),
  now: isoTimestamp(clock.now()),
})

export const changedByPerson = ({ userId, sessionId }: Person, requestId: string): ChangedBy => ({
  requestId,
  userId,
  keyHash: null,
  sessionId,
})
