/**
 * Makes the pictures of docs/images: each screen in the light and the dark theme, with invented data.
 * `bin/bun test ./dashboard/test/pictures.ts`
 */
import { Database } from 'bun:sqlite'
import { test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import { useBrowser } from './browser.ts'
import { chat, manage, savePreset } from './calls.ts'
import { countHours } from './count-hours.ts'
import { signedIn } from './signed-in.ts'

const IMAGES = join(import.meta.dirname, '../../docs/images')

const services = useHostedServices()
const browser = useBrowser()

const REQUESTS = 120

test('pictures', async () => {
  mkdirSync(IMAGES, { recursive: true })
  const first = await services.start()
  await savePreset(first, 'support-bot', 'You answer politely.', { 'x-preset-note': 'the first' })
  await savePreset(first, 'support-bot', 'You answer politely and briefly.', { 'x-preset-note': 'shorter' })
  await savePreset(first, 'support-bot', 'You answer politely, briefly, and cite the article that you used.', {
    'x-preset-note': 'cite the article',
  })
  await savePreset(first, 'classifier', 'Name the category of the message.')
  await manage(first, '/presets/support-bot', { method: 'PATCH', body: { labels: { production: 2, staging: 3 } } })
  for (const [name, limit] of [
    ['checkout', 20],
    ['search-team', 50],
    ['ada laptop', 10],
  ] as const) {
    await manage(first, '/keys', { body: { name, limit, limit_reset: 'monthly' } })
  }
  for (let number = 0; number < REQUESTS; number += 1) {
    await chat(first, {
      model: number % 12 === 5 ? 'sandbox/error/provider_overloaded' : number % 3 === 0 ? 'sandbox/lorem' : '@preset/support-bot',
      ...(number % 12 === 5 ? { models: ['sandbox/error/rate_limit_exceeded'] } : {}),
    })
  }
  await first.stop()
  makeUp(first.dataDir)
  const service = { ...(await services.start({ dataDir: first.dataDir })), managementKey: first.managementKey }
  const { data: failed } = await manage<{ data: { id: string }[] }>(service, '/generations?status=error&limit=1')
  const screens: readonly (readonly [string, string])[] = [
    ['overview', ''],
    ['requests', '/requests'],
    ['request', `/requests/${failed[0]?.id}`],
    ['presets', '/presets'],
    ['preset', '/presets/support-bot'],
    ['preset-history', '/presets/support-bot?tab=history'],
    ['playground', '/playground?model=sandbox/lorem&columns=2&model2=@preset/support-bot'],
    ['models', '/models'],
    ['keys', '/keys'],
    ['spend', '/spend'],
    ['guardrails', '/guardrails'],
    ['setup', '/setup'],
    ['workspaces', '/workspaces'],
    ['audit', '/audit'],
    ['settings', '/settings'],
  ]
  const { page, settled } = await signedIn(browser, service, '', { viewport: { width: 1280, height: 700 } })
  for (const [name, path] of screens) {
    await page.goto(`${service.url}/dashboard${path}`)
    // On a busy machine the screen's script has not run yet, so there is no skeleton either.
    await page.getByRole('main').getByRole('heading', { level: 1 }).first().waitFor()
    await settled()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    await settled()
    if (name === 'playground') {
      await page.getByLabel('Message 1', { exact: true }).fill('Where is my parcel?')
      await page.keyboard.press('Control+Enter')
      await page
        .getByText(/\d+ → \d+ tokens/)
        .nth(1)
        .waitFor()
      await page.waitForTimeout(500)
    }
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.screenshot({ path: join(IMAGES, `${name}-${colorScheme}.png`) })
    }
  }
}, 300_000)

/** Spreads the requests over a day, and gives them well-known models and prices. */
const makeUp = (dataDir: string): void => {
  const database = new Database(join(dataDir, 'patchbay.db'))
  const rows = database.query('select id, record, error_type from generations order by created_at').all() as {
    id: string
    record: string
    error_type: string | null
  }[]
  const change = database.query(
    'update generations set created_at = ?, ended_at = ?, model = ?, provider = ?, cost_nanos = ?, first_token_ms = ?, total_ms = ?, tokens_prompt = ?, tokens_completion = ?, key_hash = ?, record = ? where id = ?',
  )
  const keys = (
    database.query(`select hash from api_keys where name in ('checkout', 'search-team', 'ada laptop')`).all() as { hash: string }[]
  ).map(({ hash }) => hash)
  const models = [
    ['anthropic/claude-sonnet-5', 'anthropic', 'Anthropic'],
    ['openai/gpt-5.4', 'openai', 'OpenAI'],
    ['google/gemini-3-pro', 'google', 'Google'],
  ] as const
  const now = Date.now()
  rows.forEach(({ id, record, error_type: fault }, index) => {
    const [model, provider, name] = models[fault === null ? [0, 0, 2, 0, 1][index % 5]! : 1]!
    const at = new Date(now - ((rows.length - index) / rows.length) ** 1.4 * 86_000_000 - (index % 7) * 61_000).toISOString()
    const [prompt, completion] = [420 + ((index * 37) % 900), fault === null ? 80 + ((index * 53) % 400) : 0]
    const cost = fault === null ? prompt * 3000 + completion * 15_000 : 0
    const [firstMs, totalMs] = [280 + ((index * 29) % 300), 900 + ((index * 71) % 2400)]
    const read = JSON.parse(record) as Record<string, unknown> & { provider_responses: Record<string, unknown>[] | null }
    const attempts = (read.provider_responses ?? []).map((attempt, number) => ({
      ...attempt,
      provider_name: number === 0 ? name : 'Azure',
      started_ms: number * 420,
      latency: number === 0 ? 380 : 611,
      message: typeof attempt['message'] === 'string' ? attempt['message'].replace('Sandbox: ', '') : null,
    }))
    const { error } = read as { error?: { message: string } | null }
    const made = {
      ...read,
      created_at: at,
      model,
      provider_name: name,
      total_cost: cost / 1e9,
      usage: cost / 1e9,
      tokens_prompt: prompt,
      tokens_completion: completion,
      native_tokens_prompt: prompt,
      native_tokens_completion: completion,
      latency: fault === null ? firstMs : null,
      generation_time: totalMs,
      provider_responses: attempts,
      ...(error ? { error: { message: error.message.replace('Sandbox: ', ''), provider_name: 'Azure' } } : {}),
    }
    change.run(
      at,
      at,
      model,
      provider,
      cost,
      fault === null ? firstMs : null,
      totalMs,
      prompt,
      completion,
      keys[index % 5 === 0 ? 1 : index % 7 === 0 ? 2 : 0] ?? '',
      JSON.stringify(made),
      id,
    )
  })
  countHours(database)
  database.close()
}
