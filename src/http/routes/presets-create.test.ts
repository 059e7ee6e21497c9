import { expect, test } from 'bun:test'

import { responsesFormat } from '../../formats/openai-responses/openai-responses.ts'
import type { Steps } from '../../lib/steps.ts'
import type { Presets } from '../../presets/presets.ts'
import type { Formats } from '../../formats/formats.ts'
import type { RouteRequest } from '../route.ts'
import { presetsCreate } from './presets-create.ts'

test('between the check of a preset and its storing others get their turn', async () => {
  const steps: string[] = []
  const formats = {
    responses: {
      ...responsesFormat,
      presetContent: (members: Record<string, unknown>) => {
        steps.push('checked')
        return responsesFormat.presetContent(members)
      },
    },
  } as unknown as Formats
  const presets = {
    save: async () => {
      steps.push('stored')
      return { status: 200, body: '{}', warnings: [] }
    },
  } as unknown as Presets
  const answering = {
    pipeline: {
      unservable: function* (): Steps<readonly string[]> {
        steps.push('tools')
        yield
        return []
      },
    },
  }
  const management = { workspaces: { defaults: () => null } }
  await presetsCreate('responses', { presets, formats, answering, management }).handle({
    params: { slug: 'a' },
    query: new URLSearchParams(),
    headers: new Headers(),
    caller: { kind: 'management', hash: 'h', userId: 'u' },
    reach: { workspaceId: 'ws' },
    requestId: 'req-1',
    object: async () => ({ members: { model: 'a/m' }, text: () => '', turn: async () => void steps.push('turn') }),
  } as unknown as RouteRequest)
  expect(steps).toEqual(['checked', 'turn', 'tools', 'turn', 'stored'])
})
