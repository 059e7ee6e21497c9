/**
 * Counters, gauges and histograms, as data or in Prometheus' text format. Label values come
 * from closed sets of ours, never from a request.
 */
export interface Counter {
  add(labels: readonly string[], amount?: number): void
}

export interface Histogram {
  observe(labels: readonly string[], value: number): void
}

/**
 * A second request for a counter or histogram of the same name returns the same one, because the app is
 * built again on each reload of the configuration.
 */
export interface Metrics {
  counter(name: string, help: string, labelNames: readonly string[]): Counter
  histogram(name: string, help: string, labelNames: readonly string[], buckets: readonly number[]): Histogram
  /** `read` is called whenever the metrics are read. */
  gauge(name: string, help: string, read: () => number): void
  render(): string
  /** All metrics with their current values. */
  families(): readonly Family[]
}

type Labels = Readonly<Record<string, string>>

export type Family = { readonly name: string; readonly help: string } & (
  | {
      readonly type: 'counter'
      readonly labelNames: readonly string[]
      readonly samples: readonly { readonly labels: Labels; readonly value: number }[]
    }
  | { readonly type: 'gauge'; readonly samples: readonly { readonly value: number }[] }
  | {
      readonly type: 'histogram'
      readonly labelNames: readonly string[]
      readonly buckets: readonly number[]
      /** `counts` holds, for each bucket, the number of values up to its bound. */
      readonly samples: readonly {
        readonly labels: Labels
        readonly counts: readonly number[]
        readonly sum: number
        readonly count: number
      }[]
    }
)

export const createMetrics = (): Metrics => {
  const reads: (() => Family)[] = []
  const counters = new Map<string, Counter>()
  const histograms = new Map<string, Histogram>()
  const families = (): readonly Family[] => reads.map((read) => read())
  return {
    counter(name, help, labelNames) {
      const known = counters.get(name)
      if (known !== undefined) return known
      const series = new Map<string, number>()
      reads.push(() => ({
        name,
        help,
        type: 'counter',
        labelNames,
        samples: [...series].map(([key, value]) => ({ labels: labelsOf(labelNames, key), value })),
      }))
      const counter: Counter = {
        add(labels, amount = 1) {
          const key = labels.join(SEPARATOR)
          series.set(key, (series.get(key) ?? 0) + amount)
        },
      }
      counters.set(name, counter)
      return counter
    },
    histogram(name, help, labelNames, buckets) {
      const known = histograms.get(name)
      if (known !== undefined) return known
      const series = new Map<string, { counts: number[]; sum: number; count: number }>()
      reads.push(() => ({
        name,
        help,
        type: 'histogram',
        labelNames,
        buckets,
        samples: [...series].map(([key, { counts, sum, count }]) => ({
          labels: labelsOf(labelNames, key),
          counts: [...counts],
          sum,
          count,
        })),
      }))
      const histogram: Histogram = {
        observe(labels, value) {
          const key = labels.join(SEPARATOR)
          let entry = series.get(key)
          if (entry === undefined) {
            entry = { counts: buckets.map(() => 0), sum: 0, count: 0 }
            series.set(key, entry)
          }
          entry.sum += value
          entry.count += 1
          // Buckets are cumulative.
          for (let index = buckets.length - 1; index >= 0 && value <= (buckets[index] ?? 0); index -= 1) {
            entry.counts[index] = (entry.counts[index] ?? 0) + 1
          }
        },
      }
      histograms.set(name, histogram)
      return histogram
    },
    gauge(name, help, read) {
      reads.push(() => ({ name, help, type: 'gauge', samples: [{ value: read() }] }))
    },
    render: () => families().map(textOf).join(''),
    families,
  }
}

/** None of our label values contains it. The labels' text is made when the metrics are read, not on each count. */
const SEPARATOR = '\u0000'

const labelsOf = (names: readonly string[], key: string): Labels => {
  if (names.length === 0) return {}
  const values = key.split(SEPARATOR)
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))
}

const textOf = (family: Family): string =>
  `# HELP ${family.name} ${family.help}\n# TYPE ${family.name} ${family.type}\n${linesOf(family)
    .map((line) => `${line}\n`)
    .join('')}`

const linesOf = (family: Family): readonly string[] => {
  const { name } = family
  switch (family.type) {
    case 'counter':
      return family.samples.map(({ labels, value }) => `${name}${labelText(labels)} ${value}`)
    case 'gauge':
      return family.samples.map(({ value }) => `${name} ${value}`)
    case 'histogram':
      return family.samples.flatMap(({ labels, counts, sum, count }) => [
        ...[...family.buckets, '+Inf'].map(
          (le, index) => `${name}_bucket${labelText({ ...labels, le: String(le) })} ${counts[index] ?? count}`,
        ),
        `${name}_sum${labelText(labels)} ${sum}`,
        `${name}_count${labelText(labels)} ${count}`,
      ])
  }
}

const labelText = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}
