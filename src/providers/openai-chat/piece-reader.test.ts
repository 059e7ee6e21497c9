import { describe, expect, test } from 'bun:test'

import { HEAD } from '../../../test/support/answers.ts'
import { recordingsOf } from '../../../test/support/recordings.ts'
import type { Frame } from '../../canonical/event.ts'
import { openStream } from '../../formats/openai-chat/render-stream.test-kit.ts'
import { createChatDecoder } from './decode.ts'
import { createPieceReader } from './piece-reader.ts'
import { chatText } from './vendor-text.ts'

/** The frames of a stream of which each chunk is parsed. */
const parsedFrames = (payloads: readonly string[]): Frame[] => {
  const decoder = createChatDecoder('acme/one')
  return payloads.map((data) => {
    const chunk = JSON.parse(data) as Record<string, unknown>
    const events = decoder.events(chunk)
    const json = chatText(chunk, data)
    return json === null ? { events } : { events, native: { dialect: 'chat', json } }
  })
}

/** Reads the payloads, by pattern if they match one, and counts those that do. */
const readFrames = (payloads: readonly string[], native = true): { frames: Frame[]; alike: number } => {
  const pieces = createPieceReader(native)
  let alike = 0
  const frames = parsedFrames(payloads).map((frame, position) => {
    const event = { event: null, data: payloads[position] ?? '' }
    const found = pieces.read(event)
    if (found === null) pieces.learn(event, frame)
    else alike += 1
    return found ?? frame
  })
  return { frames, alike }
}

const clientText = (frames: readonly Frame[]): unknown[] => {
  const stream = openStream(HEAD)
  return frames.map((frame) => {
    const text = stream.frames([frame])
    return text === '' ? null : (JSON.parse(text.slice('data: '.length)) as unknown)
  })
}

const streams = recordingsOf('openai-chat').filter(({ stream, name }) => stream && !name.includes('error') && name !== 'mistral-reasoning')

describe('a chunk that is read by pattern', () => {
  test.each(streams.map((recording) => [recording.name, recording.payloads] as const))('%s: says what a parser reads', (_, payloads) => {
    const { frames } = readFrames(payloads)
    expect(frames.map(({ events }) => events)).toEqual(parsedFrames(payloads).map(({ events }) => events))
  })

  test.each(streams.map((recording) => [recording.name, recording.payloads] as const))(
    '%s: reaches the client as every other',
    (_, payloads) => {
      expect(clientText(readFrames(payloads).frames)).toEqual(clientText(parsedFrames(payloads)))
    },
  )

  test.each(['openai-text', 'deepseek-reasoning', 'deepseek-tool-call'])('%s: all but a few are', (name) => {
    const payloads = streams.find((stream) => stream.name === name)?.payloads ?? []
    expect(payloads.length - readFrames(payloads).alike).toBeWithin(2, 7)
  })

  test('says nothing that it does not hold: an empty piece and a named event are left to the parser', () => {
    const chunk = (content: string): string => `{"id":"u","choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}}]}`
    const pieces = createPieceReader(false)
    pieces.learn({ event: null, data: chunk('Hello') }, { events: [{ type: 'text', text: 'Hello' }] })
    expect(pieces.read({ event: null, data: chunk('there') })).toEqual({ events: [{ type: 'text', text: 'there' }] })
    expect(pieces.read({ event: null, data: chunk('') })).toBeNull()
    expect(pieces.read({ event: 'error', data: chunk('there') })).toBeNull()
  })
})
