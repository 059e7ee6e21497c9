/**
 * Reports about providers that nodes send one another: bounded, and in durations because their clocks may differ. Each report replaces the
 * one before.
 */
import { z } from 'zod'

import { objectIn } from '../lib/json/json.ts'

/** The maximum number of entries in a report: if more endpoints fail, each node finds out for itself. */
export const NEWS_MAX = 200

const ms = z.number().min(0).max(600_000)

const newsSchema = z.object({
  /** Endpoints to avoid. */
  endpoints: z.array(z.object({ key: z.string(), provider: z.string(), openMs: ms, coolingMs: ms })).max(NEWS_MAX),
  /** The operator's keys that rest, by a name that does not reveal them. */
  credentials: z.array(z.object({ name: z.string(), restMs: ms })).max(NEWS_MAX),
})

export type NodeNews = z.infer<typeof newsSchema>
export type EndpointNews = NodeNews['endpoints'][number]
export type CredentialNews = NodeNews['credentials'][number]

/**
 * Reads a report that a node sent `ageMs` milliseconds ago, adjusted to now. Empty if a node of another version sent a different format.
 */
export const readNews = (text: string, ageMs: number): NodeNews => {
  const read = newsSchema.safeParse(objectIn(text))
  if (!read.success) return { endpoints: [], credentials: [] }
  const left = (atThatTime: number): number => Math.max(0, atThatTime - ageMs)
  return {
    endpoints: read.data.endpoints.map((each) => ({ ...each, openMs: left(each.openMs), coolingMs: left(each.coolingMs) })),
    credentials: read.data.credentials.map((each) => ({ ...each, restMs: left(each.restMs) })),
  }
}
