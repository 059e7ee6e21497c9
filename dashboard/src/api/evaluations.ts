/** Evaluations of a preset, and two of them beside each other. */
import { queryOptions } from '@tanstack/react-query'

import type { EvaluationComparison, EvaluationResource, EvaluationResult } from '../../../src/contract/evaluation.ts'
import { ask, type Query, segment } from './client.ts'

/** As it stands in a list: its figures are with its items. */
export type Evaluation = Omit<EvaluationResource, 'summary' | 'items_done'>
export type PassRate = EvaluationResource['summary']['version']['pass_rate']
export type ComparedItem = EvaluationComparison['items'][number]
export type { EvaluationComparison, EvaluationResult }

/** Evaluations that run are asked for again and again. */
const WATCH_MS = 2000

const isRunning = ({ state }: Pick<Evaluation, 'state'>): boolean => state === 'running'

const pathOf = (slug: string): string => `/presets/${segment(slug)}/evaluations`

/** Newest first. */
export const evaluationList = (slug: string, query: Query = {}) =>
  queryOptions({
    queryKey: ['presets', slug, 'evaluations', query],
    queryFn: async ({ signal }) =>
      (await ask<{ data: readonly Evaluation[] }>(pathOf(slug), { query: { limit: 100, ...query }, signal })).data,
    refetchInterval: ({ state: { data } }) => (data?.some(isRunning) === true ? WATCH_MS : false),
  })

export const evaluationItems = (slug: string, id: string, query: Query = {}) =>
  queryOptions({
    queryKey: ['presets', slug, 'evaluations', id, query],
    queryFn: async ({ signal }) =>
      (
        await ask<{ data: EvaluationResource & { readonly items: readonly EvaluationResult[] } }>(`${pathOf(slug)}/${segment(id)}`, {
          query,
          signal,
        })
      ).data,
    refetchInterval: ({ state: { data } }) => (data !== undefined && isRunning(data) ? WATCH_MS : false),
  })

export const evaluationComparison = (slug: string, id: string, other: string, query: Query = {}) =>
  queryOptions({
    queryKey: ['presets', slug, 'evaluations', id, other, query],
    queryFn: async ({ signal }) =>
      (
        await ask<{ data: EvaluationComparison }>(`${pathOf(slug)}/${segment(id)}/comparison`, {
          query: { ...query, with: other },
          signal,
        })
      ).data,
  })
