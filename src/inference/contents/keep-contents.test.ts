import { expect, test } from 'bun:test'

import { createFakeClock, turn } from '../../../test/support/fake-clock.ts'
import { playing } from '../../../test/support/frame-pulling.ts'
import { admittedBy, pipelineOf, receivedFrom } from '../../../test/support/pipelines.ts'
import { model } from '../../../test/support/plans.ts'
import { FORMATS } from '../../formats/formats.ts'
import { createModels, plainEndpoint } from '../../models/models.ts'
import { providerRegistry } from '../../providers/registry.ts'
import { createContents } from './keep-contents.ts'

const provider = {
  slug: 'a',
  name: 'A',
  dialects: ['openai-chat' as const],
  baseUrl: 'https://a.example/v1',
  apiKeys: ['key'],
  anyModel: false,
}

test('a flush waits for what was finished before it, and for nothing that comes later', async () => {
  const clock = createFakeClock()
  const inserts: PromiseWithResolvers<void>[] = []
  const contents = createContents({
    store: {
      insert() {
        const stored = Promise.withResolvers<void>()
        inserts.push(stored)
        return stored.promise
      },
    },
    formats: FORMATS,
    clock,
    startTurn: () => () => undefined,
    onError(thrown) {
      throw thrown
    },
  })
  const pipeline = pipelineOf(clock, {
    contents,
    models: createModels([model('m/one', [plainEndpoint(provider, 'one', { prices: null })])], []),
    adapters: {
      ...providerRegistry,
      adapterFor: () =>
        playing(async function* say() {
          yield [
            {
              events: [
                { type: 'text', text: 'Hi' },
                { type: 'finish', reason: 'stop', native: null },
              ],
            },
          ]
        }),
    },
    defaultsOf: () => ({
      default_text_model: null,
      default_image_model: null,
      default_provider_sort: null,
      plugins: null,
      disabled_server_tools: null,
      contents: { share: 1, keys: null, retentionDays: 1 },
    }),
  })
  const answer = async (): Promise<void> => {
    const admitted = await admittedBy(pipeline, receivedFrom({ model: 'm/one', messages: [{ role: 'user', content: 'Hi' }] }))
    let isOver = false
    const answered = pipeline.answer(admitted, () => undefined).finally(() => (isOver = true))
    while (!isOver) {
      await turn()
      clock.advance(1)
    }
    expect(await answered).toBeNull()
  }
  const begun = async (count: number): Promise<void> => {
    while (inserts.length < count) {
      clock.advance(1)
      await turn()
    }
  }

  await contents.flush()
  await answer()
  const first = contents.flush()
  await answer()
  await begun(1)
  inserts[0]?.resolve()
  await first
  const second = contents.flush()
  await begun(2)
  inserts[1]?.resolve()
  await second
  expect(inserts).toHaveLength(2)
})
