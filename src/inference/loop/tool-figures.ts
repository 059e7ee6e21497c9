/** The figures about an answer's tools in its record, its metadata and its usage: no query, address or result. */
import type { ServerToolUse } from '../../canonical/server-tools.ts'
import type { ServerToolsEffect } from '../../canonical/effect.ts'
import type { RecordedGeneration } from '../../contract/generation.ts'
import { dollars } from '../../lib/money.ts'
import type { Finished } from '../admitted.ts'
import type { LoopReport } from './loop-report.ts'

/** Undefined if no tool was called. */
export const serverToolUse = (loop: LoopReport | null): ServerToolUse | undefined =>
  loop === null || loop.calls.length === 0
    ? undefined
    : {
        requested: loop.calls.length,
        executed: loop.executed,
        searches: loop.executedOf('web_search'),
        fetches: loop.executedOf('web_fetch'),
      }

type RecordedCalls = Pick<
  RecordedGeneration,
  'server_tool_calls' | 'steps' | 'stopped_by' | 'num_search_results' | 'num_fetches' | 'web_search_engine'
>

export const recordedTools = ({ loop, searched }: Pick<Finished, 'loop' | 'searched'>, providersSearches: number): RecordedCalls => {
  const calls = loop?.calls ?? []
  const called = calls.filter(({ tool }) => tool === 'web_search')
  const searches = searched === null ? called : [searched, ...called]
  const engines = new Set(searches.flatMap(({ engine }) => engine ?? []))
  const [engine = null] = engines
  const found = providersSearches + searches.reduce((sum, { results }) => sum + results, 0)
  const fetches = loop?.executedOf('web_fetch') ?? 0
  return {
    server_tool_calls: loop === null ? null : calls.map(recordedCall),
    steps: loop?.steps ?? null,
    stopped_by: loop?.stoppedBy ?? null,
    num_search_results: found === 0 && searches.length === 0 ? null : found,
    num_fetches: fetches === 0 ? null : fetches,
    web_search_engine: engines.size > 1 ? 'mixed' : engine,
  }
}

const recordedCall = ({ tool, status, durationMs, feeNanos, engine, step }: LoopReport['calls'][number]) => ({
  tool,
  status,
  duration_ms: durationMs,
  cost: dollars(feeNanos),
  engine,
  step,
})

/** Null if no tool was called. */
export const serverToolsEffect = (loop: LoopReport | null): ServerToolsEffect | null => {
  if (loop === null || loop.calls.length === 0) return null
  const times = Map.groupBy(loop.calls, ({ tool }) => tool)
  return {
    type: 'server_tools',
    name: 'server-tools',
    summary: [...times].map(([tool, calls]) => `${tool} ×${calls.length}`).join(', '),
    cost_usd: dollars(loop.calls.reduce((sum, { feeNanos }) => sum + feeNanos, 0)),
    data: { steps: loop.steps, stopped_by: loop.stoppedBy, calls: loop.calls.map(recordedCall) },
  }
}
