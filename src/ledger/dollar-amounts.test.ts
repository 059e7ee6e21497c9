import { expect, test } from 'bun:test'
import { z } from 'zod'

import { budgetSettings } from './settings.ts'
import { addCreditsBody, putBudgetBody } from '../contract/budget.ts'
import { evaluationResume } from '../contract/evaluation.ts'
import { createGuardrailBody, updateGuardrailBody } from '../contract/guardrail.ts'
import { createKeyBody, updateKeyBody } from '../contract/key.ts'
import { consentQuery, createCodeBody } from '../contract/oauth.ts'

const access = z.object(consentQuery)

const takes = {
  'the limit of a new key': (usd: number) => createKeyBody.safeParse({ name: 'a', limit: usd }),
  'the limit of a key': (usd: number) => updateKeyBody.safeParse({ limit: usd }),
  'the limit of a new guardrail': (usd: number) => createGuardrailBody.safeParse({ name: 'a', limit_usd: usd }),
  'the limit of a guardrail': (usd: number) => updateGuardrailBody.safeParse({ limit_usd: usd }),
  'the budget of a workspace': (usd: number) => putBudgetBody.safeParse({ limit_usd: usd }),
  'the budget of an evaluation': (usd: number) => evaluationResume.safeParse({ budget_usd: usd }),
  'prepaid credit': (usd: number) => addCreditsBody.safeParse({ amount_usd: usd }),
  'the limit of an application': (usd: number) =>
    createCodeBody.safeParse({ callback_url: 'https://a.example', code_challenge: 'a'.repeat(43), limit: usd }),
  'the limit in the address of an application': (usd: number) => access.safeParse({ limit: String(usd) }),
  'the ceiling of requests that run': (usd: number) => budgetSettings.safeParse({ in_flight: { ceiling_usd: usd } }),
}

test.each(Object.entries(takes))('%s: nine decimals are taken, ten are refused', (_, parse) => {
  for (const usd of [0.123456789, 999_999.123456789, 1_000_000]) expect(parse(usd).error?.issues).toBeUndefined()
  const [issue] = parse(0.1234567891).error?.issues ?? []
  expect(issue?.message).toBe('Use at most nine decimals.')
  for (const usd of [1_000_000.5, Number.POSITIVE_INFINITY, Number.NaN]) expect(parse(usd).success).toBe(false)
})

test.each(Object.entries(takes))('%s: an amount that is too large is refused for its size alone', (_, parse) => {
  for (const usd of [1_000_001, 9_999_999, 1e20]) {
    expect(parse(usd).error?.issues).toMatchObject([{ code: 'too_big' }])
  }
})

test('an amount in an address is written in decimals', () => {
  for (const limit of ['0x10', '1e3', '', ' 1', '-1']) expect(access.safeParse({ limit }).success).toBe(false)
})
