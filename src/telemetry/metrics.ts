/** Counters and histograms in Prometheus' text format. Label values come from closed sets of ours, never from a request. */
export interface Counter {
  add(labels: readonly string[], amount?: number): void
}

export interface Histogram {
  observe(labels: readonly string[], value: number): void
}

/** Asked for twice under one name, counters and histograms are the same one: the app is built again when the configuration is reloaded. */
export interface Metrics {
  counter(name: string, help: string, labelNames: readonly string[]): Counter
  histogram(name: string, help: string, labelNames: readonly string[], buckets: readonly number[]): Histogram
  /** Read when the page is asked for. */
  gauge(name: string, help: string, read: () => number): void
  render(): string
}

export const createMetrics = (): Metrics => {
  const families: (() => string)[] = []
  const counters = new Map<string, Counter>()
  const histograms = new Map<string, Histogram>()
  const family = (name: string, help: string, type: string, samples: () => string): void => {
    families.push(() => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples()}`)
  }
  return {
    counter(name, help, labelNames) {
      const known = counters.get(name)
      if (known !== undefined) return known
      const series = new Map<string, number>()
      family(name, help, 'counter', () => [...series].map(([key, value]) => `${name}${labelText(labelNames, key)} ${value}\n`).join(''))
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
      const names = [...labelNames, 'le']
      family(name, help, 'histogram', () =>
        [...series]
          .map(([key, { counts, sum, count }]) => {
            const prefix = labelNames.length === 0 ? '' : key + SEPARATOR
            const lines = [...buckets, '+Inf'].map(
              (le, index) => `${name}_bucket${labelText(names, `${prefix}${le}`)} ${counts[index] ?? count}\n`,
            )
            return `${lines.join('')}${name}_sum${labelText(labelNames, key)} ${sum}\n${name}_count${labelText(labelNames, key)} ${count}\n`
          })
          .join(''),
      )
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
      family(name, help, 'gauge', () => `${name} ${read()}\n`)
    },
    render: () => families.map((render) => render()).join(''),
  }
}

/** No label value of ours holds it. The text of the labels is made when the page is asked for, not with each count. */
const SEPARATOR = '\u0000'

const labelText = (names: readonly string[], key: string): string => {
  if (names.length === 0) return ''
  const values = key.split(SEPARATOR)
  return `{${names.map((name, index) => `${name}="${values[index] ?? ''}"`).join(',')}}`
}
