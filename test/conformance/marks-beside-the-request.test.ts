/** Cache marks on parts of a request beside that on the request itself. */
import { expect, test } from 'bun:test'

import { recording } from '../support/recordings.ts'
import { replay } from '../support/replay.ts'

const mark = { cache_control: { type: 'ephemeral' } }
const text = (said: string, marks: object = {}): object => ({ type: 'text', text: said, ...marks })

const CLAUDES = [
  ['bedrock', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ['anthropic', 'claude-sonnet-4-5'],
] as const

const marksSent = async (dialect: 'anthropic' | 'bedrock', model: string, last: object): Promise<readonly [number, string | null]> => {
  const { sent, headers } = await replay({
    client: 'chat',
    upstreams: [
      { dialect, slug: dialect, model, reply: { type: 'application/json', pieces: [recording(dialect, 'length', false).bytes] } },
    ],
    body: {
      model: 'replay/one',
      ...mark,
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } }, ...mark }],
      messages: [
        { role: 'system', content: [text('S', mark)] },
        { role: 'user', content: [text('Hi', mark)] },
        { role: 'assistant', content: 'Yes?' },
        { role: 'user', content: [last] },
      ],
    },
  })
  return [(sent[0]?.body.match(/cachePoint|cache_control/g) ?? []).length, headers.get('x-service-warnings')]
}

test.each(CLAUDES)(
  '%s: the mark on the last block takes the place of that of the request, so that four are sent',
  async (dialect, model) => {
    expect(await marksSent(dialect, model, text('Go on', mark))).toEqual([4, null])
    expect(await marksSent(dialect, model, text('Go on'))).toEqual([4, null])
  },
)
