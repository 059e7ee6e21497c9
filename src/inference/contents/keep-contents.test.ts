import { expect, test } from 'bun:test'

import { createFakeClock, turn } from '../../../test/support/fake-clock.ts'
import { playing } from '../../../test/support/frame-pulling.ts'
import { admittedBy, pipelineOf, receivedFrom } from '../../../test/support/pipelines.ts'
import { model } from '../../../test/support/plans.ts'
import { FORMATS } from '../../formats/formats.ts'
import { createModels, plainEndpoint } from '../../models/models.ts'
import { providerRegistry } from '../../providers/registry.ts'
import type { Received } from '../request.ts'
import { createContents } from './keep-contents.ts'

const provider = {
  slug: 'a',
  name: 'A',
  dialects: ['openai-chat' as const],
  baseUrl: 'https://a.example/v1',
  apiKeys: ['key'],
  anyModel: false,
}

/** A pipeline whose requests are all kept, in a store that answers when the test lets it. */
const prepare = () => {
  const clock = createFakeClock()
  const inserts: PromiseWithResolvers<void>[] = []
  const reported: string[] = []
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
    onError: (_, doing) => reported.push(doing),
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
  /** Lets time pass until it is done. */
  const passing = async <Result>(doing: Promise<Result>): Promise<Result> => {
    let isOver = false
    const done = doing.finally(() => (isOver = true))
    while (!isOver) {
      await turn()
      clock.advance(1)
    }
    return done
  }
  const admit = (more: Partial<Received> = {}) =>
    passing(admittedBy(pipeline, receivedFrom({ model: 'm/one', messages: [{ role: 'user', content: 'Hi' }] }, more)))
  const answer = async (): Promise<void> => {
    const admitted = await admit()
    expect(await passing(pipeline.answer(admitted, () => undefined))).toBeNull()
  }
  const begun = async (count: number): Promise<void> => {
    while (inserts.length < count) {
      clock.advance(1)
      await turn()
    }
  }
  return { contents, inserts, reported, admit, answer, begun }
}

test('a flush waits for what was finished before it, and for nothing that comes later', async () => {
  const { contents, inserts, reported, answer, begun } = prepare()
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
  expect(reported).toEqual([])
})

test('contents are stored one after another; those that cannot be stored are reported, and the next are stored', async () => {
  const { contents, inserts, reported, answer, begun } = prepare()
  await answer()
  const first = contents.flush()
  await answer()
  await begun(1)
  for (let step = 0; step < 10; step += 1) await turn()
  expect(inserts).toHaveLength(1)
  inserts[0]?.reject(new Error('The database is away.'))
  await first
  expect(reported).toEqual(['the contents of a request were not stored'])
  await begun(2)
  inserts[1]?.resolve()
  await contents.flush()
  expect(reported).toHaveLength(1)
})

test('64 MiB of contents wait at most: further ones are given up, and reported, until one is stored, and has left no byte behind', async () => {
  const { contents, inserts, reported, admit, answer, begun } = prepare()
  // Two megabytes of a larger request are kept.
  const large = await admit({ bytes: 3 * 1024 * 1024 })
  const fitting = (): number => {
    let count = 0
    while (count < 100 && contents.watch(large) !== null) count += 1
    return count
  }
  await answer()
  await begun(1)
  expect(fitting()).toBe(31)
  expect(reported).toEqual(['the contents of a request were not kept'])
  inserts[0]?.resolve()
  await contents.flush()
  expect(fitting()).toBe(1)
})
