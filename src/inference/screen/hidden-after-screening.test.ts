import { expect, test } from 'bun:test'

import { guardrailWith } from '../../../test/support/guardrail.ts'
import { effectiveOf } from '../../guardrails/effective.ts'
import { screenBody } from '../../guardrails/screen-request.ts'
import { systemClock } from '../../lib/clock.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { atOnce } from '../../lib/steps.ts'
import { redactBody } from '../../providers/redaction/redact-body.ts'
import { hiddenAfterScreening } from './hidden-after-screening.ts'

const PRESET = 'Our secret recipe: PROJ-12'
const limits = { clock: systemClock, screenMs: 5000 }

/** The request as a dry run would show it. */
const shown = async (body: unknown): Promise<string> => {
  const input = effectiveOf([guardrailWith({ content_filters: [{ pattern: 'PROJ-[\\d\\s]+', action: 'redact' }] })])?.input
  if (!input) throw new Error('no filters')
  const before = JsonBody.read(JSON.stringify(body))
  const after = await screenBody(before, input, [], limits)
  const hidden = await hiddenAfterScreening({ texts: [PRESET], credentials: [], ownInstructions: null }, { before, after, input, limits })
  return atOnce(redactBody(after.text, hidden))
}

test.each([
  ['in one text', { instructions: `${PRESET}\n\n34 is mine`, input: 'Hi' }],
  [
    'over two parts',
    { system: [PRESET, '34 is mine'].map((text) => ({ type: 'text', text })), messages: [{ role: 'user', content: 'Hi' }] },
  ],
  ['before it', { instructions: `PROJ-1\n\n${PRESET}`, input: 'Hi' }],
])("a match over the edge of a preset's text shows nothing of it: %s", async (_, body) => {
  const text = await shown(body)
  expect(text).not.toContain('recipe')
  expect(text).toContain('[preset system prompt]')
  expect(text).toContain('Hi')
})
