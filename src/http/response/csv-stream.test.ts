import { expect, test } from 'bun:test'

import { rejection } from '../../storage/testing/rejection.ts'
import { csvStream } from './csv-stream.ts'

test('a table that cannot be read on breaks the answer, which would otherwise be taken for the whole', async () => {
  const broken = new Error('The database is gone.')
  const faults: unknown[] = []
  const lines = async function* (): AsyncGenerator<string> {
    yield 'id,cost\n'
    throw broken
  }
  const server = Bun.serve({ port: 0, fetch: () => csvStream('x.csv', lines(), (thrown) => faults.push(thrown)) })
  try {
    await rejection(fetch(server.url).then((answer) => answer.text()))
    expect(faults).toEqual([broken])
  } finally {
    await server.stop(true)
  }
})

test('a reader that leaves ends the reading of the table', async () => {
  const { promise: over, resolve } = Promise.withResolvers<number>()
  const lines = async function* (): AsyncGenerator<string> {
    let read = 0
    try {
      for (; read < 1_000_000; read += 1) yield 'x'.repeat(100_000)
    } finally {
      resolve(read)
    }
  }
  const server = Bun.serve({ port: 0, fetch: () => csvStream('x.csv', lines(), () => undefined) })
  try {
    const { body } = await fetch(server.url)
    const reader = body?.getReader()
    await reader?.read()
    await reader?.cancel()
    expect(await over).toBeLessThan(10_000)
  } finally {
    await server.stop(true)
  }
})
