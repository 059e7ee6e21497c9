/** A lost answer, and a second press of the button: the service has created one object, and the page goes on as after a first answer. */
import { beforeAll, describe, expect, test } from 'bun:test'

import type { Page } from 'playwright-core'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { callAs, chat, manage, savePreset } from './calls.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

/** The service does what the next POST to this path asks for, and its answer does not arrive. Returns the keys of all POSTs to it. */
const loseNextAnswer = async (page: Page, path: string): Promise<readonly (string | undefined)[]> => {
  const keys: (string | undefined)[] = []
  await page.route(
    (url) => url.pathname === `/api/v1${path}`,
    async (route) => {
      const request = route.request()
      if (request.method() !== 'POST' || request.postDataJSON()?.dry_run === true) return route.continue()
      keys.push(request.headers()['idempotency-key'])
      if (keys.length > 1) return route.continue()
      await route.fetch()
      return route.abort()
    },
  )
  return keys
}

const LOST = 'This may have been done all the same: if you repeat it unchanged, it is done only once.'

describe.skipIf(BROWSER_PATH === null)('if the answer to a new object is lost, a second press creates no second one', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await services.start()
    await savePreset(service, 'tried-bot', 'Answer briefly.')
  })

  const named = async (path: string, name: string): Promise<number> => {
    const { data } = await manage<{ data: readonly { name: string | null }[] }>(service, path)
    return data.filter((one) => one.name === name).length
  }

  test('a key, which is shown after all; a changed form is another attempt, and so is the next key of this name', async () => {
    const { page, expectOutage, check } = await signedIn(browser, service, '/keys')
    expectOutage()
    const keys = await loseNextAnswer(page, '/keys')
    const dialog = page.getByRole('dialog', { name: 'New key' })
    const open = (): Promise<void> => page.getByRole('button', { name: 'New key' }).click()
    const create = (): Promise<void> => dialog.getByRole('button', { name: 'Create' }).click()
    const isShown = async (name: string): Promise<void> => {
      const made = page.getByRole('dialog', { name: `${name} is ready` })
      await made.waitFor()
      await page.keyboard.press('Escape')
      await page.keyboard.press('Escape')
      await made.waitFor({ state: 'detached' })
    }
    await open()
    await dialog.getByLabel('Name').fill('laptop')
    await create()
    await dialog.getByText(LOST).waitFor()
    await dialog.getByLabel('Name').fill('desktop')
    await create()
    await isShown('desktop')
    await open()
    await dialog.getByLabel('Name').fill('laptop')
    await create()
    await isShown('laptop')
    expect(await named('/keys', 'laptop')).toBe(1)
    await open()
    await dialog.getByLabel('Name').fill('laptop')
    await create()
    await isShown('laptop')
    expect(await named('/keys', 'laptop')).toBe(2)
    const [lost, other, again, next] = keys
    expect({ again, keys: new Set([lost, other, next]).size }).toEqual({ again: lost, keys: 3 })
    check()
  })

  test('a key that was revoked meanwhile is not read or shown again: the next one is new', async () => {
    const { page, expectOutage, check } = await signedIn(browser, service, '/keys')
    expectOutage()
    await loseNextAnswer(page, '/keys')
    const dialog = page.getByRole('dialog', { name: 'New key' })
    const create = async (): Promise<void> => {
      await page.getByRole('button', { name: 'New key' }).click()
      await dialog.getByLabel('Name').fill('leaked')
      await dialog.getByRole('button', { name: 'Create' }).click()
    }
    await create()
    await dialog.getByText(LOST).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'leaked' }).click()
    await page.getByRole('button', { name: 'Actions for leaked' }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    const confirm = page.getByRole('dialog', { name: 'Revoke leaked' })
    await confirm.getByLabel('Type leaked to confirm').fill('leaked')
    await confirm.getByRole('button', { name: 'Revoke leaked' }).click()
    await page.getByText('leaked is revoked').waitFor()
    await create()
    await page.getByRole('dialog', { name: 'leaked is ready' }).waitFor()
    expect(await named('/keys?status=active', 'leaked')).toBe(1)
    check()
  })

  test('a new secret of a key, and the grace of the one before goes on', async () => {
    const { key, data } = await manage<{ key: string; data: { hash: string } }>(service, '/keys', { body: { name: 'rotated' } })
    const { page, expectOutage, check } = await signedIn(browser, service, `/keys?key=${data.hash}`)
    expectOutage()
    await page.getByRole('button', { name: 'Actions for rotated' }).click()
    await page.getByRole('menuitem', { name: 'Rotate' }).click()
    const dialog = page.getByRole('dialog', { name: 'Rotate rotated' })
    await loseNextAnswer(page, `/keys/${data.hash}/rotate`)
    await dialog.getByRole('button', { name: 'Rotate' }).click()
    await dialog.getByText(LOST).waitFor()
    await dialog.getByRole('button', { name: 'Rotate' }).click()
    const made = page.getByRole('dialog', { name: 'rotated has a new key' })
    const shown = /pb_\S+/.exec(await made.innerText())?.[0] ?? ''
    for (const secret of [key, shown]) expect((await callAs(secret)(`${service.api}/key`, {})).status).toBe(200)
    expect(shown).not.toBe(key)
    check()
  })

  test('a guardrail, a workspace, an invite link and a saved test', async () => {
    const { page, expectOutage, check } = await signedIn(browser, service, '/guardrails')
    expectOutage()
    const twice = async (path: string, dialog: string, fields: Readonly<Record<string, string>>, action: string): Promise<void> => {
      const [first, second] = [await loseNextAnswer(page, path), page.getByRole('dialog', { name: dialog })]
      for (const [label, text] of Object.entries(fields)) await second.getByLabel(label, { exact: true }).fill(text)
      const press = second.getByRole('button', { name: action })
      await press.click()
      await second.getByText(LOST).waitFor()
      await press.click()
      await second.waitFor({ state: 'detached' })
      expect(first).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), first[0]])
    }
    await page.getByRole('button', { name: 'New guardrail' }).first().click()
    await twice('/guardrails', 'New guardrail', { Name: 'numbers' }, 'Create')
    expect(await named('/guardrails', 'numbers')).toBe(1)

    await page.goto(`${service.url}/dashboard/workspaces`)
    await page.getByRole('button', { name: 'New workspace' }).click()
    await twice('/workspaces', 'New workspace', { Name: 'Twice' }, 'Create')
    expect(await named('/workspaces', 'Twice')).toBe(1)

    await page.getByRole('button', { name: 'Invite link' }).first().click()
    await twice('/login-links', 'Invite link', { Person: 'ada' }, 'Create link')
    await page.getByRole('dialog', { name: 'Link for ada' }).waitFor()
    const links = '/audit-log?action=login_link_created&object_id=ada'
    expect((await manage<{ data: unknown[] }>(service, links)).data).toHaveLength(1)

    await page.goto(`${service.url}/dashboard/presets/tried-bot`)
    await page.getByLabel('Message 1', { exact: true }).fill('Where is my parcel?')
    const keys = await loseNextAnswer(page, '/presets/tried-bot/tests')
    await page.getByLabel('Name of the test').fill('parcel')
    await page.getByRole('button', { name: 'Save as test' }).click()
    await page.getByText(LOST).waitFor()
    await page.getByRole('button', { name: 'Save as test' }).click()
    await page.getByRole('list', { name: 'Saved tests' }).getByText('parcel').waitFor()
    expect(await named('/presets/tried-bot/tests', 'parcel')).toBe(1)
    expect(keys[1]).toBe(keys[0])
    check()
  })

  test('a preset, a draft of it, one made from a request, and an evaluation', async () => {
    const { id } = await chat(service, { model: 'sandbox/echo' })
    const { page, expectOutage, expectStatus, check } = await signedIn(browser, service, '/presets')
    expectOutage()
    // The dialog asks whether there is such a preset.
    expectStatus(404)
    const versionsOf = async (slug: string): Promise<number> =>
      (await manage<{ data: unknown[] }>(service, `/presets/${slug}/versions`)).data.length
    await page
      .getByRole('button', { name: /^New preset/ })
      .first()
      .click()
    await page.getByRole('menuitem', { name: /body/ }).click()
    const dialog = page.getByRole('dialog', { name: 'New preset' })
    await dialog.getByLabel('Slug').fill('twice-bot')
    await loseNextAnswer(page, '/presets/twice-bot/chat/completions')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText(LOST).waitFor()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Created twice-bot. It is live now.').waitFor()
    expect(await versionsOf('twice-bot')).toBe(1)
    await page.unrouteAll()

    await page.getByLabel('System prompt').fill('Answer at length.')
    await loseNextAnswer(page, '/presets/twice-bot/chat/completions')
    await page.getByRole('button', { name: 'Save draft as v2' }).click()
    await page.getByText(LOST).waitFor()
    await page.getByRole('button', { name: /^Save draft/ }).click()
    await page.getByText('Saved twice-bot as v2, a draft').waitFor()
    expect(await versionsOf('twice-bot')).toBe(2)

    await page.goto(`${service.url}/dashboard/requests/${id}`)
    await page.getByRole('button', { name: 'Make a preset' }).click()
    const from = page.getByRole('dialog')
    await from.getByLabel('Slug').fill('from-bot')
    await loseNextAnswer(page, '/presets/from-bot/from-generation')
    await from.getByRole('button', { name: /preset|Create|Make/ }).click()
    await from.getByText(LOST).waitFor()
    await from.getByRole('button', { name: /preset|Create|Make/ }).click()
    await page.getByText('Created from-bot. It is live now.').waitFor()
    expect(await versionsOf('from-bot')).toBe(1)

    await page.goto(`${service.url}/dashboard/presets/tried-bot?tab=evaluations`)
    await manage(service, '/presets/tried-bot/tests', { body: { name: 'hi', messages: [{ role: 'user', content: 'Hi' }] } })
    await page.getByRole('button', { name: 'New evaluation' }).click()
    const evaluation = page.getByRole('dialog', { name: 'New evaluation of tried-bot' })
    await evaluation.getByLabel('Text').fill('Hi')
    await evaluation.getByLabel('Name').fill('twice')
    await loseNextAnswer(page, '/presets/tried-bot/evaluations')
    await evaluation.getByRole('button', { name: 'Start' }).click()
    await evaluation.getByText(LOST).waitFor()
    await evaluation.getByRole('button', { name: 'Start' }).click()
    await evaluation.waitFor({ state: 'detached' })
    expect(await named('/presets/tried-bot/evaluations', 'twice')).toBe(1)
    check()
  })
})
