/** Records of requests, their contents, and the stream of new ones. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'

import type { generation as generationResource } from '../../../src/contract/generation.ts'
import type { generationContent as content } from '../../../src/contract/generation-content.ts'
import type { generationRow } from '../../../src/contract/generation-list.ts'
import { ask, askData, askRaw } from './client.ts'
import type { Query } from './path.ts'
import { readEvents } from './read-events.ts'

export type Generation = z.output<typeof generationResource> & {
  /** `guardrail_id` is only present if the type is `guardrail`. */
  readonly pipeline: readonly { readonly guardrail_id?: string }[]
}

/** A record as lists return it. */
export type GenerationRow = z.output<typeof generationRow>

interface GenerationPage {
  readonly data: readonly GenerationRow[]
  readonly next_cursor: string | null
}

const PAGE_ROWS = 100

export const generationList = (filter: Query) =>
  infiniteQueryOptions({
    queryKey: ['generations', filter],
    queryFn: ({ pageParam, signal }) =>
      ask<GenerationPage>('/generations', { query: { ...filter, cursor: pageParam, limit: PAGE_ROWS }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })

/** The newest few records, for parts of other screens. */
export const newestGenerations = (filter: Query, limit: number) =>
  queryOptions({
    queryKey: ['generations', 'newest', filter, limit],
    queryFn: async ({ signal }) => (await ask<GenerationPage>('/generations', { query: { ...filter, limit }, signal })).data,
  })

export const generation = (id: string) =>
  queryOptions({
    queryKey: ['generation', id],
    queryFn: ({ signal }) => askData<Generation>('/generation', { query: { id }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** The request and its response. Of a request that is too large to keep, only the beginning is stored. */
export type GenerationContent = z.output<typeof content>

/** The audit log records each reading, so contents are fetched only when somebody asks for them. */
export const generationContent = (id: string) =>
  queryOptions({
    queryKey: ['generation', id, 'content'],
    queryFn: ({ signal }) => askData<GenerationContent>('/generation/content', { query: { id }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })

/** The service sends a sign of life every ten seconds. A connection that a network dropped without a word sends nothing more. */
const SILENCE_MS = 30_000

/** Resolves when the service ends the stream: it restarts, or the session has ended. Throws ApiError if the connection is lost. */
export const followGenerations = async (
  filter: Query,
  signal: AbortSignal,
  take: { row: (row: GenerationRow) => void; gap: (skipped: number) => void },
): Promise<void> => {
  const response = await askRaw('/generations/stream', { query: filter, headers: { accept: 'text/event-stream' }, signal })
  for await (const { event, data } of readEvents(response, SILENCE_MS)) {
    if (event === 'generation') take.row(JSON.parse(data) as GenerationRow)
    else if (event === 'gap') take.gap((JSON.parse(data) as { skipped: number }).skipped)
  }
}
