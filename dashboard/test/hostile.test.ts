import { describe, expect, test } from 'bun:test'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { BROWSER_PATH, useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { open } from './going-on.ts'
import { signedIn } from './signed-in.ts'

const services = useHostedServices()
const browser = useBrowser()

/** Each would set `hit` or load something if a text became markup, an address or code. */
const HOSTILE = [
  '<img src=x onerror="hit=1">',
  '"><script>hit=1</script>',
  "';hit=1;//",
  'javascript:hit=1',
  '{{constructor.constructor("hit=1")()}}',
  '<svg/onload=hit=1>',
  '</textarea><iframe srcdoc="<script>parent.hit=1</script>">',
  '[x](javascript:hit=1)',
  '\u202e\u0000gnp.<b>'.replace('\u0000', ''),
]
const ALL = HOSTILE.join(' ')
/** Names and notes may not hold characters that reorder text. */
const NAMED = ALL.replaceAll('\u202e', '')

const SCREENS = [
  '',
  '/requests',
  '/presets',
  '/playground',
  '/models',
  '/keys',
  '/spend',
  '/guardrails',
  '/setup',
  '/workspaces',
  '/audit',
  '/settings',
]

describe.skipIf(BROWSER_PATH === null)('texts of clients, people and providers', () => {
  test('are text on every screen, whatever stands in them', async () => {
    const service = await services.start()
    await savePreset(service, 'hostile', ALL)
    await savePreset(service, 'hostile', `${ALL} twice`, { 'x-preset-note': encodeURIComponent(NAMED) })
    await manage(service, '/presets/hostile', { method: 'PATCH', body: { name: NAMED.slice(0, 200), description: ALL } })
    const { data: key } = await manage<{ data: { hash: string } }>(service, '/keys', {
      body: { name: NAMED.slice(0, 200), external: { user: ALL.slice(0, 400) } },
    })
    await manage(service, '/workspaces', { body: { name: HOSTILE[0]!.slice(0, 100), slug: 'hostile', description: ALL.slice(0, 500) } })
    const requests = await Promise.all([
      chat(
        service,
        { model: '@preset/hostile', session_id: ALL.slice(0, 200) },
        { 'user-agent': 'agent <img src=x onerror=hit=1>', 'http-referer': 'https://a.example/<script>hit=1</script>' },
      ),
      chat(service, { model: 'sandbox/error/provider_overloaded', messages: [{ role: 'user', content: ALL }] }),
      chat(service, { model: `sandbox/${HOSTILE[0]}` }),
    ])
    const { page, expectStatus, check, settled } = await signedIn(browser, service)
    // As ids in an address they are invalid, and the service says so.
    expectStatus(400, 404)
    let dialogs = 0
    page.on('dialog', (dialog) => {
      dialogs += 1
      void dialog.dismiss()
    })
    const screens = [
      ...SCREENS,
      ...requests.filter(({ id }) => id !== '').flatMap(({ id }) => [`/requests/${id}`, `/requests/${id}?tab=raw`]),
      ...['edit', 'history', 'labels', 'used', 'settings'].map((tab) => `/presets/hostile?tab=${tab}`),
      `/keys?key=${key.hash}`,
      `/requests?q=${encodeURIComponent(NAMED)}`,
      `/playground?model=${encodeURIComponent(NAMED)}`,
      `/presets?q=${encodeURIComponent(NAMED)}`,
    ]
    // The service answers an address, too.
    const addresses = [`/presets?q=${encodeURIComponent(NAMED)}`, `/${encodeURIComponent(NAMED)}`, `/requests/${encodeURIComponent(NAMED)}`]
    const isText = async (path: string): Promise<void> => {
      await page.locator('#content').waitFor()
      await settled()
      expect({ path, hit: await page.evaluate('typeof hit'), frames: page.frames().length }).toEqual({ path, hit: 'undefined', frames: 1 })
    }
    for (const path of screens) {
      await open(page, path)
      await isText(path)
    }
    for (const path of addresses) {
      await page.goto(`${service.url}/dashboard${path}`)
      await isText(path)
    }
    expect(dialogs).toBe(0)
    // It is visible as plain text.
    await open(page, '/presets/hostile')
    expect(await page.getByLabel('System prompt').inputValue()).toContain(HOSTILE[6]!)
    // A character that reverses the text around it is shown by its code point before somebody puts it live.
    await open(page, '/presets/hostile?tab=history')
    await page.locator('.diff-text .unseen', { hasText: 'U+202E' }).first().waitFor()
    check()
  })
})
