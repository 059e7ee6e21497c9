/** The screens of a member: every one opens, and none of its requests is refused. */
import { describe, expect, test } from 'bun:test'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'

const services = useHostedServices()
const browser = useBrowser()

describe.skipIf(BROWSER_PATH === null)('a member', () => {
  test('reads presets, tries one in the playground, finds that request, and sees nobody else’s', async () => {
    const service = await services.start()
    await savePreset(service, 'support-bot', 'Answer politely.')
    const { id: foreign } = await chat(service, { model: 'sandbox/lorem' })
    const { data } = await manage<{ data: { url: string } }>(service, '/login-links', { body: { user_id: 'ada', role: 'member' } })
    const { page, ...visitor } = await browser.visit(data.url)
    const screens = page.getByRole('navigation', { name: 'Screens' })
    await screens.waitFor()
    expect(await screens.getByRole('link').allTextContents()).toEqual(['Overview', 'Requests', 'Presets', 'Playground', 'Keys', 'Set up'])
    const step = page.getByRole('region', { name: 'First step', exact: true }).getByRole('link')
    await step.waitFor()
    expect(await step.allTextContents()).toEqual([' Connect a client'])
    await screens.getByRole('link', { name: 'Presets' }).click()
    await page.getByRole('link', { name: 'support-bot' }).click()
    await page.getByLabel('System prompt').getByText('Answer politely.').waitFor()
    expect(await page.getByRole('button', { name: /Save|Put live|New preset/ }).count()).toBe(0)
    await visitor.checkAccessible()

    await page.getByRole('link', { name: 'Open in playground' }).click()
    await page.getByLabel('Message 1', { exact: true }).fill('Where is my parcel?')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('region', { name: '@preset/support-bot' }).getByRole('link', { name: 'Request' }).click()
    await page.getByRole('region', { name: 'Timeline' }).waitFor()
    await screens.getByRole('link', { name: 'Requests' }).click()
    await page.locator('[data-row]').first().waitFor()
    expect(await page.locator('[data-row]').count()).toBe(1)
    for (const title of ['Overview', 'Keys', 'Set up']) {
      await screens.getByRole('link', { name: title }).click()
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
      await visitor.settled()
      if (title === 'Keys') {
        await page.getByRole('link', { name: 'playground (ada)' }).click()
        await page.getByText('What bounds it').waitFor()
      }
      // Nothing is offered that an admin alone may do.
      expect(await page.getByRole('button', { name: /New key|Create|Change limit|Actions for/ }).count()).toBe(0)
    }
    visitor.check()
    visitor.expectStatus(404)
    await page.goto(`${service.url}/dashboard/requests/${foreign}`)
    await page.getByText('There is no request with this id here').waitFor()
    visitor.check()
  })

  test('who follows an address of an admin reads that the screen is for admins, and nothing is asked that would be refused', async () => {
    const service = await services.start()
    const { data } = await manage<{ data: { url: string } }>(service, '/login-links', { body: { user_id: 'ada', role: 'member' } })
    const { page, ...visitor } = await browser.visit(data.url)
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    for (const title of ['Models', 'Guardrails', 'Workspaces', 'Audit']) {
      await page.evaluate(`history.pushState(null, '', '/dashboard/${title.toLowerCase()}')`)
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
      await page.getByText('This screen is for admins of the workspace.').waitFor()
    }
    await visitor.checkAccessible()
    // Keys to them are not offered, and what every person sets is found.
    await page.keyboard.press('?')
    const keys = page.getByRole('dialog', { name: 'Keys of the keyboard' })
    await keys.getByText('Go to Settings').waitFor()
    expect(await keys.getByText('Go to Audit').count()).toBe(0)
    await page.keyboard.press('Escape')
    await page.locator('.side-foot button').click()
    await page.getByRole('menuitem', { name: 'Settings' }).click()
    await page.getByRole('table', { name: 'Sessions' }).getByText('this one').waitFor()
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual(['This browser', 'Sessions'])
    visitor.check()
  })
})
