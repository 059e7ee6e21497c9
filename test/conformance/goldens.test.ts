/**
 * Golden readings of clients, kept for inspection: `UPDATE_GOLDENS=1 npm test -- test/conformance/goldens.test.ts` writes them anew; read
 * the diff.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { ALL_RECORDINGS, type Recording } from '../support/recordings.ts'
import { replayReply, typeOf } from '../support/replay.ts'

const FOLDER = join(import.meta.dir, 'goldens')
const updating = process.env['UPDATE_GOLDENS'] === '1'

const fileOf = ({ dialect, name, stream }: Recording, client: ClientDialect): string =>
  `${dialect}.${name}.${client}.${stream ? 'stream.txt' : 'whole.json'}`

const files = ALL_RECORDINGS.flatMap((recording) =>
  CLIENT_DIALECTS.map((client) => ({ recording, client, file: fileOf(recording, client) })),
)

if (updating) {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
}

describe('every recording, read through every interface', () => {
  for (const { recording, client, file } of files) {
    test(file, async () => {
      const { stream, dialect, bytes } = recording
      const { text } = await replayReply(client, dialect, { type: typeOf(stream), pieces: [bytes] })
      const golden = stream ? shortened(text) : `${JSON.stringify(JSON.parse(text), null, 2)}\n`
      const path = join(FOLDER, file)
      if (updating) writeFileSync(path, golden)
      else expect(golden).toBe(existsSync(path) ? readFileSync(path, 'utf8') : '')
    })
  }

  test('there is no golden file without a recording', () => {
    expect(readdirSync(FOLDER).toSorted()).toEqual(files.map(({ file }) => file).toSorted())
  })
})

const RUN_MAX = 8
const FIRST = 3
const LAST = 2

/** Keeps the beginning and the end of a long run of frames that differ only in their text; a hash covers the rest. */
const shortened = (text: string): string => {
  const runs: { readonly shape: string; readonly frames: string[] }[] = []
  for (const frame of text.split(/(?<=\n\n)/)) {
    const shape = shapeOf(frame)
    const run = runs.at(-1)
    if (run?.shape === shape) run.frames.push(frame)
    else runs.push({ shape, frames: [frame] })
  }
  return runs.map(({ frames }) => (frames.length <= RUN_MAX ? frames.join('') : elided(frames))).join('')
}

const elided = (frames: readonly string[]): string => {
  const middle = frames.slice(FIRST, -LAST)
  const hash = createHash('sha256').update(middle.join('')).digest('hex')
  return `${frames.slice(0, FIRST).join('')}… ${middle.length} frames like these, sha256 ${hash}\n\n${frames.slice(-LAST).join('')}`
}

/** Keeps keys and literals; all string values are equal, and so are all numbers. */
const shapeOf = (frame: string): string =>
  frame.replaceAll(TOKEN, (token) => (token.startsWith('"') ? (token.endsWith(':') ? token : '""') : '0'))

const TOKEN = /"(?:[^"\\]|\\.)*":?|-?\d[\d.eE+-]*/g
