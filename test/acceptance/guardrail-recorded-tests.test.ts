/** Guardrails tried on the requests whose contents are stored (docs/contract/guardrails.md#tests). */
import { expect, test } from 'bun:test'

import { type Answer, call, infer } from '../support/calls.ts'
import { describeEachEngine } from '../support/databases.ts'
import { signInAs } from '../support/signed-in.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

interface Reported {
  readonly looked_at: number
  readonly with_contents: number
  readonly tried: number
  readonly left_out: { readonly too_large: number; readonly no_room: number; readonly gone: number }
  readonly blocked: number
  readonly redacted: number
  readonly flagged: number
  readonly passed: number
  readonly found: readonly {
    readonly generation_id: string
    readonly outcome: string
    readonly sides: readonly string[]
    readonly filters: readonly string[]
  }[]
}

const services = useServices()

const CARD = 'Charge 4111 1111 1111 1111, please.'
const MAIL = 'Write to ada@example.com.'
const PLAIN = 'Where is my parcel?'
const DRAFT = {
  content_filter_builtins: [
    { slug: 'credit-card', action: 'block' },
    { slug: 'email', action: 'redact' },
  ],
}

describeEachEngine('a guardrail on stored requests', (engine) => {
  const start = async (): Promise<StartedService> => {
    const { databaseUrl } = await engine.locate()
    return services.start({ flags: databaseUrl === null ? [] : ['--database-url', databaseUrl] })
  }
  const keep = (service: StartedService, keeps: boolean): Promise<Answer> =>
    call(service, 'PATCH', '/workspaces/default', { body: { is_observability_io_logging_enabled: keeps } })
  const say = async (service: StartedService, text: string, model = 'sandbox/lorem'): Promise<string> =>
    (await infer(service, { model, messages: [{ role: 'user', content: text }] })).headers.get('x-generation-id') ?? ''
  const tryOn = (service: StartedService, body: object): Promise<Answer> => call(service, 'POST', '/guardrail-tests/requests', { body })
  const reported = (answer: Answer): Reported => {
    expect(answer.text).toStartWith('{"data":')
    return (answer.json as { data: Reported }).data
  }

  test('the test of a draft or of saved rules says how many recorded requests would be blocked and which, and repeats none of their text', async () => {
    const service = await start()
    await say(service, CARD)
    await keep(service, true)
    const [card, mail, plain] = [await say(service, CARD), await say(service, MAIL), await say(service, PLAIN)]
    const answer = await tryOn(service, { guardrail: DRAFT })
    const result = reported(answer)
    expect(result).toMatchObject({
      looked_at: 4,
      with_contents: 3,
      tried: 3,
      left_out: { too_large: 0, no_room: 0, gone: 0 },
      blocked: 1,
      redacted: 1,
      flagged: 0,
      passed: 1,
    })
    expect(result.found.map(({ generation_id: id, outcome, sides }) => [id, outcome, ...sides])).toEqual([
      [mail, 'redacted', 'input'],
      [card, 'blocked', 'input'],
    ])
    expect(result.found.flatMap(({ filters }) => filters)).toEqual(['[EMAIL]', '[CREDIT_CARD]'])
    for (const text of ['4111 1111', '41111111', 'ada@', plain]) expect(answer.text).not.toContain(text)

    const saved = await call(service, 'POST', '/guardrails', { body: { name: 'cards', ...DRAFT } })
    const { id } = (saved.json as { data: { id: string } }).data
    expect(reported(await tryOn(service, { guardrail_id: id }))).toMatchObject({ blocked: 1, redacted: 1 })
    const milder = { content_filter_builtins: [{ slug: 'credit-card', action: 'flag' }] }
    expect(reported(await tryOn(service, { guardrail_id: id, guardrail: milder }))).toMatchObject({ blocked: 0, redacted: 0, flagged: 1 })
    expect(reported(await tryOn(service, { guardrail: DRAFT, limit: 1 }))).toMatchObject({ looked_at: 1, tried: 1, passed: 1 })
  })

  test('the answers are tested too', async () => {
    const service = await start()
    await keep(service, true)
    await say(service, MAIL, 'sandbox/echo')
    const output = { content_filter_builtins: [{ slug: 'email', action: 'block', applies_to: 'output' }] }
    expect(reported(await tryOn(service, { guardrail: output }))).toMatchObject({ blocked: 1, found: [{ sides: ['output'] }] })
  })

  test('one entry of the audit log says what was read; if nothing is stored, nothing is read', async () => {
    const service = await start()
    await say(service, CARD)
    const entries = async () => {
      const { json } = await call(service, 'GET', '/audit-log?object_type=generation_content')
      return (json as { data: readonly { action: string; object_id: string; after: { generation_ids: readonly string[] } }[] }).data
    }
    expect(reported(await tryOn(service, { guardrail: DRAFT }))).toMatchObject({ looked_at: 1, with_contents: 0, tried: 0, found: [] })
    expect(await entries()).toEqual([])
    await keep(service, true)
    const id = await say(service, CARD)
    await tryOn(service, { guardrail: DRAFT })
    expect(await entries()).toMatchObject([{ action: 'screened', object_id: 'draft', after: { generation_ids: [id] } }])
  })

  test('contents that are too large are counted, and not read', async () => {
    const service = await start()
    await keep(service, true)
    await say(service, 'word '.repeat(200_000))
    const result = reported(await tryOn(service, { guardrail: DRAFT }))
    expect(result).toMatchObject({ looked_at: 1, with_contents: 1, tried: 0, left_out: { too_large: 1 } })
  })

  test('only those who may read contents can test, and only in their own workspace: 401, 403, and nothing of another workspace', async () => {
    const service = await start()
    await keep(service, true)
    await say(service, CARD)
    const path = '/guardrail-tests/requests'
    expect((await call(service, 'POST', path, { key: null, body: { guardrail: DRAFT } })).status).toBe(401)
    expect((await call(service, 'POST', path, { key: service.inferenceKey, body: { guardrail: DRAFT } })).status).toBe(403)
    const member = await signInAs(service, { user_id: 'ada', role: 'member' })
    expect((await member.ask('POST', path, { body: { guardrail: DRAFT } })).status).toBe(403)
    await call(service, 'POST', '/workspaces', { body: { name: 'Team', slug: 'team' } })
    expect(reported(await call(service, 'POST', `${path}?workspace_id=team`, { body: { guardrail: DRAFT } }))).toMatchObject({
      looked_at: 0,
    })
    expect((await tryOn(service, { guardrail_id: '00000000-0000-4000-8000-000000000000' })).status).toBe(404)
    expect((await tryOn(service, { guardrail: DRAFT, limit: 201 })).status).toBe(400)
    expect((await tryOn(service, {})).status).toBe(400)
  })
})
