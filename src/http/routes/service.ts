/** Routes of the service itself. They show nothing that a stranger may not know. */
import { z } from 'zod'

import type { Metrics } from '../../telemetry/metrics.ts'
import { jsonResponse, jsonText } from '../response/json-response.ts'
import type { Route } from '../route.ts'

const shared = { method: 'GET', tag: 'Service', policy: 'public', surface: 'management', errors: [] } as const

const status = z.object({ status: z.string() })

export const healthLive = (): Route => ({
  ...shared,
  path: '/health/live',
  operation: 'healthLive',
  summary: 'Check that the process runs',
  answers: { 200: { description: 'The process runs.', schema: status } },
  handle: () => jsonResponse({ status: 'live' }),
})

/** `ready` resolves to null, or to a word that says why the service is not ready. */
export const healthReady = (ready: () => Promise<string | null>): Route => ({
  ...shared,
  path: '/health/ready',
  operation: 'healthReady',
  summary: 'Check that requests can be sent here: storage answers, and the service is not stopping',
  answers: {
    200: { description: 'The service is ready.', schema: status },
    503: { description: 'The service is not ready; `status` names the reason.', schema: status },
  },
  async handle() {
    const reason = await ready()
    return reason === null ? jsonResponse({ status: 'ready' }) : jsonResponse({ status: reason }, { status: 503 })
  },
})

export const metricsText = (metrics: Metrics): Route => ({
  ...shared,
  path: '/metrics',
  operation: 'metrics',
  summary: 'Prometheus metrics',
  answers: { 200: { description: 'Prometheus text format, version 0.0.4.', types: ['text/plain'] } },
  handle: () => new Response(metrics.render(), { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } }),
})

export const openapiJson = (text: () => Promise<string>): Route => ({
  ...shared,
  path: '/openapi.json',
  operation: 'openapi',
  summary: 'This description, OpenAPI 3.1',
  answers: { 200: { description: 'The document.', schema: z.looseObject({}) } },
  handle: async () => jsonText(await text()),
})

/** A person who opens the address in a browser is sent to a page for people. */
export const welcome = (location: '/dashboard' | '/docs'): Route => ({
  ...shared,
  path: '/',
  operation: 'welcome',
  summary: 'Redirect to the dashboard',
  answers: { 302: { description: 'To /dashboard, or to /docs where the dashboard is switched off.' } },
  handle: () => new Response(null, { status: 302, headers: { location } }),
})
