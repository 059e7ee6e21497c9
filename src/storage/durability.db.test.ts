import { expect, test } from 'bun:test'
import { sql } from 'kysely'

import { describeEachEngine } from '../../test/support/databases.ts'
import type { Database } from './database.ts'
import { preparePresets } from './testing/preset-input.ts'

const KILLS = 20

describeEachEngine('durability', (engine) => {
  test(
    `kill -9 of a writer, ${KILLS} times, loses no version that was acknowledged and leaves no half of one`,
    async () => {
      const location = await engine.locate()
      const acknowledged = new Map<number, string>()
      for (let round = 0; round < KILLS; round++) {
        const lines = await writeUntilKilled([location.databaseUrl ?? '', location.dataDir, 'bot'], 5 + round * 3)
        for (const line of lines) {
          const [number, id = ''] = line.split(' ')
          // If a number were acknowledged twice, a version was lost in between.
          expect(acknowledged.has(Number(number))).toBe(false)
          acknowledged.set(Number(number), id)
        }
      }
      expect(acknowledged.size).toBeGreaterThan(KILLS * 5)

      const database = await engine.open(location)
      const { store, workspaceId } = await preparePresets(database)
      const total = (await store.versions({ workspaceId, slug: 'bot', ascending: true, offset: 0, limit: 1 }))?.totalCount ?? 0
      const all = await store.versions({ workspaceId, slug: 'bot', ascending: true, offset: 0, limit: total })
      const stored = await Array.fromAsync(all?.items ?? [])
      expect(stored.map(({ version }) => version)).toEqual(Array.from({ length: total }, (_, index) => index + 1))
      for (const [number, id] of acknowledged) expect(stored[number - 1]?.id).toBe(id)
      expect((await store.get(workspaceId, 'bot'))?.designated_version.version).toBe(total)
      await checkIntegrity(database)
    },
    { timeout: 300_000 },
  )
})

/** Reads this many whole lines, kills the process, and reads what was still in the pipe. */
const writeUntilKilled = async (args: readonly string[], lineCount: number): Promise<string[]> => {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/testing/write-versions.ts`, ...args], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true })
    if (!child.killed && text.split('\n').length > lineCount) child.kill('SIGKILL')
  }
  await child.exited
  // The last line may be incomplete.
  return text.split('\n').slice(0, -1)
}

const checkIntegrity = async ({ engine, kysely }: Database): Promise<void> => {
  if (engine !== 'sqlite') return
  expect((await sql`pragma integrity_check`.execute(kysely)).rows).toEqual([{ integrity_check: 'ok' }])
  expect((await sql`pragma foreign_key_check`.execute(kysely)).rows).toEqual([])
}
