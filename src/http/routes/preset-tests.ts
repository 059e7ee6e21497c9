/** Inputs that are stored for trying a preset (docs/contract/presets.md#tests). */
import { z } from 'zod'

import { onceHeaders } from '../../contract/idempotency.ts'
import { presetSlug } from '../../contract/preset-name.ts'
import { PRESET_TESTS_MAX, presetTest, presetTestBody, presetTestId, type PresetTest } from '../../contract/preset-test.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import { GatewayError } from '../../errors.ts'
import { type Clock, isoTimestamp } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/id.ts'
import { readJsonObject } from '../../lib/json/json-body.ts'
import { mapOnce } from '../../storage/changes/idempotency.ts'
import { unknownPreset } from '../../presets/presets.ts'
import type { PresetTestStore } from '../../storage/presets/preset-test-store.ts'
import { answerOnce, type Onceness } from '../answer-once.ts'
import { jsonResponse } from '../response/json-response.ts'
import { presetIn } from '../preset-path.ts'
import { callerOf, changedBy, changeOf, type Route } from '../route.ts'

const shared = { tag: 'Presets', policy: 'management', surface: 'management', query: inWorkspace } as const

export interface PresetTestParts {
  readonly tests: PresetTestStore
  readonly onceness: Onceness
  readonly clock: Clock
  readonly ids: IdSource
}

export const presetTestRoutes = ({ tests, onceness, clock, ids }: PresetTestParts): readonly Route[] => [
  {
    ...shared,
    method: 'GET',
    path: '/presets/:slug/tests',
    operation: 'listPresetTests',
    summary: 'List the saved inputs of a preset, oldest first',
    params: { slug: presetSlug },
    answers: {
      200: { description: `All of them; there are at most ${PRESET_TESTS_MAX}.`, schema: z.object({ data: z.array(presetTest) }) },
    },
    errors: [400, 404],
    async handle(request) {
      const ref = presetIn(request)
      const found = await tests.list(ref)
      if (found === null) return unknownPreset(ref.slug)
      return jsonResponse({ data: found })
    },
  },
  {
    ...shared,
    method: 'POST',
    path: '/presets/:slug/tests',
    operation: 'createPresetTest',
    summary: 'Save an input to try a preset with',
    params: { slug: presetSlug },
    headers: onceHeaders,
    body: presetTestBody,
    answers: { 201: { description: 'The saved input.', schema: z.object({ data: presetTest }) } },
    errors: [404, 409],
    async handle(request) {
      const ref = presetIn(request)
      const bodyText = await request.text()
      const { tools = null, expected = null, ...body } = validate(presetTestBody, readJsonObject(bodyText))
      const test: PresetTest = {
        ...body,
        id: ids.uuid(),
        tools,
        expected,
        creator_id: callerOf(request).userId,
        created_at: isoTimestamp(clock.now()),
      }
      return answerOnce<PresetTest>(
        { request, operation: 'createPresetTest', asked: () => `${ref.slug}\n${bodyText}` },
        onceness,
        async (once) => {
          const outcome = await tests.add(
            ref,
            test,
            changedBy(request),
            mapOnce(once, () => test),
          )
          if (outcome === 'no-such-preset') return unknownPreset(ref.slug)
          if (outcome === 'too-many')
            throw new GatewayError('invalid_request', `A preset has at most ${PRESET_TESTS_MAX} tests: remove one first.`)
          return test
        },
        (made) => ({ data: made }),
      )
    },
  },
  {
    ...shared,
    method: 'DELETE',
    path: '/presets/:slug/tests/:id',
    operation: 'deletePresetTest',
    summary: 'Remove a saved input',
    params: { slug: presetSlug, id: presetTestId },
    answers: { 200: { description: 'Removed.', schema: z.object({ deleted: z.literal(true) }) } },
    errors: [400, 404, 409],
    async handle(request) {
      const id = validate(presetTestId, request.params['id'], ['id'])
      if (!(await tests.remove(presetIn(request), id, changeOf(request, clock)))) {
        throw new GatewayError('not_found', 'The preset has no test of this id.')
      }
      return jsonResponse({ deleted: true })
    },
  },
]
