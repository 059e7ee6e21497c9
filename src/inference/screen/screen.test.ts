import { expect, test } from 'bun:test'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { emailGuardrail, guardrailWith } from '../../../test/support/guardrail.ts'
import { partsOfPipeline, pipelineOf, PRINCIPAL, receivedFrom } from '../../../test/support/pipelines.ts'
import type { Effect } from '../../canonical/effect.ts'
import { FORMATS } from '../../formats/formats.ts'
import { type Applied, effectiveOf } from '../../guardrails/effective.ts'
import { systemClock } from '../../lib/clock.ts'
import { prepare } from '../prepare/prepare.ts'
import { Refused } from '../refused.ts'
import { screen } from './screen.ts'
import type { Received } from '../request.ts'

const BODY = { model: 'vendor/model', n: 2, messages: [{ role: 'user', content: 'jane@example.com' }] }

const screenedUnder = async (applied: readonly Applied[], received: Received = receivedFrom(BODY)) => {
  const parts = partsOfPipeline(systemClock, { guardrails: { effective: () => effectiveOf(applied) } })
  const turn = () => undefined
  const prepared = await prepare(received, { ...parts, turn })
  return { prepared, screened: await screen(prepared, { ...parts, turn }) }
}

test('where no guardrail applies the very same request goes on, and its answer is not looked at', async () => {
  const { prepared, screened } = await screenedUnder([])
  expect(screened).toBe(prepared)
  expect(screened.screenOutput).toBeUndefined()
})

test('a guardrail without filters looks at nothing either', async () => {
  const { prepared, screened } = await screenedUnder([guardrailWith({ allowed_models: ['vendor/model'] })])
  expect(screened.call).toBe(prepared.call)
  expect(screened.screenOutput).toBeUndefined()
  expect(screened.guardrails?.policy).toMatchObject({ allowedModels: [['vendor/model']] })
})

test('a changed body is read anew, with the headers that were passed on', async () => {
  const vendor = { version: null, betas: ['x'] }
  const headers = { strict: false, sessionId: null, vendor, trace: null, sent: null }
  const received = receivedFrom({ ...BODY, max_tokens: 10 }, { format: FORMATS.messages, headers })
  const { screened } = await screenedUnder([emailGuardrail('redact', 'input')], received)
  expect(screened.call.body.text).toContain('"content":"[EMAIL]"')
  expect(screened.call.passHeaders).toEqual({ 'anthropic-beta': 'x' })
})

test('a screened answer has one choice: a request for more is warned, and a strict one refused', async () => {
  for (const [action, reported] of [
    ['redact', ['n']],
    ['block', ['n']],
    ['flag', []],
  ] as const) {
    const { screened } = await screenedUnder([emailGuardrail(action, 'output')])
    expect(screened.warnings.map(({ field }) => field)).toEqual([...reported])
  }
  const strict = receivedFrom(BODY, { principal: { ...PRINCIPAL, strict: true } })
  expect(screenedUnder([emailGuardrail('redact', 'output')], strict)).rejects.toThrow('only the first choice is answered')
})

test('a refusal carries what is known of the request, and nothing of it is in the error', async () => {
  const pipeline = pipelineOf(createFakeClock(), { guardrails: { effective: () => effectiveOf([emailGuardrail('block')]) } })
  const refused = await pipeline.admit(receivedFrom(BODY))
  if (!(refused instanceof Refused)) throw new Error('It was admitted.')
  expect(refused.facts).toMatchObject({
    request: { call: { models: ['vendor/model'] }, effects: [{ name: 'content-filter' }] },
    wouldAsk: null,
  })
  expect(JSON.stringify(refused.error)).not.toContain('jane')
})

test('finds that refuse a request are noted once where a client sent it, and not for a dry run, a count of tokens or a test', async () => {
  const noted: (readonly Effect[])[] = []
  const parts = {
    guardrails: { effective: () => effectiveOf([emailGuardrail('block')]) },
    noteRefusedHits: (effects: readonly Effect[]) => void noted.push(effects),
  }
  const pipeline = pipelineOf(createFakeClock(), parts)
  for (const refuse of [
    () => pipeline.dryRun(receivedFrom(BODY)),
    () => pipeline.countTokens(receivedFrom(BODY), new AbortController()),
    () => pipeline.admit(receivedFrom(BODY, { origin: 'test' })),
    () => pipeline.admit(receivedFrom(BODY, { origin: 'evaluation' })),
  ])
    expect(await refuse()).toBeInstanceOf(Refused)
  expect(noted).toEqual([])
  expect(await pipeline.admit(receivedFrom(BODY))).toBeInstanceOf(Refused)
  expect(noted).toMatchObject([[{ type: 'guardrail', name: 'content-filter' }]])
})

test('what a moderation endpoint says of a request that asks for it hides the words of its preset', async () => {
  const parts = partsOfPipeline(systemClock, {
    moderationEndpoint: 'house',
    moderate: async (_, __, effects) =>
      void effects.push({
        type: 'plugin',
        name: 'moderation',
        summary: 'Flagged',
        cost_usd: 0,
        data: { patterns: ['It says: Never name the price.'] },
      }),
  })
  const turn = () => undefined
  const prepared = await prepare(receivedFrom(BODY), { ...parts, turn })
  const hidden = { texts: ['Never name the price.'], credentials: [], ownInstructions: null }
  const moderated = { ...prepared, hidden, plugins: new Map([['moderation', { id: 'moderation' }]] as const) }
  const { effects } = await screen(moderated, { ...parts, turn })
  expect(effects.map(({ data }) => data['patterns'])).toEqual([['It says: [preset system prompt]']])
})
