import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { openJournal } from './journal.ts'
import { StorageConflict, StorageUnavailable } from './storage-errors.ts'

const directories: string[] = []
afterAll(() => directories.forEach((path) => rmSync(path, { recursive: true })))

const directory = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'patchbay-journal-'))
  directories.push(path)
  return path
}

const open = (path: string, pid = 1, alive: readonly number[] = []) => openJournal(path, { pid, isAlive: (other) => alive.includes(other) })

const recovered = async (path: string, pid = 2, alive: readonly number[] = []): Promise<readonly unknown[]> => {
  const entries: unknown[] = []
  await open(path, pid, alive).recover(async (portion) => void entries.push(...portion.map((line): unknown => JSON.parse(line))))
  return entries
}

test('what a process left behind is handed over once, in its order, also where the next one has its number', async () => {
  for (const pid of [1, 2]) {
    const path = directory()
    const journal = open(path)
    for (const entry of [1, 'two\n', 3]) journal.append([JSON.stringify(entry)])
    expect(await recovered(path, pid)).toEqual([1, 'two\n', 3])
    expect(await recovered(path, pid)).toEqual([])
    expect(readdirSync(path)).toEqual([])
  }
})

test('what is in storage is not handed over', async () => {
  const path = directory()
  const journal = open(path)
  for (const entry of [1, 2]) journal.written(journal.append([JSON.stringify(entry)]))
  journal.append([JSON.stringify(3)])
  expect(await recovered(path)).toEqual([3])
})

test('a process that ended well leaves no file; one that storage did not follow leaves what was not written', async () => {
  const path = directory()
  const journal = open(path)
  journal.written(journal.append([JSON.stringify(1)]))
  journal.close()
  expect(readdirSync(path)).toEqual([])
  const behind = open(path)
  behind.append([JSON.stringify(2)])
  behind.close()
  expect(await recovered(path)).toEqual([2])
})

test('where every process has one id, as in a container, each hands over what the one before left, and writes into no file of it', async () => {
  const path = directory()
  const one = openJournal(path, { pid: 1, isAlive: () => true })
  one.append(['"of the first"'])
  const two = openJournal(path, { pid: 1, isAlive: () => true })
  two.append(['"of the second"'])
  const entries: string[] = []
  await two.recover(async (portion) => void entries.push(...portion))
  await openJournal(path, { pid: 1, isAlive: () => true }).recover(async (portion) => void entries.push(...portion))
  expect(entries).toEqual(['"of the first"', '"of the second"'])
})

test('however many entries were left, each is handed over, in portions', async () => {
  const path = directory()
  const left = Array.from({ length: 2500 }, (_, at) => at)
  open(path).append(left.map(String))
  expect(await recovered(path)).toEqual(left)
})

test('of two that start at once each hands over what the other has not taken, and neither fails', async () => {
  const path = directory()
  for (const pid of [1, 2]) open(path, pid, [1]).append([JSON.stringify(pid)])
  const [one, other] = [open(path, 8), open(path, 9)]
  const entries: string[] = []
  const write = async (portion: readonly string[]): Promise<void> => {
    entries.push(...portion)
    await Promise.resolve()
  }
  const found = await Promise.all([one.recover(write), other.recover(write)])
  expect(new Set(entries)).toEqual(new Set(['1', '2']))
  expect(found.map(({ damaged }) => damaged)).toEqual([0, 0])
  expect(await open(path, 9).recover(write)).toEqual({ entries: 0, damaged: 0, kept: [], faults: [] })
  expect(readdirSync(path)).toEqual([])
})

test.each([1, 3])('a file that another has taken keeps none of the others back: that of %p', async (taken) => {
  const path = directory()
  for (const pid of [1, 3]) open(path, pid, [1]).append([String(pid)])
  const journal = open(path, 2)
  const [name = ''] = readdirSync(path).filter((each) => each.startsWith(`settlements-${taken}-`))
  rmSync(join(path, name))
  expect(await journal.recover(() => Promise.resolve())).toMatchObject({ entries: 1, faults: [] })
})

test('two that start at once keep one file for a damaged line, and neither fails', async () => {
  const path = directory()
  open(path).append(['1', '{"half'])
  const write = () => Promise.resolve()
  const found = await Promise.all([open(path, 8).recover(write), open(path, 9).recover(write)])
  expect(found.map(({ kept }) => kept)).toEqual(Array.from({ length: 2 }, () => [join(path, 'settlements-1-1.jsonl.damaged')]))
  expect(readdirSync(path)).toEqual(['settlements-1-1.jsonl.damaged'])
})

test('a process that still runs is left alone', async () => {
  const path = directory()
  open(path, 7).append([JSON.stringify('of another worker')])
  expect(await recovered(path, 8, [7])).toEqual([])
  expect(await recovered(path, 8)).toEqual(['of another worker'])
})

test('damaged lines, the rest of a line that was cut off, and zeroes are counted; the other lines are handed over once, and the file is kept', async () => {
  const path = directory()
  for (const [pid, rest] of [
    [1, '{"half\n"after"\n"cut'],
    [3, '\0'.repeat(4096)],
  ] as const) {
    open(path, pid, [1]).append([JSON.stringify(`whole ${pid}`)])
    appendFileSync(join(path, `settlements-${pid}-1.jsonl`), rest)
  }
  const entries: string[] = []
  const reported = await open(path, 2).recover(async (portion) => void entries.push(...portion))
  const kept = [1, 3].map((pid) => join(path, `settlements-${pid}-1.jsonl.damaged`))
  expect(entries.toSorted()).toEqual(['"after"', '"whole 1"', '"whole 3"'])
  expect({ ...reported, kept: reported.kept.toSorted() }).toEqual({ entries: 3, damaged: 3, kept, faults: [] })
  expect(await recovered(path)).toEqual([])
  expect(
    readdirSync(path)
      .map((name) => join(path, name))
      .toSorted(),
  ).toEqual(kept)
})

test('a line that storage refuses does not keep the others from being taken, and a file that it refuses as a whole stays', async () => {
  const path = directory()
  open(path, 1).append(['1', '2', '{}', '3', '4'])
  open(path, 3, [1]).append(['{}'])
  const entries: string[] = []
  const reported = await open(path, 2).recover(async (portion) => {
    if (portion.includes('{}')) throw new TypeError('no settlement')
    entries.push(...portion)
  })
  expect(entries).toEqual(['1', '2', '3', '4'])
  const kept = join(path, 'settlements-1-1.jsonl.damaged')
  expect(reported).toEqual({ entries: 4, damaged: 1, kept: [kept], faults: [new TypeError('no settlement')] })
  expect(await recovered(path)).toEqual([{}])
})

test('a file that cannot be read stays, and the others are taken', async () => {
  const path = directory()
  // The directory is listed in no order that is known.
  for (const pid of [1, 5]) mkdirSync(join(path, `settlements-${pid}-1.jsonl`))
  for (const pid of [3, 4]) open(path, pid, [1, 3, 5]).append(['"whole"'])
  const entries: string[] = []
  const { faults } = await open(path, 2).recover(async (portion) => void entries.push(...portion))
  expect([entries, faults.map(String)]).toEqual([
    ['"whole"', '"whole"'],
    Array.from({ length: 2 }, () => expect.stringContaining('EISDIR')),
  ])
  expect(readdirSync(path).toSorted()).toEqual(['settlements-1-1.jsonl', 'settlements-5-1.jsonl'])
})

test('what storage does not take stays for the next start', async () => {
  const path = directory()
  open(path).append([JSON.stringify('kept')])
  for (const away of [new StorageUnavailable('away'), new StorageConflict('locked')]) {
    const recovering = open(path, 2).recover(() => Promise.reject(away))
    expect(await recovering.catch((thrown: unknown) => thrown)).toBe(away)
  }
  expect(await recovered(path, 3)).toEqual(['kept'])
})

test('nobody else may read it, and other files in the directory are not touched', async () => {
  const path = directory()
  writeFileSync(join(path, 'notes.txt'), 'mine')
  open(path).append([JSON.stringify(1)])
  const [name = ''] = readdirSync(path).filter((each) => each !== 'notes.txt')
  expect(statSync(join(path, name)).mode & 0o777).toBe(0o600)
  await recovered(path)
  expect(readFileSync(join(path, 'notes.txt'), 'utf8')).toBe('mine')
})

test('files stay small, however long storage is behind, and whatever order it writes in', async () => {
  const path = directory()
  const journal = open(path)
  const large = 'x'.repeat(1024 * 1024)
  const segments = Array.from({ length: 20 }, () => journal.append([JSON.stringify(large)]))
  expect(readdirSync(path).length).toBe(5)
  for (const name of readdirSync(path)) expect(statSync(join(path, name)).size).toBeLessThan(6 * 1024 * 1024)
  for (const segment of segments.toReversed()) journal.written(segment)
  expect(readdirSync(path).map((name) => statSync(join(path, name)).size)).toEqual([0])
  journal.close()
  expect(readdirSync(path)).toEqual([])
})

test('after any sequence of appends and writes, exactly what is not in storage is recovered', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 3 }), { maxLength: 60 }), async (steps) => {
      const path = directory()
      const journal = open(path)
      const waiting: { entry: number; segment: ReturnType<typeof journal.append> }[] = []
      const inStorage = new Set<number>()
      let last = 0
      for (const appended of steps) {
        const oldest = appended > 0 ? undefined : waiting.shift()
        if (appended > 0) {
          const entries = Array.from({ length: appended }, () => (last += 1))
          const segment = journal.append(entries.map((entry) => JSON.stringify(entry)))
          for (const entry of entries) waiting.push({ entry, segment })
        } else if (oldest !== undefined) {
          inStorage.add(oldest.entry)
          journal.written(oldest.segment)
        }
      }
      const found = await recovered(path)
      // An entry that is already in storage may be recovered again, which storage recognises; no other entry may be missing.
      for (const { entry } of waiting) expect(found).toContain(entry)
      for (const entry of found) expect(inStorage.has(Number(entry)) || waiting.some((each) => each.entry === entry)).toBe(true)
    }),
    { numRuns: 60 },
  )
})
