/** Several processes on one port, sharing one PostgreSQL. */
import { readFileSync, readdirSync } from 'node:fs'

import { expect, test } from 'bun:test'

import { describeEachEngine } from '../support/databases.ts'
import { useServices } from '../support/started-service.ts'

const services = useServices()

describeEachEngine('workers', (engine) => {
  if (engine.name === 'sqlite') {
    test('exit 2: a SQLite file has one writer', async () => {
      const ended = await services.run(['serve', '--port', '0', '--data-dir', services.directory(), '--workers', '2'])
      expect(ended.code).toBe(2)
      expect(ended.stderr).toMatch(/^patchbay: --workers: .*postgres/)
    })
    return
  }

  test('both processes answer, one that dies is replaced, and all end together', async () => {
    const { databaseUrl } = await engine.locate()
    const service = await services.start({ flags: ['--workers', '2', '--database-url', databaseUrl ?? ''] })
    const workers = (): number[] => childrenOf(service.pid)
    await until(() => workers().length === 1)

    const [first = 0] = workers()
    process.kill(first, 'SIGKILL')
    await until(() => workers().some((pid) => pid !== first))

    const statuses = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        for (;;) {
          const answer = await fetch(`${service.api}/presets/shared/messages`, {
            method: 'POST',
            headers: { authorization: `Bearer ${service.managementKey}`, 'content-type': 'application/json', connection: 'close' },
            body: JSON.stringify({ model: 'sandbox/echo', max_tokens: index + 1 }),
          })
          const { data } = (await answer.json()) as { data?: { designated_version: { version: number } } }
          // On a busy machine others may hold the lock for too long: nothing was written, and the client retries.
          if (answer.status !== 409) return data?.designated_version.version ?? 0
        }
      }),
    )
    expect(statuses.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))

    expect(await service.stop()).toBe(0)
    expect(workers()).toEqual([])
  }, 300_000)

  test('a worker that ends while the service stops is not replaced: nobody would end the new one', async () => {
    const { databaseUrl } = await engine.locate()
    const flags = ['--workers', '2', '--database-url', databaseUrl ?? '', '--drain-seconds', '3']
    const service = await services.start({ flags })
    await until(() => childrenOf(service.pid).length === 1)
    // Their connections are shared out, so the first process has some of them, and its drain lasts longer than a replacement would take.
    const streams = Array.from({ length: 16 }, () =>
      fetch(`${service.api}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.inferenceKey}`, 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({ ...ENDLESS, messages: [{ role: 'user', content: 'Hi' }] }),
      }),
    )
    const answers = await Promise.all(streams)
    expect(answers.map(({ status }) => status)).toEqual(streams.map(() => 200))
    // It may be another one than at the start: one that is not ready in time is replaced.
    const [worker = 0] = childrenOf(service.pid)
    service.signal('SIGTERM')
    process.kill(worker, 'SIGKILL')
    await Promise.all(answers.map((answer) => answer.text().catch(() => '')))
    expect(await service.exited).toBe(0)
  }, 300_000)

  test('a second signal to the first process ends the wait of every process', async () => {
    const { databaseUrl } = await engine.locate()
    const flags = ['--workers', '2', '--database-url', databaseUrl ?? '', '--leave-seconds', '3600']
    const service = await services.start({ flags })
    const headers = { authorization: `Bearer ${service.managementKey}` }
    for (let processes = 0; processes < 2;) {
      const answer = await fetch(`${service.api}/service`, { headers })
      processes = ((await answer.json()) as { data: { processes: readonly unknown[] } }).data.processes.length
    }
    service.signal('SIGTERM')
    // A second signal that comes too soon is taken for an echo of the first.
    await Bun.sleep(1500)
    service.signal('SIGTERM')
    expect(await service.exited).toBe(0)
  }, 300_000)
})

const ENDLESS = { model: 'sandbox/lorem', stream: true, sandbox: { tokens: 10_000, delay_ms: 100 } }

/** The child processes, from /proc. */
const childrenOf = (parent: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(parent)
      } catch {
        return false // the process ended meanwhile
      }
    })
    .map(Number)

const until = async (reached: () => boolean): Promise<void> => {
  const deadline = performance.now() + 60_000
  while (!reached()) {
    if (performance.now() > deadline) throw new Error('It did not happen within a minute.')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
