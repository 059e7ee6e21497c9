/** The rollout of a preset: started, changed, watched and ended (docs/contract/presets.md#rollouts). */
import { z } from 'zod'

import { presetSlug } from '../../contract/preset-name.ts'
import { rollout, rolloutBody } from '../../contract/rollout.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import { readJsonObject } from '../../lib/json/json-body.ts'
import type { Presets } from '../../presets/presets.ts'
import type { Rollouts } from '../../presets/rollouts.ts'
import { jsonResponse } from '../response/json-response.ts'
import { warningHeaders } from '../response/saved-response.ts'
import { presetIn } from '../preset-path.ts'
import { changedBy, type Route } from '../route.ts'
import { type UnservableParts, unservableVersions } from '../unservable-versions.ts'

const shared = {
  path: '/presets/:slug/rollout',
  tag: 'Presets',
  policy: 'management',
  surface: 'management',
  params: { slug: presetSlug },
  query: inWorkspace,
} as const

const answer = z.object({ data: rollout })

export interface RolloutRouteParts extends UnservableParts {
  readonly rollouts: Rollouts
  readonly presets: Pick<Presets, 'version'>
}

export const rolloutRoutes = ({ rollouts, ...parts }: RolloutRouteParts): readonly Route[] => [
  {
    ...shared,
    method: 'PUT',
    operation: 'putPresetRollout',
    summary: 'Split the requests of a preset between versions, or change the split',
    body: rolloutBody,
    answers: { 200: { description: 'The rollout as it runs now.', schema: answer } },
    errors: [404, 409],
    async handle(request) {
      const body = validate(rolloutBody, readJsonObject(await request.text()))
      const preset = presetIn(request)
      const data = await rollouts.put(preset, body, changedBy(request))
      const given = body.splits.flatMap(({ version, weight }) => (weight > 0 ? [version] : []))
      const warnings = await unservableVersions(preset, given, request, parts)
      return jsonResponse({ data }, { headers: warningHeaders(warnings) })
    },
  },
  {
    ...shared,
    method: 'GET',
    operation: 'getPresetRollout',
    summary: 'Read the newest rollout of a preset, with the figures of each version',
    answers: { 200: { description: 'The rollout, also one that has halted or ended.', schema: answer } },
    errors: [400, 404],
    handle: async (request) => jsonResponse({ data: await rollouts.get(presetIn(request)) }),
  },
  {
    ...shared,
    method: 'DELETE',
    operation: 'deletePresetRollout',
    summary: 'End a rollout: the designated version serves all requests',
    answers: { 200: { description: 'Ended.', schema: z.object({ deleted: z.literal(true) }) } },
    errors: [400, 404, 409],
    async handle(request) {
      await rollouts.end(presetIn(request), changedBy(request))
      return jsonResponse({ deleted: true })
    },
  },
]
