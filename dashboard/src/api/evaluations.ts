/** Evaluations of a preset, and the comparison of two of them. */
import { queryOptions } from '@tanstack/react-query'

import type { z } from 'zod'

import type {
  evaluationBody,
  EvaluationComparison,
  EvaluationEstimate,
  EvaluationResource,
  EvaluationResult,
} from '../../../src/contract/evaluation.ts'
import { ask, askData, segment } from './client.ts'
import { create } from './create.ts'
import { offsetList } from './paged-list.ts'
import type { Query } from './path.ts'

/** An evaluation as lists return it: its figures come with its items. */
export type Evaluation = Omit<EvaluationResource, 'summary' | 'items_done'>
export type PassRate = EvaluationResource['summary']['version']['pass_rate']
export type ComparedItem = EvaluationComparison['items'][number]
export type EvaluationRequest = z.input<typeof evaluationBody>
export type { EvaluationComparison, EvaluationEstimate, EvaluationResult }

/** The interval at which a running evaluation is polled. */
const WATCH_MS = 2000

const isRunning = ({ state }: Pick<Evaluation, 'state'>): boolean => state === 'running'

const pathOf = (slug: string): string => `/presets/${segment(slug)}/evaluations`

/** Newest first. */
export const evaluationList = (slug: string, query: Query) => ({
  ...offsetList<Evaluation>(['presets', slug, 'evaluations', query], pathOf(slug), query),
  refetchInterval: ({ state: { data } }: { state: { data?: { pages: readonly { data: readonly Evaluation[] }[] } | undefined } }) =>
    data?.pages.some((page) => page.data.some(isRunning)) === true ? WATCH_MS : (false as const),
})

export const evaluationItems = (slug: string, id: string, query: Query) =>
  queryOptions({
    queryKey: ['presets', slug, 'evaluations', id, query],
    queryFn: ({ signal }) =>
      askData<EvaluationResource & { readonly items: readonly EvaluationResult[] }>(`${pathOf(slug)}/${segment(id)}`, {
        query,
        signal,
      }),
    refetchInterval: ({ state: { data } }) => (data !== undefined && isRunning(data) ? WATCH_MS : false),
  })

export const evaluationComparison = (slug: string, id: string, other: string, query: Query) =>
  queryOptions({
    queryKey: ['presets', slug, 'evaluations', id, other, query],
    queryFn: ({ signal }) =>
      askData<EvaluationComparison>(`${pathOf(slug)}/${segment(id)}/comparison`, {
        query: { ...query, with: other },
        signal,
      }),
  })

/** An estimate of the cost of an evaluation with this body, which is JSON. No model is called. */
export const estimateEvaluation = (slug: string, body: string, query: Query) =>
  queryOptions({
    queryKey: ['presets', slug, 'evaluation-estimate', body, query],
    queryFn: async ({ signal }) => {
      const request = { ...(JSON.parse(body) as EvaluationRequest), dry_run: true }
      return await askData<EvaluationEstimate>(pathOf(slug), { method: 'POST', body: request, query, signal })
    },
  })

export const startEvaluation = async (slug: string, body: EvaluationRequest, query: Query): Promise<EvaluationResource> =>
  (await create<{ data: EvaluationResource }>(pathOf(slug), { body, query })).data

/** Makes no more requests; the results so far stay. */
export const stopEvaluation = (slug: string, id: string, query: Query): Promise<unknown> =>
  ask(`${pathOf(slug)}/${segment(id)}/cancel`, { method: 'POST', body: {}, query })

/** Goes on with the items that are still waiting. `budgetUsd`, unless null, replaces the evaluation's budget. */
export const resumeEvaluation = (slug: string, id: string, budgetUsd: number | null, query: Query): Promise<unknown> =>
  ask(`${pathOf(slug)}/${segment(id)}/resume`, { method: 'POST', body: budgetUsd === null ? {} : { budget_usd: budgetUsd }, query })
