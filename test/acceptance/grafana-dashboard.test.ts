/** The shipped dashboard only uses metrics and labels that the service has. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, expect, test } from 'bun:test'

import { infer } from '../support/calls.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

interface Dashboard {
  readonly panels: readonly {
    readonly id: number
    readonly title: string
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
  }[]
}

const dashboard = JSON.parse(readFileSync(join(import.meta.dir, '../../deploy/grafana/patchbay.json'), 'utf8')) as Dashboard
const targets = dashboard.panels.flatMap((panel) => panel.targets.map((target) => ({ ...target, title: panel.title })))

const services = useServices()
let service: StartedService
let page = ''

beforeAll(async () => {
  service = await services.start()
  await infer(service, { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] })
  await infer(service, { model: 'sandbox/error/server', messages: [{ role: 'user', content: 'Hi' }] })
  page = await (await fetch(`${service.url}/metrics`)).text()
})

const METRIC = /\bpatchbay_\w+/g

/** A histogram's metric also has a series of buckets. */
const isServed = (metric: string): boolean =>
  page.includes(`# TYPE ${metric} `) || page.includes(`# TYPE ${metric.replace(/_bucket$/, '')} histogram`)

test('every metric of every panel is one that the service exports', () => {
  const asked = targets.flatMap(({ expr }) => [...expr.matchAll(METRIC)].map(([name]) => name))
  expect(new Set(asked).size).toBeGreaterThan(15)
  expect(asked.filter((name) => !isServed(name))).toEqual([])
})

test('every label by which a panel groups belongs to one of its metrics', () => {
  const wrong = targets.flatMap(({ expr, title }) => {
    const [metric = ''] = expr.match(METRIC) ?? []
    const grouped = [...expr.matchAll(/ by \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(', '))
    const sample = page.split('\n').find((line) => line.startsWith(`${metric}{`))
    // Labels are only known from a sample; tools and traces have none here.
    return sample === undefined ? [] : grouped.filter((label) => !sample.includes(`${label}="`)).map((label) => `${title}: ${label}`)
  })
  expect(wrong).toEqual([])
})

test('panels have unique ids, and their legends use labels by which they group', () => {
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  for (const { expr, legendFormat } of targets) {
    for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(expr).toMatch(new RegExp(`by \\([^)]*\\b${label}\\b`))
  }
})
