import { describe, expect, test } from 'bun:test'

import { say, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { useHostedServices } from '../../test/support/hosted-services.ts'
import { until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { manage } from './calls.ts'
import { oneProvider } from './one-provider.ts'

const services = useHostedServices()
const browser = useBrowser()

interface Key {
  readonly hash: string
  readonly name: string
  readonly purpose: string | null
  readonly creator_user_id: string | null
  readonly limit: number | null
  readonly usage: number
}

describe.skipIf(BROWSER_PATH === null)('the money of the playground', () => {
  test('is on the person’s own key, and stops at its limit with the sentence of the API', async () => {
    const upstream = await startFakeUpstream()
    upstream.script(say('well'))
    const service = await services.start({ config: oneProvider(upstream, 'prices: { prompt: 10, completion: 100 }') })
    const { data: link } = await manage<{ data: { url: string } }>(service, '/login-links', { body: { user_id: 'ada', role: 'member' } })
    const { page, ...visitor } = await browser.visit(link.url)
    await page.getByRole('navigation', { name: 'Screens' }).waitFor()
    await page.goto(`${service.url}/dashboard/playground?model=fake/good`)
    await page.getByLabel('Message 1', { exact: true }).fill('Hello')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    const answer = page.getByRole('region', { name: 'fake/good' })
    await answer.getByRole('link', { name: 'Request' }).waitFor()

    const keys = async (): Promise<readonly Key[]> => (await manage<{ data: readonly Key[] }>(service, '/keys')).data
    const isOwn = ({ purpose }: Key): boolean => purpose === 'playground'
    // A request is charged after its answer.
    await until(async () => ((await keys()).find(isOwn)?.usage ?? 0) > 0, 'the cost of the request')
    const own = (await keys()).find(isOwn)
    expect(own).toMatchObject({ creator_user_id: 'ada', limit: 5 })
    expect((await keys()).filter((key) => !isOwn(key) && key.usage > 0)).toEqual([])

    await manage(service, `/keys/${own?.hash}`, { method: 'PATCH', body: { limit: 0.000001 } })
    visitor.expectStatus(402, 403, 429)
    const refused = page.waitForResponse((response) => response.url().endsWith('/chat/completions'))
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    const { error } = (await (await refused).json()) as { error: { message: string } }
    await answer.getByRole('alert').getByText(error.message).waitFor()
    expect(error.message).toMatch(/limit/i)
    await visitor.checkAccessible()
  })
})
