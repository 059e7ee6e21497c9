import { describe, expect, test } from 'bun:test'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { emailGuardrail } from '../../../test/support/guardrail.ts'
import { effectiveOf } from '../../guardrails/effective.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import type { StoredContent } from '../../storage/generations/content-store.ts'
import type { ListedGeneration } from '../../storage/generations/generation-list.ts'
import { StorageUnavailable } from '../../storage/storage-errors.ts'
import { type Chosen, chooseContents, tryContents } from './try-contents.ts'

const first = { id: 'gen-1', workspaceId: 'w', createdAt: '2026-01-01T00:00:00.000Z', hasContent: true } as ListedGeneration

const chosen: Chosen = { lookedAt: 1, withContents: 1, chosen: [first], leftOut: { too_large: 0, no_room: 0, gone: 0 } }

const around = {
  limits: { clock: systemClock, screenMs: 1000 },
  largeStep: () => Promise.resolve(),
  signal: new AbortController().signal,
}

const tried = (fault: Error) =>
  tryContents(chosen, null, {
    store: { get: () => Promise.reject(fault), sizesOf: () => Promise.resolve(new Map()) },
    ...around,
  })

test('a content that does not open is left out, and counted so', async () => {
  expect(await tried(new Error('The seal is broken.'))).toMatchObject({ tried: 0, left_out: { gone: 1 } })
})

test('contents of which only the beginning is stored are left out as too large', async () => {
  const content = { interface: 'chat', request: null, answer: null }
  const get = async () => ({ id: 'gen-1', workspaceId: 'w', createdAt: first.createdAt, expiresAt: first.createdAt, content })
  const report = await tryContents(chosen, null, { store: { get, sizesOf: async () => new Map() }, ...around })
  expect(report).toMatchObject({ tried: 0, left_out: { too_large: 1, gone: 0 } })
})

test('a storage that is away ends the trial: nothing is reported as gone that is there', () => {
  expect(tried(new StorageUnavailable('The database is away.'))).rejects.toThrow(StorageUnavailable)
})

describe('one trial is bounded', () => {
  const KIB = 1024
  const listed = (count: number): ListedGeneration[] => Array.from({ length: count }, (_, at) => ({ ...first, id: `gen-${at}` }))
  const sizesOf = (size: number) => ({ sizesOf: (ids: readonly string[]) => Promise.resolve(new Map(ids.map((id) => [id, size]))) })
  const stored: StoredContent = {
    id: 'gen-1',
    workspaceId: 'w',
    createdAt: first.createdAt,
    expiresAt: first.createdAt,
    content: { interface: 'chat', request: { messages: [{ role: 'user', content: 'Nothing of note. '.repeat(400) }] }, answer: null },
  }
  /** Storage that has all contents; `onGet` is called with each id that is read. */
  const storing = (onGet: (id: string) => void = () => undefined) => ({
    get: (id: string) => {
      onGet(id)
      return Promise.resolve(stored)
    },
    sizesOf: () => Promise.resolve(new Map()),
  })
  const chosenOf = (rows: readonly ListedGeneration[]): Chosen => ({ ...chosen, withContents: rows.length, chosen: rows })

  test('contents of up to 512 KiB as they are stored are read, and one byte more is too large', async () => {
    expect((await chooseContents(listed(1), sizesOf(512 * KIB))).chosen).toHaveLength(1)
    expect(await chooseContents(listed(1), sizesOf(512 * KIB + 1))).toMatchObject({ chosen: [], leftOut: { too_large: 1, no_room: 0 } })
  })

  test('contents of 24 MiB in all are read, and those after them are counted as without room', async () => {
    const { chosen: read, leftOut } = await chooseContents(listed(50), sizesOf(512 * KIB))
    expect(read.map(({ id }) => id)).toEqual(listed(48).map(({ id }) => id))
    expect(leftOut).toEqual({ too_large: 0, no_room: 2, gone: 0 })
  })

  test('after ten seconds no further one is read', async () => {
    const clock = createFakeClock()
    const asked: string[] = []
    const store = storing((id) => {
      asked.push(id)
      clock.advance(5000)
    })
    const report = await tryContents(chosenOf(listed(3)), null, { ...around, store, limits: { clock, screenMs: 1000 } })
    expect(asked).toEqual(['gen-0', 'gen-1'])
    expect(report).toMatchObject({ tried: 2, passed: 2, left_out: { no_room: 1 } })
  })

  test('one whose screening needs longer than what is left is left out, and not called clean', async () => {
    let now = 0
    const clock: Clock = { ...systemClock, monotonicMs: () => (now += 3000) }
    const limits = { clock, screenMs: 3_600_000 }
    const report = await tryContents(chosenOf(listed(1)), effectiveOf([emailGuardrail('block')]), { ...around, store: storing(), limits })
    expect(report).toMatchObject({ tried: 0, passed: 0, left_out: { no_room: 1 } })
  })

  test('a caller who leaves ends it: no further content is opened', async () => {
    const caller = new AbortController()
    const asked: string[] = []
    const store = storing((id) => {
      asked.push(id)
      caller.abort()
    })
    const report = await tryContents(chosenOf(listed(3)), null, { ...around, store, signal: caller.signal })
    expect(asked).toEqual(['gen-0'])
    expect(report).toMatchObject({ tried: 1, left_out: { no_room: 2 } })
  })
})
