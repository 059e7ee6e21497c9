import { expect, test } from 'bun:test'

import { playing } from '../../../test/support/frame-pulling.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { admittedBy, pipelineOf, receivedFrom } from '../../../test/support/pipelines.ts'
import { GatewayError } from '../../errors.ts'
import { createModels } from '../../models/models.ts'
import type { ProviderAdapter } from '../../providers/provider.ts'
import { providerRegistry } from '../../providers/registry.ts'
import { logTo } from '../../telemetry/log.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { observeAnswers } from './observe-answers.ts'

/** Observes one answer of a provider that `adapter` plays; `leave` cancels the answer after its first batch. */
const observed = async (adapter: ProviderAdapter, { leave = false } = {}) => {
  const clock = createFakeClock()
  const metrics = createMetrics()
  const lines: Record<string, unknown>[] = []
  const log = logTo((line) => lines.push(JSON.parse(line) as Record<string, unknown>), 'info', clock)
  const provider = {
    slug: 'acme',
    name: 'Acme',
    dialects: ['openai-chat'] as const,
    baseUrl: 'https://acme.example',
    apiKeys: [],
    anyModel: true,
  }
  const pipeline = pipelineOf(clock, {
    models: createModels([], [provider]),
    adapters: { ...providerRegistry, adapterFor: () => adapter },
    settle: observeAnswers(metrics, log),
  })
  const body = { model: 'acme/one', messages: [{ role: 'user', content: 'the prompt' }], stream: true }
  const admitted = await admittedBy(pipeline, receivedFrom(body))
  await pipeline.answer(admitted, () => {
    if (leave) admitted.connection.leave()
    return undefined
  })
  return { line: lines[0] ?? {}, lines, page: metrics.render() }
}

test('a good answer is one line and its figures, without a word of what was said', async () => {
  const { line, lines, page } = await observed(
    playing(async function* play() {
      yield [{ events: [{ type: 'text', text: 'the answer' }] }, { events: [{ type: 'finish', reason: 'stop', native: null }] }]
    }),
  )
  expect(lines).toHaveLength(1)
  expect(line).toMatchObject({
    level: 'info',
    msg: 'generation',
    interface: 'chat',
    provider: 'acme',
    model: 'acme/one',
    outcome: 'ok',
    attempts: 1,
    request_id: 'req-1',
  })
  expect(JSON.stringify(lines)).not.toMatch(/the prompt|the answer/)
  expect(page).toContain('patchbay_generations_total{interface="chat",provider="acme",outcome="ok"} 1')
  expect(page).toContain('patchbay_attempts_total{provider="acme",outcome="ok"} 1')
  expect(page).toContain('patchbay_generation_seconds_count{interface="chat"} 1')
})

test('a failure of a provider is a warning with its reason', async () => {
  const { line, page } = await observed(
    playing(async function* play() {
      yield []
      throw new GatewayError('provider_unavailable', 'Acme broke off.')
    }),
  )
  expect(line).toMatchObject({ level: 'warn', msg: 'generation failed', outcome: 'provider_unavailable', reason: 'Acme broke off.' })
  expect(page).toContain('outcome="provider_unavailable"} 1')
})

test('a failure that is the client’s is no warning', async () => {
  const { line } = await observed(
    playing(async function* play() {
      yield []
      throw new GatewayError('invalid_request', 'temperature: too hot')
    }),
  )
  expect(line).toMatchObject({ level: 'info', outcome: 'invalid_request' })
})

test('a client that left is no warning, and counted as what it is', async () => {
  const { line, page } = await observed(
    playing(async function* play({ connection }) {
      yield [{ events: [{ type: 'text', text: 'a' }] }]
      connection.signal.throwIfAborted()
    }),
    { leave: true },
  )
  expect(line).toMatchObject({ level: 'info', outcome: 'cancelled' })
  expect(page).toContain('outcome="cancelled"} 1')
})
