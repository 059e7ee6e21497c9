import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS } from '../../canonical/call.ts'
import { question, replay } from '../../../test/support/replay.ts'

describe.each(CLIENT_DIALECTS)('%s: where every provider is closed or full', (client) => {
  test.each([true, false])('nobody is asked, and it is a 503 in both settings; a stream: %p', async (stream) => {
    const reply = { type: 'application/json', pieces: [] } as const
    for (const setting of ['body', 'status']) {
      const { status, text, headers, sent, run } = await replay({
        client,
        upstreams: [{ dialect: 'openai-chat', reply }],
        body: question(client, stream),
        headers: { 'x-service-provider-failure': setting, 'x-service-metadata': 'enabled' },
        closed: true,
      })
      expect([status, headers.get('retry-after'), sent.length, run?.log.attempts.length]).toEqual([503, '1', 0, 0])
      expect(JSON.parse(text)).toMatchObject({ service_metadata: { attempt: 0, attempts: [], summary: 'No provider was tried.' } })
    }
  })
})
