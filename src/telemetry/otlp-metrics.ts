/** Converts the metrics into the body of an OTLP/HTTP request, in JSON. */
import { nanosText, type OtlpAttribute, untypedAttribute } from '../lib/otlp-json.ts'
import type { Family } from './metrics.ts'

/** Counters and histograms are sent as sums since the start of the process. */
const CUMULATIVE = 2

export const metricsBody = (
  families: readonly Family[],
  { resource, version, startedMs, nowMs }: { resource: readonly OtlpAttribute[]; version: string; startedMs: number; nowMs: number },
): string => {
  const span = { startTimeUnixNano: nanosText(startedMs), timeUnixNano: nanosText(nowMs) }
  const metrics = families.filter(({ samples }) => samples.length > 0).map((family) => metricOf(family, span))
  return JSON.stringify({
    resourceMetrics: [{ resource: { attributes: resource }, scopeMetrics: [{ scope: { name: 'patchbay', version }, metrics }] }],
  })
}

interface Period {
  readonly startTimeUnixNano: string
  readonly timeUnixNano: string
}

const metricOf = (family: Family, period: Period) => {
  const { name, help: description } = family
  switch (family.type) {
    case 'counter':
      return {
        name,
        description,
        sum: {
          aggregationTemporality: CUMULATIVE,
          isMonotonic: true,
          dataPoints: family.samples.map(({ labels, value }) => ({ ...period, attributes: attributesOf(labels), asDouble: value })),
        },
      }
    case 'gauge':
      return {
        name,
        description,
        gauge: { dataPoints: family.samples.map(({ value }) => ({ timeUnixNano: period.timeUnixNano, attributes: [], asDouble: value })) },
      }
    case 'histogram':
      return {
        name,
        description,
        histogram: {
          aggregationTemporality: CUMULATIVE,
          dataPoints: family.samples.map(({ labels, counts, sum, count }) => ({
            ...period,
            attributes: attributesOf(labels),
            count: String(count),
            sum,
            bucketCounts: bucketsOf(counts, count).map(String),
            explicitBounds: family.buckets,
          })),
        },
      }
  }
}

/** Our counts are cumulative, the protocol's are not; the last bucket has no bound. */
const bucketsOf = (counts: readonly number[], count: number): readonly number[] =>
  [...counts, count].map((upTo, at, all) => upTo - (all[at - 1] ?? 0))

const attributesOf = (labels: Readonly<Record<string, string>>): readonly OtlpAttribute[] =>
  Object.entries(labels).map(([name, value]) => untypedAttribute(name, value))
