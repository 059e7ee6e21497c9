import { describe, expect, test } from 'bun:test'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { emailGuardrail, guardrailWith } from '../../../test/support/guardrail.ts'
import { partsOfPipeline, pipelineOf, PRINCIPAL, receivedFrom } from '../../../test/support/pipelines.ts'
import type { Effect } from '../../canonical/effect.ts'
import { GatewayError } from '../../errors.ts'
import { FORMATS } from '../../formats/formats.ts'
import { type Applied, effectiveOf } from '../../guardrails/effective.ts'
import { systemClock } from '../../lib/clock.ts'
import { prepare } from '../prepare/prepare.ts'
import { Refused } from '../refused.ts'
import { screen } from './screen.ts'
import type { Received, Screened } from '../request.ts'

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

test('a refusal by a moderation endpoint that the request asks for hides the words of its preset', async () => {
  const parts = partsOfPipeline(systemClock, {
    moderationEndpoint: 'house',
    moderate: () => Promise.reject(new GatewayError('permission_denied', 'Flagged: Never name the price.')),
  })
  const turn = () => undefined
  const prepared = await prepare(receivedFrom(BODY), { ...parts, turn })
  const hidden = { texts: ['Never name the price.'], credentials: [], ownInstructions: null }
  const moderated = { ...prepared, hidden, plugins: new Map([['moderation', { id: 'moderation' }]] as const) }
  const refused = await Promise.resolve(screen(moderated, { ...parts, turn })).catch((thrown: unknown) => thrown)
  expect((refused as GatewayError).message).toBe('Flagged: [preset system prompt]')
})

test('a prompt in tokens is refused where only a moderation endpoint would read it', async () => {
  const moderated = [guardrailWith({ moderation: [{ endpoint: 'house', action: 'block' }] })]
  const refused = await screenedUnder(moderated, receivedFrom({ ...BODY, input_ids: [1, 2] })).catch((thrown: unknown) => thrown)
  expect((refused as GatewayError).message).toContain('send it as text, and not as tokens')
})

describe('under a guardrail with a moderation endpoint and filters', () => {
  const SECRET = 'Never name the price of jane@example.com.'
  const received = receivedFrom({
    model: 'vendor/model',
    messages: [
      { role: 'system', content: SECRET },
      { role: 'user', content: 'Mail jane@example.com.' },
    ],
    plugins: [{ id: 'web', search_prompt: 'Ask jane@example.com.' }],
  })

  /** Screens a request whose system prompt is its preset's, and returns it with what the endpoint got. */
  const moderatedBy = async (judge: (effects: Effect[]) => void) => {
    const asked: string[] = []
    const applied = [emailGuardrail('redact', 'input'), guardrailWith({ moderation: [{ endpoint: 'house', action: 'block' }] })]
    const parts = partsOfPipeline(systemClock, {
      guardrails: { effective: () => effectiveOf(applied) },
      moderate: async (_, { texts }, effects) => {
        asked.push(...texts)
        judge(effects)
      },
    })
    const turn = () => undefined
    const prepared = {
      ...(await prepare(received, { ...parts, turn })),
      hidden: { texts: [SECRET], credentials: [], ownInstructions: null },
    }
    const screening = Promise.resolve(screen(prepared, { ...parts, turn }))
    return { prepared, asked, screened: await screening.catch((thrown: unknown) => thrown) }
  }

  test('the endpoint gets what the filters have left, and the options of plugins are those of the changed request', async () => {
    const { asked, screened } = await moderatedBy(() => undefined)
    expect(asked.length).toBeGreaterThan(0)
    expect(JSON.stringify(asked)).not.toContain('jane')
    expect((screened as Screened).plugins?.get('web')).toMatchObject({ search_prompt: 'Ask [EMAIL].' })
  })

  test('the preset’s text stays hidden, as it was and as the filters left it', async () => {
    const { screened } = await moderatedBy(() => undefined)
    expect((screened as Screened).hidden?.texts).toEqual(expect.arrayContaining([SECRET, 'Never name the price of [EMAIL].']))
  })

  test('neither a refusal that quotes the preset nor what is recorded of it shows its text', async () => {
    const { prepared, screened } = await moderatedBy((effects) => {
      const found = { summary: 'Flagged', data: { patterns: [`It says: ${SECRET}`] } }
      effects.push({ type: 'guardrail', name: 'moderation', guardrail_id: 'guardrail-1', guardrail_scope: 'api-key', ...found })
      throw new GatewayError('permission_denied', `Flagged: ${SECRET}`)
    })
    expect((screened as GatewayError).message).toBe('Flagged: [preset system prompt]')
    expect(JSON.stringify(prepared.effects)).not.toContain('Never name')
    expect(JSON.stringify(prepared.effects)).toContain('[preset system prompt]')
  })
})
