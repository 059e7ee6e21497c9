import { describe, expect, test } from 'bun:test'

import { rejection } from '../../storage/testing/rejection.ts'
import { createOwnOrigin } from './own-origin.ts'
import { createSessionDoor } from './session-door.ts'

const open = () => {
  const asked: [string, string][] = []
  const door = createSessionDoor({
    sessions: {
      async authenticate(token, csrf) {
        asked.push([token, csrf])
        return csrf === 'half' ? 'half' : { kind: 'member', workspaceId: 'w', userId: 'u', sessionId: 's' }
      },
    },
    ownOrigin: createOwnOrigin({ host: '127.0.0.1', publicUrl: 'https://llm.example' }),
    instanceId: 'i',
  })
  return { door, asked }
}

const sent = (more: Readonly<Record<string, string>> = {}) =>
  new Headers({ host: 'llm.example', 'sec-fetch-site': 'same-origin', cookie: 'pb_session_i=plain', ...more })

describe('a request with a cookie', () => {
  test('is that of the secure cookie, whatever another service on this host has planted under the plain name', async () => {
    const { door, asked } = open()
    const cookie = 'pb_session_i=planted; __Host-pb_session_i=own'
    await door.personOf(sent({ cookie, 'x-patchbay-csrf': 'half 2' }), 'authentication')
    expect(asked).toEqual([['own', 'half 2']])
  })

  test('401: without the second half, and nothing is looked up for it', async () => {
    const { door, asked } = open()
    expect(await rejection(door.personOf(sent(), 'authentication'))).toMatchObject({ type: 'authentication' })
    expect(asked).toEqual([])
  })

  test('403: from a page of another origin, with the second half or without', async () => {
    for (const more of [{}, { 'x-patchbay-csrf': 'half 2' }]) {
      const { door, asked } = open()
      const headers = sent({ ...more, 'sec-fetch-site': 'cross-site' })
      expect(await rejection(door.personOf(headers, 'authentication'))).toMatchObject({ type: 'permission_denied' })
      expect(asked).toEqual([])
    }
  })
})
