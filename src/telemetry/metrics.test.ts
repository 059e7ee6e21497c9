import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { createMetrics } from './metrics.ts'

describe('the page', () => {
  test('has the help and the type of every family, also of one without a sample', () => {
    const metrics = createMetrics()
    metrics.counter('a_total', 'Counts a.', ['x'])
    metrics.gauge('b', 'Shows b.', () => 1.5)
    metrics.histogram('c_seconds', 'Measures c.', [], [1])
    expect(metrics.render()).toBe(
      '# HELP a_total Counts a.\n# TYPE a_total counter\n# HELP b Shows b.\n# TYPE b gauge\nb 1.5\n# HELP c_seconds Measures c.\n# TYPE c_seconds histogram\n',
    )
  })

  test('of nothing is nothing', () => {
    expect(createMetrics().render()).toBe('')
  })
})

test('families name their labels before there is a sample', () => {
  const metrics = createMetrics()
  metrics.counter('a_total', 'A.', ['x', 'y'])
  metrics.histogram('c_seconds', 'C.', ['z'], [1])
  expect(metrics.families()).toMatchObject([{ labelNames: ['x', 'y'] }, { labelNames: ['z'] }])
})

describe('a counter', () => {
  test('adds up by its labels, one if nothing else is said', () => {
    const metrics = createMetrics()
    const counter = metrics.counter('a_total', 'A.', ['x', 'y'])
    counter.add(['1', 'a'])
    counter.add(['1', 'b'], 2.5)
    counter.add(['1', 'a'], 0)
    counter.add(['1', 'a'])
    expect(metrics.render()).toEndWith('a_total{x="1",y="a"} 2\na_total{x="1",y="b"} 2.5\n')
  })

  test('without labels has none', () => {
    const metrics = createMetrics()
    const counter = metrics.counter('a_total', 'A.', [])
    counter.add([])
    counter.add([])
    expect(metrics.render()).toEndWith('\na_total 2\n')
  })

  test('tells apart labels that would look the same when joined', () => {
    const metrics = createMetrics()
    const counter = metrics.counter('a_total', 'A.', ['x', 'y'])
    counter.add(['a,', 'b'])
    counter.add(['a', ',b'])
    counter.add(['', 'ab'])
    expect(metrics.render()).toEndWith('a_total{x="a,",y="b"} 1\na_total{x="a",y=",b"} 1\na_total{x="",y="ab"} 1\n')
  })
})

describe('a histogram', () => {
  test('counts in every bucket that is not below the value, in the last one all', () => {
    const metrics = createMetrics()
    const histogram = metrics.histogram('c_seconds', 'C.', ['x'], [0.1, 1, 10])
    for (const value of [0.05, 0.1, 0.5, 10, 11]) histogram.observe(['a'], value)
    expect(metrics.render()).toEndWith(
      [
        'c_seconds_bucket{x="a",le="0.1"} 2',
        'c_seconds_bucket{x="a",le="1"} 3',
        'c_seconds_bucket{x="a",le="10"} 4',
        'c_seconds_bucket{x="a",le="+Inf"} 5',
        'c_seconds_sum{x="a"} 21.65',
        'c_seconds_count{x="a"} 5',
        '',
      ].join('\n'),
    )
  })

  test('without labels has the bucket’s alone', () => {
    const metrics = createMetrics()
    metrics.histogram('c_seconds', 'C.', [], [1]).observe([], 2)
    expect(metrics.render()).toEndWith('c_seconds_bucket{le="1"} 0\nc_seconds_bucket{le="+Inf"} 1\nc_seconds_sum 2\nc_seconds_count 1\n')
  })

  test('is cumulative, whatever is observed', () => {
    const buckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 10, noNaN: true })), (values) => {
        const metrics = createMetrics()
        const histogram = metrics.histogram('c_seconds', 'C.', [], buckets)
        for (const value of values) histogram.observe([], value)
        const reported = [...metrics.render().matchAll(/le="([^"]+)"\} (\d+)/g)].map(([, le, count]) => [le, Number(count)])
        const expected = [...buckets, Number.POSITIVE_INFINITY].map((le) => [
          le === Number.POSITIVE_INFINITY ? '+Inf' : String(le),
          values.filter((value) => value <= le).length,
        ])
        expect(reported).toEqual(values.length === 0 ? [] : expected)
      }),
    )
  })
})

test('a gauge is read when the page is asked for', () => {
  const metrics = createMetrics()
  let value = 1
  metrics.gauge('b', 'B.', () => value)
  value = 7
  expect(metrics.render()).toContain('\nb 7\n')
})
