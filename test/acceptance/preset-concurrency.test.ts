/** Many writers of one preset, and processes killed among them (docs/contract/presets.md#versions). */
import { expect, test } from 'bun:test'

import { type Answer, call, type PresetWire, savePreset } from '../support/calls.ts'
import { describeEachEngine } from '../support/databases.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()

const versionsOf = async (service: StartedService, slug: string): Promise<{ version: number; mark: unknown }[]> => {
  const found: { version: number; mark: unknown }[] = []
  for (;;) {
    const page = await call(service, 'GET', `/presets/${slug}/versions?limit=100&offset=${found.length}`)
    if (page.status !== 200) return found
    found.push(...page.versions.map(({ version, config }) => ({ version, mark: config['seed'] })))
    if (page.versions.length < 100) return found
  }
}

const save = (service: StartedService, slug: string, seed: number, key?: string) =>
  call(service, 'POST', `/presets/${slug}/chat/completions`, {
    body: { model: 'sandbox/echo', seed, messages: [] },
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  })

/** A busy database answers 503 and has written nothing, so the client retries. */
const inTheEnd = async (write: () => Promise<Answer>): Promise<Answer> => {
  for (;;) {
    const answer = await write()
    if (answer.status !== 503) return answer
  }
}

describeEachEngine('writers', (engine) => {
  test('32 clients, 100 creates each on one slug: versions 1 to 3200, each answer embeds its own, the highest is designated', async () => {
    const { databaseUrl } = await engine.locate()
    const service = await services.start(databaseUrl === null ? {} : { flags: ['--database-url', databaseUrl] })
    const answered: PresetWire[] = []
    await Promise.all(
      Array.from({ length: 32 }, async (_, client) => {
        for (let round = 0; round < 100; round += 1) {
          const answer = await inTheEnd(() => save(service, 'busy', client * 100 + round))
          expect(answer.status).toBe(200)
          // The version that this request wrote, not a later one.
          expect(answer.preset.designated_version.config['seed']).toBe(client * 100 + round)
          expect(answer.preset.designated_version_id).toBe(answer.preset.designated_version.id)
          answered.push(answer.preset)
        }
      }),
    )
    const all = Array.from({ length: 3200 }, (_, index) => index + 1)
    expect(answered.map(({ designated_version: { version } }) => version).toSorted((one, other) => one - other)).toEqual(all)
    expect(new Set(answered.map(({ id }) => id)).size).toBe(1)
    expect((await versionsOf(service, 'busy')).map(({ version }) => version)).toEqual(all)
    expect((await call(service, 'GET', '/presets/busy')).preset.designated_version.version).toBe(3200)
    await service.stop()
  }, 600_000)

  test('the first create of a slug is raced by 50: one version 1', async () => {
    const { databaseUrl } = await engine.locate()
    const service = await services.start(databaseUrl === null ? {} : { flags: ['--database-url', databaseUrl] })
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => inTheEnd(() => savePreset(service, 'raced', { model: 'sandbox/echo' }))),
    )
    expect(answers.map(({ preset }) => preset.designated_version.version).toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 1),
    )
    await service.stop()
  })
})

const KILLS = 20
const WRITERS = 8

test(`kill -9, ${KILLS} times in the middle of ${WRITERS} writers: no acknowledged version is lost, none is there twice, the numbers have no gap`, async () => {
  const dataDir = `${services.directory()}/data`
  const { managementKey, stop } = await services.start({ dataDir })
  await stop()
  const restart = async (): Promise<StartedService> => ({ ...(await services.start({ dataDir })), managementKey })
  let marks = 0
  let acknowledgedInAll = 0
  let service = await restart()
  for (let kill = 0; kill < KILLS; kill += 1) {
    const slug = `killed-${kill}`
    const acknowledged = new Map<number, number>()
    const sent: number[] = []
    let alive = true
    const writers = Array.from({ length: WRITERS }, async () => {
      while (alive) {
        const mark = ++marks
        sent.push(mark)
        const answer = await save(service, slug, mark, `key-${mark}`).catch(() => null)
        if (answer?.status === 200) acknowledged.set(mark, answer.preset.designated_version.version)
        else alive = false
      }
    })
    // The kill must come at an unpredictable moment.
    await Bun.sleep(20 + Math.random() * 180)
    service.signal('SIGKILL')
    expect(await service.exited).toBeNull()
    alive = false
    await Promise.all(writers)

    service = await restart()
    const stored = await versionsOf(service, slug)
    expect(stored.map(({ version }) => version)).toEqual(stored.map((_, index) => index + 1))
    const byMark = new Map(stored.map(({ mark, version }) => [mark, version]))
    expect(byMark.size).toBe(stored.length)
    for (const [mark, version] of acknowledged) expect(byMark.get(mark)).toBe(version)
    acknowledgedInAll += acknowledged.size

    // A caller without an answer retries with the same key; then each version exists exactly once.
    const unanswered = sent.filter((mark) => !acknowledged.has(mark))
    for (const mark of unanswered) {
      const again = await save(service, slug, mark, `key-${mark}`)
      expect(again.preset.designated_version.version).toBe(byMark.get(mark) ?? again.preset.designated_version.version)
    }
    const complete = await versionsOf(service, slug)
    expect(complete.length).toBe(sent.length)
    expect(new Set(complete.map(({ mark }) => mark))).toEqual(new Set(sent))
    if (complete.length > 0)
      expect((await call(service, 'GET', `/presets/${slug}`)).preset.designated_version.version).toBe(complete.length)
  }
  expect(acknowledgedInAll).toBeGreaterThan(KILLS)
}, 300_000)
