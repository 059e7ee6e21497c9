/** The settings of a key for its requests, over HTTP: these are stored, shown and changed, and no others. */
import { describe, expect, test } from 'bun:test'

import { call, infer } from '../support/calls.ts'
import { useServices } from '../support/started-service.ts'

const services = useServices()

const service = await services.start()

interface MadeKey {
  readonly key: string
  readonly data: { readonly hash: string }
}

const makeKey = async (body: object): Promise<MadeKey> => {
  const made = await call(service, 'POST', '/keys', { body: { name: 'a key', ...body } })
  expect([made.status, made.text]).toEqual([201, expect.stringContaining('"hash"')])
  return made.json as MadeKey
}

describe('provider_failure', () => {
  test.each(['body', 'status', 'auto', null])('%p is kept, shown, changed and cleared', async (value) => {
    const { data } = await makeKey({ provider_failure: value })
    expect(data).toMatchObject({ provider_failure: value })
    const path = `/keys/${data.hash}`
    expect((await call(service, 'PATCH', path, { body: { provider_failure: 'status' } })).json).toMatchObject({
      data: { provider_failure: 'status' },
    })
    expect((await call(service, 'PATCH', path, { body: { name: 'renamed' } })).json).toMatchObject({ data: { provider_failure: 'status' } })
    await call(service, 'PATCH', path, { body: { provider_failure: null } })
    expect((await call(service, 'GET', path)).json).toMatchObject({ data: { provider_failure: null } })
  })

  test('is null if nobody set it, and 400 for any other word', async () => {
    expect((await makeKey({})).data).toMatchObject({ provider_failure: null })
    expect((await call(service, 'POST', '/keys', { body: { name: 'x', provider_failure: 'never' } })).status).toBe(400)
  })

  test('patchbay keys create --provider-failure sets it; another word is misuse', async () => {
    const create = (word: string) =>
      services.run([
        'keys',
        'create',
        '--kind=inference',
        '--name=x',
        `--provider-failure=${word}`,
        '--json',
        '--data-dir',
        service.dataDir,
      ])
    expect(JSON.parse((await create('status')).stdout)).toMatchObject({ provider_failure: 'status' })
    expect(await create('never')).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--provider-failure: ') })
  })
})

describe('external.user', () => {
  const generation = async (key: string, fields: object = {}): Promise<unknown> => {
    const answer = await infer(service, { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }], ...fields }, { key })
    expect(answer.status).toBe(200)
    return (await call(service, 'GET', `/generation?id=${answer.headers.get('x-generation-id')}`, { key })).json
  }

  test('is kept on the key and on its generations; a request that names a user names its own', async () => {
    const { key, data } = await makeKey({ external: { user: '  acme ' } })
    expect(data).toMatchObject({ external_user: 'acme' })
    expect((await call(service, 'GET', `/keys/${data.hash}`)).json).toMatchObject({ data: { external_user: 'acme' } })
    expect(await generation(key)).toMatchObject({ data: { external_user: 'acme' } })
    expect(await generation(key, { user: 'acme/ada' })).toMatchObject({ data: { external_user: 'acme/ada' } })
  })

  test.each([{}, { user: '' }, { user: '  ' }, { user: 'x'.repeat(513) }, { user: 'a\0b' }, { user: '\uD800' }, { user: 1 }])(
    '400: %j',
    async (external) => {
      expect((await call(service, 'POST', '/keys', { body: { name: 'x', external } })).status).toBe(400)
    },
  )

  test('400: a key of another service is not kept, the message says what to do, and nothing repeats the key', async () => {
    const secret = 'sk-of-another-service-0123456789'
    const answer = await call(service, 'POST', '/keys', { body: { name: 'x', external: { user: 'acme', api_key: secret } } })
    expect([answer.status, answer.error.metadata['issues']]).toEqual([
      400,
      [{ path: 'external.api_key', message: expect.stringMatching(/not kept.*Leave it out.*POST \/byok/) as string }],
    ])
    expect(answer.text).not.toContain(secret)
    const made = await makeKey({ external: { user: 'acme-with-null', api_key: null } })
    expect(made.data).toMatchObject({ external_user: 'acme-with-null' })
  })
})

describe('a list of models with the name of a preset is refused, since rules see the models that a preset uses', () => {
  const names = ['sandbox/echo', '@preset/support-bot']
  const sentence = 'A rule sees the models that a preset uses, never its name: name those models.'

  test.each([
    ['of a key', '/keys', { name: 'a key', allowed_models: names }, 'allowed_models'],
    ['of a guardrail', '/guardrails', { name: 'a rule', allowed_models: names }, 'allowed_models'],
    ['that a guardrail forbids', '/guardrails', { name: 'a rule', ignored_models: names }, 'ignored_models'],
    ['of a provider key', '/byok', { provider: 'openai', key: 'sk-their-own', allowed_models: names }, 'allowed_models'],
  ])('%s', async (_, path, body, field) => {
    const { status, json } = await call(service, 'POST', path, { body })
    expect(status).toBe(400)
    expect(json).toMatchObject({ error: { metadata: { issues: [{ path: `${field}[1]`, message: sentence }] } } })
  })

  test.each(['@preset*', '@PRESET/support-bot', '*preset/support-bot', '*@preset/*'])('as is the pattern %s', async (pattern) => {
    const { status } = await call(service, 'POST', '/keys', { body: { name: 'a key', allowed_models: [pattern] } })
    expect(status).toBe(400)
  })
})

test('a call whose body has nothing that must be said takes none, or an empty one', async () => {
  const { data } = await makeKey({})
  for (const body of [undefined, '', {}])
    expect((await call(service, 'POST', `/keys/${data.hash}/rotate`, { body })).json).toMatchObject({ data: { hash: data.hash } })
})
