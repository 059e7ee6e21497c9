/** Decides which traces the operator's own collector gets, by the samplers of OpenTelemetry's standard. */
import type { RequestTrace } from './request-trace.ts'
import { traceIdIn } from './trace-spans.ts'

export const isTraceSampled = (
  trace: Pick<RequestTrace, 'generationId' | 'named' | 'parent'>,
  sampler: `${'parentbased_' | ''}${'always_on' | 'always_off' | 'traceidratio'}`,
  ratio: number,
): boolean => {
  if (sampler.startsWith('parentbased_') && trace.parent !== null) return trace.parent.sampled
  if (sampler.endsWith('always_on')) return true
  return sampler.endsWith('traceidratio') && isBelow(traceIdIn(trace), ratio)
}

/**
 * Decides by the last 14 hex digits of the id, which the standard assumes to be random, so that every service of a trace decides alike. The
 * very last digit is ignored, because with it the number would exceed what a double holds exactly.
 */
const isBelow = (traceId: string, ratio: number): boolean => Number.parseInt(traceId.slice(-14, -1), 16) >= (1 - ratio) * 2 ** 52
