/** A change or a deletion of one object leaves every other as it was: those beside it in its workspace, and their likes in another workspace. */
import { beforeAll, expect, test } from 'bun:test'

import { type Answer, call, type CallOptions } from '../support/calls.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

interface Place {
  readonly id: string
  readonly management: string
  readonly inference: string
}

interface MadeObject {
  readonly id: string
  readonly hash: string
}

const services = useServices()
let service: StartedService
/** The workspace in which something is done, and another one. */
let [here, elsewhere]: readonly Place[] = []
let made = 0

const dataOf = (answer: Answer): MadeObject => (answer.json as { data: MadeObject }).data

const done = async (method: string, path: string, options: CallOptions): Promise<Answer> => {
  const answer = await call(service, method, path, options)
  expect([method, path, answer.status < 300 ? '' : answer.text]).toEqual([method, path, ''])
  return answer
}

const create = async ({ management: key }: Place, path: string, body: object): Promise<MadeObject> =>
  dataOf(await done('POST', path, { key, body }))

beforeAll(async () => {
  service = await services.start({
    config: 'providers:\n  fake: { name: Fake, dialects: [openai-chat], base_url: "http://127.0.0.1:9", api_key: sk-shared-0123456789 }\n',
  })
  const places: Place[] = []
  for (const slug of ['here', 'elsewhere']) {
    const { id } = dataOf(await done('POST', '/workspaces', { body: { name: slug, slug } }))
    const keyOf = async (kind: string): Promise<string> =>
      ((await done('POST', '/keys', { body: { name: kind, kind, workspace_id: id } })).json as { key: string }).key
    places.push({ id, management: await keyOf('management'), inference: await keyOf('inference') })
  }
  ;[here, elsewhere] = places
})

interface Subject {
  /** The paths by which a key of its workspace reads it. */
  readonly reads: readonly string[]
  /** The lists in which it appears, which are read in the other workspace. */
  readonly lists?: readonly string[]
  /** Everything that can be done to it, its deletion last. */
  readonly operations: readonly (readonly [method: string, path: string, body?: object])[]
}

/** `n` is another number for each object of a workspace, and the same in both workspaces. */
type Make = (place: Place, n: number) => Promise<Subject>

const saved = async (place: Place, n: number): Promise<string> => {
  const path = `/presets/shared-${n}`
  for (const designate of [true, false])
    await create(place, `${path}/chat/completions?designate=${designate}`, { model: 'sandbox/echo', temperature: designate ? 0 : 1 })
  return path
}

const messages = [{ role: 'user', content: 'Hi' }]

const KINDS: Readonly<Record<string, Make>> = {
  'an API key': async (place, n) => {
    const path = `/keys/${(await create(place, '/keys', { name: `key ${n}`, limit: n })).hash}`
    return {
      reads: [path],
      lists: ['/keys?q=key%20'],
      operations: [
        ['PATCH', path, { name: 'changed', limit: 7, expires_at: '2099-01-01T00:00:00Z' }],
        ['POST', `${path}/rotate`, {}],
        ['PATCH', path, { disabled: true }],
        ['DELETE', path],
      ],
    }
  },
  'a guardrail': async (place, n) => {
    const path = `/guardrails/${(await create(place, '/guardrails', { name: `rules ${n}`, limit_usd: n, reset_interval: 'daily' })).id}`
    const keys = { key_hashes: [(await create(place, '/keys', { name: 'guarded' })).hash] }
    const members = { member_user_ids: [`ada-${n}`] }
    await done('POST', `/workspaces/${place.id}/members/add`, { body: { user_ids: members.member_user_ids } })
    const assign = [
      ['POST', `${path}/assignments/keys`, keys],
      ['POST', `${path}/assignments/members`, members],
    ] as const
    for (const [method, at, body] of assign) await done(method, at, { key: place.management, body })
    return {
      reads: [path, `${path}/assignments/keys`, `${path}/assignments/members`],
      lists: ['/guardrails', '/guardrails/assignments/keys', '/guardrails/assignments/members'],
      operations: [
        ['PATCH', path, { name: 'changed', allowed_models: ['sandbox/echo'] }],
        ['POST', `${path}/assignments/keys/remove`, keys],
        ['POST', `${path}/assignments/members/remove`, members],
        ...assign,
        ['DELETE', path],
      ],
    }
  },
  "a workspace's own guardrail": async ({ management: key }, n) => {
    const path = '/guardrails/default'
    await done('PATCH', path, { key, body: { description: `rules ${n}` } })
    return {
      reads: [path],
      operations: [
        ['PATCH', path, { name: 'changed' }],
        ['DELETE', path],
      ],
    }
  },
  'a provider key': async (place, n) => {
    const path = `/byok/${(await create(place, '/byok', { provider: 'fake', name: `own ${n}`, key: `sk-own-credential-${n}` })).id}`
    return {
      reads: [path],
      lists: ['/byok'],
      operations: [
        ['PATCH', path, { name: 'changed', disabled: true }],
        ['DELETE', path],
      ],
    }
  },
  'a destination of traces': async (place, n) => {
    const body = { name: `traces ${n}`, type: 'webhook', config: { url: `https://example.com/${n}` } }
    const path = `/observability/destinations/${(await create(place, '/observability/destinations?skip_test=true', body)).id}`
    return {
      reads: [path],
      lists: ['/observability/destinations'],
      operations: [
        ['PATCH', path, { name: 'changed', enabled: false }],
        ['DELETE', path],
      ],
    }
  },
  'a preset': async (place, n) => {
    const path = await saved(place, n)
    return {
      reads: [path, `${path}/versions`, `${path}/history`],
      lists: ['/presets', '/search?q=shared'],
      operations: [
        ['POST', `${path}/chat/completions`, { model: 'sandbox/lorem' }],
        ['PATCH', path, { name: 'changed', labels: { staging: 2 } }],
        ['PATCH', path, { designated_version: 1 }],
        ['PATCH', path, { status: 'archived' }],
        ['DELETE', path],
      ],
    }
  },
  'the rollout of a preset': async (place, n) => {
    const path = `${await saved(place, n)}/rollout`
    const split = (weight: number) => ({
      splits: [
        { version: 1, weight: 100 - weight },
        { version: 2, weight },
      ],
    })
    await done('PUT', path, { key: place.management, body: split(10) })
    return {
      reads: [path],
      operations: [
        ['PUT', path, split(20)],
        ['DELETE', path],
      ],
    }
  },
  'an input of a preset': async (place, n) => {
    const preset = await saved(place, n)
    const { id } = await create(place, `${preset}/tests`, { name: 'one', messages })
    return { reads: [`${preset}/tests`], operations: [['DELETE', `${preset}/tests/${id}`]] }
  },
  'a budget': async ({ id, management: key }, n) => {
    const path = `/workspaces/${id}/budgets/${['daily', 'weekly', 'monthly'][n % 3]}`
    await done('PUT', path, { key, body: { limit_usd: n } })
    return {
      reads: [path],
      operations: [
        ['PUT', path, { limit_usd: n + 0.5 }],
        ['DELETE', path],
      ],
    }
  },
  'a member': async ({ id, management: key }) => {
    const path = `/workspaces/${id}/members`
    const body = { user_ids: ['grace'] }
    await done('POST', `${path}/add`, { key, body })
    return {
      reads: [path],
      operations: [
        ['PATCH', `${path}/grace`, { role: 'admin', name: 'Grace' }],
        ['POST', `${path}/remove`, body],
      ],
    }
  },
  'a file': async ({ management: key }, n) => {
    const body = `--x\r\nContent-Disposition: form-data; name="file"; filename="${n}.txt"\r\nContent-Type: text/plain\r\n\r\n${n}\r\n--x--\r\n`
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    const { id } = (await done('POST', '/files', { key, body, headers })).json as { id: string }
    return { reads: [`/files/${id}`, `/files/${id}/content`], lists: ['/files'], operations: [['DELETE', `/files/${id}`]] }
  },
}

/** Kinds of which a workspace has one, or can show only all at once. */
const ALONE = new Set(["a workspace's own guardrail", 'a member'])

const textsOf = async (reads: readonly (readonly [Place, string])[]): Promise<readonly string[]> =>
  await Promise.all(
    reads.map(async ([{ management, inference }, path]) => {
      // The content of a file that a management key reads would be one more entry of the audit log.
      const key = path.endsWith('/content') ? inference : management
      return (await done('GET', path, { key })).text
    }),
  )

test.each(Object.entries(KINDS))('%s', async (kind, make) => {
  if (here === undefined || elsewhere === undefined) throw new Error('There is no workspace.')
  const first = (made += 3)
  const others: (readonly [Place, string])[] = []
  const keep = async (place: Place, n: number): Promise<void> => {
    const { reads, lists = [] } = await make(place, n)
    for (const path of place === elsewhere ? [...reads, ...lists, '/audit-log'] : reads) others.push([place, path])
  }
  if (!ALONE.has(kind)) await keep(here, first)
  await keep(elsewhere, first + 1)
  const { operations } = await make(here, first + 1)
  if (!ALONE.has(kind)) await keep(here, first + 2)
  const before = await textsOf(others)
  for (const [method, path, body] of operations) {
    await done(method, path, { key: here.management, ...(body === undefined ? {} : { body }) })
    expect([method, path, await textsOf(others)]).toEqual([method, path, before])
  }
})
