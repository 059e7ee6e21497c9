import { expect, test } from 'bun:test'

import type { Part } from '../canonical/prompt.ts'
import type { Steps } from '../lib/steps.ts'
import { attemptOf, promptOf } from './anthropic/encode.test-kit.ts'
import { encodeAnthropicRequest } from './anthropic/encode.ts'
import { encodeConverseRequest } from './bedrock/encode.ts'

const count = (steps: Steps<string>): number => {
  let taken = 0
  while (steps.next().done !== true) taken += 1
  return taken
}

const LONG = 'She said: "Go."\n'.repeat(100_000)

const PARTS: readonly (readonly [string, (text: string) => Part])[] = [
  ['a text', (text) => ({ type: 'text', text })],
  ['the result of a tool', (text) => ({ type: 'tool-result', callId: 'c', text })],
]

test.each(PARTS)('%s of megabytes is written in pieces, for Messages and for Converse', (_, part) => {
  const call: Part = { type: 'tool-call', id: 'c', name: 'f', arguments: '{}' }
  for (const encode of [encodeAnthropicRequest, encodeConverseRequest]) {
    const steps = (text: string): number =>
      count(
        encode(
          attemptOf(
            promptOf({
              messages: [
                { role: 'user', parts: [{ type: 'text', text: 'x' }] },
                { role: 'assistant', parts: [call] },
                { role: 'user', parts: [part(text)] },
              ],
            }),
            () => undefined,
          ),
        ),
      )
    expect(steps(LONG)).toBeGreaterThan(steps('x') + 8)
  }
})
