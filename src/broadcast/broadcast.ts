/**
 * Sends finished requests to the destinations of their workspace and to the operator's own collector. The destinations in force (enabled,
 * in a workspace that broadcasts) are kept in memory, so that a request that nobody watches costs only a lookup in an empty map.
 */
import type { DestinationType } from '../contract/destination.ts'
import type { Clock } from '../lib/clock.ts'
import { createRegex, type Regex } from '../lib/regex/finder.ts'
import type { SafeFetch } from '../providers/transport/safe-fetch.ts'
import type { DestinationRecord, DestinationStore } from '../storage/broadcast/destination-store.ts'
import { createDelivery, type Delivery, type DeliveryHealth, type Outcome, post } from './delivery.ts'
import { configOf, type StoredConfig } from './destination-config.ts'
import { storedConfig } from './destinations.ts'
import type { ResourceFacts } from './encode-traces.ts'
import { type Filtering, isSentTo, needsContent } from './filter-traces.ts'
import type { RequestTrace } from './request-trace.ts'
import type { TraceQueue } from './trace-queue.ts'
import { createSender, type Sender } from './senders.ts'

export interface Broadcast {
  /** The destinations that get requests of this workspace; null if there are none. */
  watchers(workspaceId: string): Watchers | null
  /** Sends a trace to the destinations that want it. Never waits, never throws. */
  add(trace: RequestTrace): void
  /** Reads from storage which destinations are in force. */
  refreshCache(): Promise<void>
  /** The health of deliveries in this process since its start; null for a destination that is not in force. */
  healthOf(id: string): DeliveryHealth | null
  /** Returns why a destination refuses a request without a trace; null if it accepts one. */
  tryOut(type: DestinationType, config: StoredConfig): Promise<string | null>
  /** Starts to look regularly for traces that other processes left behind. */
  start(): void
  /** Sends the waiting traces, as far as the destinations take them. */
  close(): Promise<void>
  readonly queued: number
  readonly oldestMs: number
}

export interface Watchers {
  /** At least one of them wants the question and the answer. */
  readonly content: boolean
}

/** The operator's own collector, for all workspaces. It never gets the contents of questions and answers. */
export interface OperatorWatch {
  readonly sender: Sender
  readonly fetch: SafeFetch
  readonly timeoutMs: number
  readonly samples: (trace: RequestTrace) => boolean
  readonly onFailure: (reason: string) => void
}

export interface BroadcastParts {
  readonly store: Pick<DestinationStore, 'inForce'>
  readonly clock: Clock
  readonly resource: ResourceFacts
  /** Returns a fetch that follows the rules for addresses named by tenants, as currently configured. */
  readonly fetch: () => SafeFetch
  readonly operator: OperatorWatch | null
  readonly queue: TraceQueue
  readonly count: (destination: string, outcome: Outcome, traces: number) => void
  readonly onError: (thrown: unknown, doing: string) => void
}

interface Target {
  readonly updatedAt: string
  readonly workspaceId: string
  readonly filtering: Filtering
  readonly content: boolean
  readonly sender: Sender
  readonly delivery: Delivery
}

const TIMEOUT_MS = 10_000

/** The label of the operator's collector in the metrics. */
const OPERATOR = 'operator'

export const createBroadcast = (parts: BroadcastParts): Broadcast => {
  const { store, clock, resource, fetch, operator, queue, count, onError } = parts
  let stopLooking = (): void => undefined
  let targets: ReadonlyMap<string, Target> = new Map()
  let byWorkspace: ReadonlyMap<string, readonly Target[]> = new Map()
  const own =
    operator === null
      ? null
      : createDelivery({
          sender: operator.sender,
          clock,
          fetch: () => operator.fetch,
          timeoutMs: operator.timeoutMs,
          count: (outcome, traces) => count(OPERATOR, outcome, traces),
          onFailure: operator.onFailure,
          kept: null,
        })

  const targetOf = (record: DestinationRecord, before: Target | undefined): Target => {
    if (before?.updatedAt === record.updatedAt) return before
    const { settings, id } = record
    const sender = senderOf(record.type, storedConfig(record), settings)
    before?.delivery.use(sender)
    return {
      updatedAt: record.updatedAt,
      workspaceId: record.workspaceId,
      filtering: {
        id,
        keyHashes: settings.api_key_hashes === null ? null : new Set(settings.api_key_hashes),
        rules: settings.filter_rules,
        patterns: patternsIn(settings.filter_rules),
        rate: settings.sampling_rate,
      },
      content: !settings.privacy_mode || needsContent(settings.filter_rules),
      sender,
      delivery:
        before?.delivery ??
        createDelivery({
          sender,
          clock,
          fetch,
          timeoutMs: TIMEOUT_MS,
          count: (outcome, traces) => count(id, outcome, traces),
          kept: { add: (trace) => queue.add(id, trace), remove: queue.remove, read: queue.read },
        }),
    }
  }

  const senderOf = (type: DestinationType, config: StoredConfig, settings: ViewSettings): Sender =>
    createSender(type, configOf(type, config), { resource, view: viewOf(settings) })

  const deliveries = (): readonly Delivery[] => [...(own === null ? [] : [own]), ...[...targets.values()].map(({ delivery }) => delivery)]

  return {
    watchers(workspaceId) {
      const found = byWorkspace.get(workspaceId)
      if (found === undefined) return own === null ? null : WITHOUT_CONTENT
      return found.some(({ content }) => content) ? WITH_CONTENT : WITHOUT_CONTENT
    },
    add(trace) {
      try {
        if (own !== null && operator?.samples(trace) === true) own.add(operator.sender.encode(trace))
        for (const { filtering, sender, delivery } of byWorkspace.get(trace.workspaceId) ?? []) {
          if (isSentTo(filtering, trace)) delivery.add(sender.encode(trace))
        }
      } catch (thrown) {
        onError(thrown, 'a trace could not be sent')
      }
    },
    async refreshCache() {
      const { read, damaged } = await store.inForce()
      const next = new Map<string, Target>()
      const keepAsBefore = (thrown: unknown, isMeant: (id: string, target: Target) => boolean): void => {
        onError(thrown, 'a destination of traces cannot be read, and stays as it was')
        for (const [id, target] of targets) if (isMeant(id, target)) next.set(id, target)
      }
      for (const record of read) {
        try {
          next.set(record.id, targetOf(record, targets.get(record.id)))
        } catch (thrown) {
          keepAsBefore(thrown, (id) => id === record.id)
        }
      }
      for (const row of damaged) keepAsBefore(row, (id, { workspaceId }) => row.id === id || row.id === workspaceId)
      for (const [id, { delivery }] of targets) if (!next.has(id)) delivery.stop()
      targets = next
      byWorkspace = Map.groupBy(next.values(), ({ workspaceId }) => workspaceId)
    },
    healthOf: (id) => targets.get(id)?.delivery.health ?? null,
    async tryOut(type, config) {
      try {
        const outgoing = await senderOf(type, config, PRIVATE).test(clock.now())
        const { status } = await post(outgoing, fetch(), TIMEOUT_MS)
        // A receiver may refuse a request for being empty, but it exists all the same.
        return (status >= 200 && status < 300) || status === 400 ? null : `it answered ${status}.`
      } catch (thrown) {
        return `${thrown instanceof Error ? thrown.message : String(thrown)}.`
      }
    },
    start() {
      stopLooking = queue.start(() => new Map([...targets].map(([id, { delivery }]) => [id, delivery])))
    },
    async close() {
      stopLooking()
      await Promise.all(deliveries().map((delivery) => delivery.close()))
      await queue.close()
    },
    get queued() {
      return deliveries().reduce((sum, { health }) => sum + health.queued, 0)
    },
    get oldestMs() {
      return Math.max(0, ...deliveries().map(({ oldestMs }) => oldestMs))
    },
  }
}

const WITH_CONTENT: Watchers = { content: true }
const WITHOUT_CONTENT: Watchers = { content: false }

type ViewSettings = Pick<
  DestinationRecord['settings'],
  'privacy_mode' | 'broadcast_generation_cost' | 'broadcast_generation_identity' | 'broadcast_generation_request_context'
>

const PRIVATE: ViewSettings = {
  privacy_mode: true,
  broadcast_generation_cost: false,
  broadcast_generation_identity: false,
  broadcast_generation_request_context: false,
}

const viewOf = (settings: ViewSettings) => ({
  content: !settings.privacy_mode,
  cost: settings.broadcast_generation_cost,
  identity: settings.broadcast_generation_identity,
  requestContext: settings.broadcast_generation_request_context,
})

const patternsIn = (rules: DestinationRecord['settings']['filter_rules']): ReadonlyMap<string, Regex> =>
  new Map(
    (rules?.groups ?? [])
      .flatMap((group) => group.rules)
      .filter(({ operator }) => operator === 'regex')
      .map(({ value }) => [String(value), createRegex(String(value))]),
  )
