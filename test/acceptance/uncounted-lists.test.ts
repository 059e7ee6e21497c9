/** Lists without a total (docs/contract/management.md#lists). */
import { expect, test } from 'bun:test'

import { useServices } from '../support/started-service.ts'

const services = useServices()

interface Page {
  readonly data: readonly { readonly id: string; readonly slug?: string }[]
  readonly total_count?: number
  readonly next_cursor?: string | null
}

test('count=false leaves the total out, and goes on behind a cursor to the same rows in the same order', async () => {
  const service = await services.start()
  const call = (path: string, body?: unknown): Promise<Response> =>
    fetch(service.api + path, {
      headers: { authorization: `Bearer ${service.managementKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    })
  for (const slug of ['one', 'two', 'three', 'four'])
    await call(`/presets/${slug}/chat/completions`, { model: 'sandbox/echo', messages: [] })
  for (const path of ['/presets?status=active', '/presets?q=o', '/audit-log?object_type=preset', '/audit-log?']) {
    const whole = (await (await call(path)).json()) as Page
    expect(whole.total_count).toBe(whole.data.length)
    const seen: Page['data'][number][] = []
    for (let cursor = ''; ;) {
      const page = (await (await call(`${path}&count=false&limit=2&cursor=${cursor}`)).json()) as Page
      expect(Object.keys(page).toSorted()).toEqual(['data', 'next_cursor'])
      seen.push(...page.data)
      if (page.next_cursor === null || page.next_cursor === undefined) break
      cursor = page.next_cursor
    }
    expect(seen).toEqual([...whole.data])
  }
  expect((await call('/presets?count=no')).status).toBe(400)
  expect((await call('/presets?count=false&cursor=x')).status).toBe(400)
})
