/** Undo takes back what its person did, and nothing else: no text that was written since is lost, and no change of somebody else is replaced. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { type RunningService, until } from '../../test/support/started-service.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { open } from './going-on.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

let service: RunningService
beforeAll(async () => {
  if (BROWSER_PATH !== null) service = await services.start()
})

const patch = (path: string, body: object): Promise<unknown> => manage(service, path, { method: 'PATCH', body })

describe.skipIf(BROWSER_PATH === null)('a discarded draft that is put back', () => {
  test('after a new text was written is offered in exchange for it: both can be had back', async () => {
    await savePreset(service, 'two-texts-bot', 'Answer politely.')
    const { page, check } = await signedIn(browser, service, '/presets/two-texts-bot')
    const prompt = page.getByLabel('System prompt')
    await prompt.fill('The first text.')
    await page.getByRole('button', { name: 'Discard' }).click()
    const undo = page.getByRole('button', { name: 'Undo' })
    await undo.hover()
    await prompt.fill('The second text.')
    await undo.press('Enter')
    await page.getByText('The draft from v1 of two-texts-bot is back, in place of what was written since.').waitFor()
    expect(await prompt.inputValue()).toBe('The first text.')
    await undo.press('Enter')
    await until(async () => (await prompt.inputValue()) === 'The second text.', 'the second text')
    check()
  })

  test('after its screen was left and opened again is there, and what is written next belongs to it', async () => {
    await savePreset(service, 'left-bot', 'Answer politely.')
    const { page, check } = await signedIn(browser, service, '/presets/left-bot')
    const prompt = page.getByLabel('System prompt')
    await prompt.fill('A text.')
    await page.getByRole('button', { name: 'Discard' }).click()
    const undo = page.getByRole('button', { name: 'Undo' })
    await undo.hover()
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Keys' }).press('Enter')
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
    await page.evaluate('history.back()')
    await prompt.waitFor()
    expect(await prompt.inputValue()).toBe('Answer politely.')
    await undo.press('Enter')
    await page.getByText('Draft from v1 ●').waitFor()
    expect(await prompt.inputValue()).toBe('A text.')
    await prompt.press('Control+End')
    await page.keyboard.type(' More.')
    expect(await prompt.inputValue()).toBe('A text. More.')
    check()
  })
})

describe.skipIf(BROWSER_PATH === null)('a text that another one replaces is offered back, and so is the other one then', () => {
  test('a conversation to try a preset with, by a saved test', async () => {
    await savePreset(service, 'tested-bot', 'Answer politely.')
    const messages = [{ role: 'user', content: 'Where is my parcel?' }]
    await manage(service, '/presets/tested-bot/tests', { body: { name: 'parcel', messages } })
    const { page, check } = await signedIn(browser, service, '/presets/tested-bot')
    const message = page.getByLabel('Message 1', { exact: true })
    await message.fill('A long question.')
    await page.getByRole('button', { name: 'parcel', exact: true }).click()
    await page.getByText('The conversation of the test was replaced.').waitFor()
    await message.fill('Where is my letter?')
    const undo = page.getByRole('button', { name: 'Undo' })
    await undo.press('Enter')
    await until(async () => (await message.inputValue()) === 'A long question.', 'the first text')
    await undo.press('Enter')
    await until(async () => (await message.inputValue()) === 'Where is my letter?', 'the second text')
    check()
  })

  test('what was written in the playground, by a request that is replayed', async () => {
    await manage(service, '/workspaces/default', { method: 'PATCH', body: { is_observability_io_logging_enabled: true } })
    const { id } = await chat(service, { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Asked by a client' }] })
    await until(
      async () => (await manage<{ data: unknown[] }>(service, '/generations?has_content=true')).data.length > 0,
      'the texts of the request',
    )
    const { page, ...visitor } = await signedIn(browser, service, '/playground?model=sandbox/lorem')
    const message = page.getByLabel('Message 1', { exact: true })
    await message.fill('A long question.')
    await page.getByLabel('System prompt').fill('Be kind.')
    await open(page, `/requests/${id}`)
    await page.getByRole('link', { name: 'Replay in playground' }).click()
    await page.getByText('What you wrote here was replaced.').waitFor()
    expect(await message.inputValue()).toBe('Asked by a client')
    await visitor.checkAccessible()
    await page.getByRole('button', { name: 'Undo' }).press('Enter')
    await until(async () => (await message.inputValue()) === 'A long question.', 'the first text')
    expect(await page.getByLabel('System prompt').inputValue()).toBe('Be kind.')
    await page.getByRole('button', { name: 'Undo' }).press('Enter')
    await until(async () => (await message.inputValue()) === 'Asked by a client', 'the request')
    expect(await page.getByLabel('System prompt').inputValue()).toBe('')
    visitor.check()
  })
})

describe.skipIf(BROWSER_PATH === null)('who signs in next', () => {
  test('is not offered to undo what the person before them did', async () => {
    const { data } = await manage<{ data: { hash: string } }>(service, '/keys', { body: { name: 'left key' } })
    const { page, settled, check } = await signedIn(browser, service, `/keys?key=${data.hash}`)
    await page.getByRole('button', { name: 'Actions for left key' }).click()
    await page.getByRole('menuitem', { name: 'Disable' }).click()
    await page.getByRole('button', { name: 'Undo' }).hover()
    await settled()
    await page.locator('.side-foot button').press('Enter')
    await page.getByRole('menuitem', { name: 'Sign out' }).press('Enter')
    await page.getByRole('heading', { name: 'Sign in to Patchbay' }).waitFor()
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
    check()
  })
})

describe.skipIf(BROWSER_PATH === null)('a double click', () => {
  test('undoes one change, though the note about another one comes under the pointer', async () => {
    for (const name of ['first', 'second']) {
      await savePreset(service, 'noted-bot', 'Answer politely.')
      await manage(service, '/presets/noted-bot/tests', { body: { name, messages: [{ role: 'user', content: name }] } })
    }
    const { page, settled, check } = await signedIn(browser, service, '/presets/noted-bot')
    for (const name of ['first', 'second']) {
      await page.getByRole('button', { name: `Delete the test ${name}` }).click()
      await page.getByText(`Deleted the test ${name}.`).waitFor()
    }
    await page.getByRole('button', { name: 'Undo' }).last().dblclick()
    await page.getByRole('button', { name: 'second', exact: true }).waitFor()
    await settled()
    expect(await page.getByRole('list', { name: 'Saved tests' }).getByRole('listitem').count()).toBe(1)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('button', { name: 'first', exact: true }).waitFor()
    check()
  })
})

describe.skipIf(BROWSER_PATH === null)('a third click in a row', () => {
  test('undoes the change whose note the second one found: it is the second on that note', async () => {
    for (const name of ['first', 'second']) {
      await savePreset(service, 'thrice-bot', 'Answer politely.')
      await manage(service, '/presets/thrice-bot/tests', { body: { name, messages: [{ role: 'user', content: name }] } })
    }
    const { page, check } = await signedIn(browser, service, '/presets/thrice-bot')
    for (const name of ['first', 'second']) {
      await page.getByRole('button', { name: `Delete the test ${name}` }).click()
      await page.getByText(`Deleted the test ${name}.`).waitFor()
    }
    await page.getByRole('button', { name: 'Undo' }).last().click({ clickCount: 3 })
    for (const name of ['first', 'second']) await page.getByRole('button', { name, exact: true }).waitFor()
    check()
  })
})

describe.skipIf(BROWSER_PATH === null)('a change that somebody else made after it stays, and the page says so', () => {
  const stays = (what: string): string => `Nothing was undone: ${what} was changed meanwhile.`

  test('a budget that was removed, and another one set since', async () => {
    const put = (limit: number): Promise<unknown> =>
      manage(service, '/workspaces/default/budgets/monthly', { method: 'PUT', body: { limit_usd: limit } })
    await put(100)
    const { page, checkAccessible } = await signedIn(browser, service, '/workspaces')
    await page.getByRole('row').filter({ hasText: '$100.00 a month' }).getByRole('button', { name: 'Remove' }).click()
    await page.getByText('The budget of $100.00 a month is removed.').waitFor()
    await put(40)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText(stays('The budget a month')).waitFor()
    await page.getByRole('rowheader', { name: '$40.00 a month' }).waitFor()
    await checkAccessible()

    await page.getByRole('button', { name: 'Set budget' }).click()
    await page.getByLabel('Limit in dollars').fill('50.12345')
    await page.getByRole('dialog').getByRole('button', { name: 'Set budget' }).click()
    await page.getByText('The workspace may spend $50.12345 a month: in force now.').waitFor()
    await put(60)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('rowheader', { name: '$60.00 a month' }).waitFor()
    await page.getByRole('row').filter({ hasText: '$60.00 a month' }).getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No budget bounds what this workspace spends.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('rowheader', { name: '$60.00 a month' }).waitFor()
  })

  test('the limit of a key', async () => {
    const { data } = await manage<{ data: { hash: string } }>(service, '/keys', { body: { name: 'checkout', limit: 20 } })
    const { page, check } = await signedIn(browser, service, `/keys?key=${data.hash}`)
    await page.getByRole('button', { name: 'Change limit' }).click()
    const dialog = page.getByRole('dialog', { name: 'Limit of checkout' })
    await dialog.getByLabel('Limit in dollars').fill('30.12345')
    await dialog.getByRole('button', { name: 'Save limit' }).click()
    await page.getByText('checkout may spend $30.12345: in force now.').waitFor()
    await patch(`/keys/${data.hash}`, { limit: 5 })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText(stays('The limit of checkout')).waitFor()
    expect(await manage(service, `/keys/${data.hash}`)).toMatchObject({ data: { limit: 5 } })
    check()
  })

  test('a label', async () => {
    for (const system of ['one', 'two', 'three']) await savePreset(service, 'labelled-bot', system)
    await patch('/presets/labelled-bot', { labels: { production: 1 } })
    const { page, expectStatus, check } = await signedIn(browser, service, '/presets/labelled-bot?tab=labels')
    // There is no rollout.
    expectStatus(404)
    await page.getByLabel('Version of production').selectOption('2')
    await page.getByText('production is v2 now.').waitFor()
    await patch('/presets/labelled-bot', { labels: { production: 3 } })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText(stays('The label production')).waitFor()
    expect(await manage(service, '/presets/labelled-bot')).toMatchObject({ data: { labels: { production: 3 } } })
    check()
  })

  test('a version that was saved between the reading of the preset and the change', async () => {
    for (const system of ['one', 'two']) await savePreset(service, 'raced-bot', system)
    await patch('/presets/raced-bot', { designated_version: 1 })
    const { page, expectStatus, check } = await signedIn(browser, service, '/presets/raced-bot?version=2')
    expectStatus(412)
    await page.getByRole('button', { name: 'Put live…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Put v2 live' }).click()
    await page.getByText('v2 of raced-bot is live now').waitFor()
    await page.route('**/presets/raced-bot*', async (route) => {
      if (route.request().method() === 'PATCH') await savePreset(service, 'raced-bot', 'three')
      await route.continue()
    })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText(stays('raced-bot')).waitFor()
    expect(await manage(service, '/presets/raced-bot')).toMatchObject({ data: { designated_version: { version: 3 } } })
    check()
  })

  test.each([
    ['the version that is live', { designated_version: 1 }, 1],
    ['a rollout that was started since', null, 3],
  ])('%s', async (what, theirs, live) => {
    const slug = theirs === null ? 'shared-bot' : 'live-bot'
    for (const system of ['one', 'two', 'three']) await savePreset(service, slug, system)
    await patch(`/presets/${slug}`, { designated_version: 2 })
    const { page, expectStatus, check } = await signedIn(browser, service, `/presets/${slug}?version=3`)
    expectStatus(404)
    await page.getByRole('button', { name: 'Put live…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Put v3 live' }).click()
    await page.getByText(`v3 of ${slug} is live now`).waitFor()
    if (theirs === null) {
      const splits = [
        { version: 3, weight: 90 },
        { version: 1, weight: 10 },
      ]
      await manage(service, `/presets/${slug}/rollout`, { method: 'PUT', body: { splits } })
    } else await patch(`/presets/${slug}`, theirs)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText(stays(slug)).waitFor()
    const { data } = await manage<{ data: { designated_version: { version: number }; summary: { splits: unknown } } }>(
      service,
      `/presets/${slug}?include=summary`,
    )
    expect([what, data.designated_version.version, data.summary.splits === null]).toEqual([what, live, theirs !== null])
    check()
  })
})
