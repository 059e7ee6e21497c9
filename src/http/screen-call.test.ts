import { expect, test } from 'bun:test'

import { createTestRouting } from '../../test/support/test-routing.ts'
import { emailGuardrail, guardrailWith } from '../../test/support/guardrail.ts'
import type { Call } from '../canonical/call.ts'
import { effectiveOf } from '../guardrails/effective.ts'
import type { Guardrails } from '../guardrails/guardrails.ts'
import { systemClock } from '../lib/clock.ts'
import { JsonBody } from '../lib/json-body.ts'
import { createModels } from '../models/models.ts'
import { createScreenCall, refusedBy } from './screen-call.ts'

const principal = {
  hash: 'key-1',
  kind: 'inference',
  workspaceId: 'workspace-1',
  userId: 'user-1',
  strict: false,
  limit: null,
  rpmLimit: null,
  tpmLimit: null,
  providerFailure: null,
  externalUser: null,
} as const

const callOf = (body: JsonBody): Call => ({
  dialect: 'chat',
  body,
  models: ['vendor/model'],
  stream: false,
  maxOutputTokens: null,
  sessionId: null,
  user: null,
  passHeaders: { 'anthropic-beta': 'x' },
  prompt: () => {
    throw new Error('Nobody needs it.')
  },
})

const screenWith = (...applied: Parameters<typeof effectiveOf>[0]) =>
  createScreenCall({
    guardrails: { effective: () => effectiveOf(applied) } as unknown as Guardrails,
    moderate: async () => {},
    models: createModels([], []),
    routing: createTestRouting(systemClock),
    clock: systemClock,
    screenMs: 1000,
  })

const call = callOf(JsonBody.read('{"model":"vendor/model","n":2,"messages":[{"role":"user","content":"jane@example.com"}]}'))

test('where no guardrail applies the very same call goes on, and its answer is not looked at', async () => {
  const screened = await screenWith()(call, principal, callOf)
  expect(screened.call).toBe(call)
  expect(screened).toEqual({ call, warnings: [] })
})

test('a guardrail without filters looks at nothing either', async () => {
  const screened = await screenWith(guardrailWith({ allowed_models: ['vendor/model'] }))(call, principal, callOf)
  expect(screened.call).toBe(call)
  expect(screened.screenOutput).toBeUndefined()
  expect(screened.policy).toMatchObject({ allowedModels: [['vendor/model']] })
})

test('a changed body is read anew, with the headers that were passed on', async () => {
  const screened = await screenWith(emailGuardrail('redact', 'input'))(call, principal, (body) => ({ ...callOf(body), passHeaders: {} }))
  expect(screened.call.body.text).toContain('"content":"[EMAIL]"')
  expect(screened.call.passHeaders).toEqual({ 'anthropic-beta': 'x' })
  expect(screened.warnings).toEqual([])
})

test('a screened answer has one choice: who asks for more is told', async () => {
  for (const [action, told] of [
    ['redact', ['n']],
    ['block', ['n']],
    ['flag', []],
  ] as const) {
    const { warnings } = await screenWith(emailGuardrail(action, 'output'))(call, principal, callOf)
    expect(warnings.map(({ field }) => field)).toEqual([...told])
  }
})

test('beside the error of a refusal stands what is known of the request, and nothing of it is in the error', async () => {
  const thrown: unknown = await screenWith(emailGuardrail('block'))(call, principal, callOf).catch((failure: unknown) => failure)
  expect(refusedBy(thrown)).toMatchObject({ call: { models: ['vendor/model'] }, plan: null, pipeline: [{ name: 'content-filter' }] })
  expect(JSON.stringify(thrown)).not.toContain('jane')
})
