/** A signed-in person calls models, charged to the person's own key (docs/contract/sign-in.md#playground). */
import { describe, expect, test } from 'bun:test'

import { call, type Answer } from '../support/calls.ts'
import { signInAs, signInByKey, type SignedIn } from '../support/signed-in.ts'
import { until, useServices } from '../support/started-service.ts'

const service = await useServices().start()

const BODY = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] }
const infer = ({ ask }: SignedIn, body: object = BODY): Promise<Answer> => ask('POST', '/chat/completions', { body })
const keysOf = async (userId: string): Promise<readonly Record<string, unknown>[]> =>
  ((await call(service, 'GET', `/keys?user_id=${userId}&status=all`)).json as { data: Record<string, unknown>[] }).data

describe('a request from the playground', () => {
  test('is charged to a key that is created on first use, with five dollars a month', async () => {
    const member = await signInAs(service, { user_id: 'ada' })
    const answers = await Promise.all([infer(member), infer(member), infer(member)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const keys = await keysOf('ada')
    expect(keys).toHaveLength(1)
    expect(keys[0]).toMatchObject({ name: 'playground (ada)', kind: 'inference', purpose: 'playground', limit: 5, limit_reset: 'monthly' })
    expect(keys[0]).toMatchObject({ last_used_at: expect.any(String) })
    const id = answers[0]?.headers.get('x-generation-id') ?? ''
    const { json } = await member.ask('GET', `/generation?id=${id}`)
    expect(json).toMatchObject({ data: { id, api_key_hash: keys[0]?.['hash'] } })
  })

  test('works on all three interfaces, and counts tokens', async () => {
    const admin = await signInByKey(service)
    expect((await admin.ask('POST', '/responses', { body: { model: 'sandbox/echo', input: 'Hi' } })).status).toBe(200)
    expect((await admin.ask('POST', '/messages', { body: { ...BODY, max_tokens: 9 } })).status).toBe(200)
  })

  test("is refused with the person's key: 403 if an admin disabled it; a revoked one is replaced by another", async () => {
    const member = await signInAs(service, { user_id: 'ben' })
    await infer(member)
    const [key] = await keysOf('ben')
    await call(service, 'PATCH', `/keys/${String(key?.['hash'])}`, { body: { disabled: true } })
    expect((await infer(member)).status).toBe(403)
    await call(service, 'DELETE', `/keys/${String(key?.['hash'])}`)
    expect((await infer(member)).status).toBe(200)
    expect((await keysOf('ben')).map(({ hash }) => hash)).not.toContain(key?.['hash'])
  })

  test("may start an evaluation, even as a person's first request; the key and the evaluation are entries of the audit log", async () => {
    const admin = await signInAs(service, { user_id: 'iris', role: 'admin' })
    await call(service, 'POST', '/presets/tried/chat/completions', { body: { model: 'sandbox/echo' } })
    const body = { version: 1, items: [{ messages: BODY.messages }], checks: [{ type: 'contains', text: 'Hi' }] }
    const started = await admin.ask('POST', '/presets/tried/evaluations', { body })
    expect({ isStarted: started.status < 300, text: started.text }).toMatchObject({ isStarted: true })
    const { json } = await call(service, 'GET', '/audit-log?user_id=iris')
    expect((json as { data: { object_type: string }[] }).data.map(({ object_type: type }) => type).toSorted()).toEqual([
      'api_key',
      'preset',
      'session',
    ])
  })

  test('with a management key stays 403', async () => {
    expect((await call(service, 'POST', '/chat/completions', { body: BODY })).status).toBe(403)
  })
})

test('a stream is cut within a second of the end of its session', async () => {
  const admin = await signInByKey(service)
  const response = await fetch(`${service.api}/chat/completions`, {
    method: 'POST',
    headers: { ...admin.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ ...BODY, model: 'sandbox/lorem', stream: true, sandbox: { tokens: 2000, delay_ms: 50 } }),
  })
  const reader = response.body?.getReader()
  expect((await reader?.read())?.done).toBe(false)
  const other = await signInByKey(service)
  await other.ask('DELETE', `/sessions/${admin.sessionId}`)
  const endedMs = performance.now()
  const rest = (async () => {
    let text = ''
    try {
      for (;;) {
        const piece = await reader?.read()
        if (piece === undefined || piece.done) return text
        text += new TextDecoder().decode(piece.value)
      }
    } catch {
      return text
    }
  })()
  expect(await rest).not.toContain('[DONE]')
  // The whole answer would take a hundred seconds.
  expect(performance.now() - endedMs).toBeLessThan(20_000)
  await until(
    async () => !(await (await fetch(`${service.url}/metrics`)).text()).includes('patchbay_running_generations 1'),
    'the upstream to be left',
  )
})

test('a member can read only own generations', async () => {
  const [ada, eve] = [await signInAs(service, { user_id: 'ada' }), await signInAs(service, { user_id: 'eve' })]
  const id = (await infer(ada)).headers.get('x-generation-id') ?? ''
  expect((await ada.ask('GET', `/generation?id=${id}`)).status).toBe(200)
  expect((await eve.ask('GET', `/generation?id=${id}`)).status).toBe(404)
  expect((await call(service, 'GET', `/generation?id=${id}`)).status).toBe(200)
})
