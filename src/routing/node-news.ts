/** News of providers that nodes send one another: bounded, as spans of time, since their clocks may differ. Replaced whole each time. */
import { z } from 'zod'

import { objectIn } from '../lib/json.ts'

/** No more is sent: where that many endpoints fail, each node finds out by itself. */
export const NEWS_MAX = 200

const ms = z.number().min(0).max(600_000)

const newsSchema = z.object({
  /** Endpoints that are left alone. */
  endpoints: z.array(z.object({ key: z.string(), provider: z.string(), openMs: ms, coolingMs: ms })).max(NEWS_MAX),
  /** Keys of ours that rest, by a name that does not reveal them. */
  credentials: z.array(z.object({ name: z.string(), restMs: ms })).max(NEWS_MAX),
})

export type NodeNews = z.infer<typeof newsSchema>
export type EndpointNews = NodeNews['endpoints'][number]
export type CredentialNews = NodeNews['credentials'][number]

/** News that a node sent so many milliseconds ago, as it holds now. Nothing, where a node of another version says it in another way. */
export const readNews = (text: string, ageMs: number): NodeNews => {
  const read = newsSchema.safeParse(objectIn(text))
  if (!read.success) return { endpoints: [], credentials: [] }
  const left = (atThatTime: number): number => Math.max(0, atThatTime - ageMs)
  return {
    endpoints: read.data.endpoints.map((each) => ({ ...each, openMs: left(each.openMs), coolingMs: left(each.coolingMs) })),
    credentials: read.data.credentials.map((each) => ({ ...each, restMs: left(each.restMs) })),
  }
}
