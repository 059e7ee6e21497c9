/**
 * A real browser in front of a real service. Every page that a test opens is watched: an error on the console, a policy report, a request
 * to another origin, or an unexpected 4xx or 5xx response fails the test.
 */
import { afterAll, afterEach, expect } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Request,
  type Response,
  type ViewportSize,
} from 'playwright-core'

import { patient } from '../../test/support/patience.ts'
import { until } from '../../test/support/started-service.ts'
import { leave, noteDocuments } from './going-on.ts'

/** The headless shell uses a third less CPU, so it is tried first. */
const PLACES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Null if there is none: tests with a browser are then skipped, except in CI, which installs one. */
export const BROWSER_PATH: string | null = process.env['CHROME_PATH'] ?? PLACES.find((path) => existsSync(path)) ?? null

if (BROWSER_PATH === null && process.env['CI'] !== undefined)
  throw new Error('CI tests the dashboard in Chromium: install it, or name it in CHROME_PATH.')

export interface Visitor {
  readonly page: Page
  /** Responses with these statuses are expected. */
  expectStatus(...statuses: readonly number[]): void
  /** The page may also go to this origin: the identity provider, or an application. */
  expectOrigin(origin: string): void
  /** From now on the browser's messages about failed requests are expected, since the test stops the service. */
  expectOutage(): void
  /** Throws if something unexpected has happened on the page so far. */
  check(): void
  /** Waits until the page shows the answers to all that it has asked for. */
  settled(): Promise<void>
  /** Presses Tab until the element with this accessible name has the focus; throws if none has the name. */
  tabTo(name: string | RegExp): Promise<void>
  /** Checks that there is no violation of WCAG 2.2 AA, in the light and the dark theme. */
  checkAccessible(): Promise<void>
}

/** Options that a context has from its creation and cannot change. */
type ContextOptions = Pick<BrowserContextOptions, 'deviceScaleFactor' | 'ignoreHTTPSErrors' | 'timezoneId'>

interface VisitOptions extends ContextOptions {
  readonly viewport?: ViewportSize
  readonly permissions?: readonly string[]
  /** The test changes the page permanently, for example its clock, so no other test may use the page. */
  readonly alone?: boolean
  /** False in a test of what the page loads before it is needed. */
  readonly savesData?: boolean
  /** Comes to the address from the sign-in page of its service, in the document that is there. Without it, the address is loaded. */
  enter?(page: Page): Promise<void>
  /** Returns what the page's local storage holds when the address is loaded. */
  remembered?(page: Page): Promise<Readonly<Record<string, string>>>
  /** Sets the page up before it sends any request. */
  before?(page: Page): Promise<void>
}

/**
 * One browser for all test files, and two pages that the tests use one after the other, since a renderer and its caches cost more than most
 * tests. They keep what they show until the next visit, since a blank page between them would end the renderer. A test that needs more of its
 * page than a size and permissions, and the second visit in a test, get a page of their own.
 */
export const useBrowser = (): { visit(url: string, options?: VisitOptions): Promise<Visitor> } => {
  const contexts: BrowserContext[] = []
  let taken: SharedPage | null = null
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
    if (taken !== null) await releasePage(taken)
    taken = null
  })
  afterAll(() => {
    if (opened !== null) closing = setTimeout(() => void closeBrowser(), BETWEEN_FILES_MS)
  })
  const ownPage = async (options: ContextOptions, savesData: boolean): Promise<Page> => {
    const context = await newContext(await openBrowser(), options)
    contexts.push(context)
    return newPage(context, savesData)
  }
  return {
    async visit(
      url,
      { alone = false, savesData = true, enter, remembered, before, viewport = VIEWPORT, permissions = [], ...options } = {},
    ) {
      const { origin } = new URL(url)
      const isOwn = alone || !savesData || before !== undefined || taken !== null || Object.keys(options).length > 0
      const kept = isOwn ? null : await sharedPage(origin)
      taken ??= kept
      const page = kept?.page ?? (await ownPage(options, savesData))
      const goOn = kept?.leftOrigin === origin ? enter : undefined
      if (kept !== null) kept.leftOrigin = null
      await page.setViewportSize(viewport)
      await page.context().grantPermissions(permissions)
      await page.context().clearCookies()
      const storage = goOn === undefined ? ((await remembered?.(page)) ?? {}) : {}
      const visitor = watch(page, origin, documentedBelow(prefixOf(url)))
      await before?.(page)
      await (goOn === undefined ? openAnew(page, url, storage) : goOn(page))
      return visitor
    },
  }
}

const VIEWPORT: ViewportSize = { width: 1280, height: 800 }

const newContext = async (browser: Browser, options: ContextOptions): Promise<BrowserContext> => {
  const context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: 'reduce', ...options })
  context.setDefaultTimeout(patient(2500))
  return context
}

let opened: Promise<Browser> | null = null
let closing: ReturnType<typeof setTimeout> | undefined

interface SharedPage {
  readonly page: Page
  /** The service whose sign-in page it shows, with nothing left of the visit before; null if it shows something else. */
  leftOrigin: string | null
}

/** Two, as tests take turns with the service of their file and one of their own. They have one context; the last used is the first. */
let shared: readonly SharedPage[] = []
const SHARED_MAX = 2

/** One that shows this service already, one whose document is of no use any more, a new one, or that which was not used for longest. */
const sharedPage = async (origin: string): Promise<SharedPage> => {
  const browser = await openBrowser()
  const chosen =
    shared.find(({ leftOrigin }) => leftOrigin === origin) ??
    shared.find(({ leftOrigin }) => leftOrigin === null) ??
    (shared.length < SHARED_MAX ? await newSharedPage(browser) : shared.at(-1)!)
  const others = shared.filter((one) => one !== chosen)
  shared = [chosen, ...others]
  // Nothing is asked by a page that no test watches.
  for (const { page } of others.filter(({ leftOrigin }) => leftOrigin === null)) await page.goto('about:blank')
  return chosen
}

const newSharedPage = async (browser: Browser): Promise<SharedPage> => {
  const page = await newPage(shared[0]?.page.context() ?? (await newContext(browser, {})), true)
  await noteDocuments(page)
  return { page, leftOrigin: null }
}

/** A browser that saves data loads no screens in advance, which would cost more than the screens that a test opens. */
const newPage = async (context: BrowserContext, savesData: boolean): Promise<Page> => {
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  await devtools.send('Emulation.setDataSaverOverride', { dataSaverEnabled: savesData })
  return page
}

/** Events that a test may have listened to on its page. */
const HEARD = [
  'console',
  'dialog',
  'download',
  'framenavigated',
  'pageerror',
  'popup',
  'request',
  'requestfailed',
  'requestfinished',
  'response',
] as const

/** Storage belongs to an origin, so the new document sets its own before any script of the page runs. */
const openAnew = async (page: Page, url: string, storage: Readonly<Record<string, string>>): Promise<void> => {
  const devtools = await page.context().newCDPSession(page)
  // Without it the script does not run.
  await devtools.send('Page.enable')
  const items = Object.entries(storage).map((item) => `localStorage.setItem(...${JSON.stringify(item)})`)
  const source = ['localStorage.clear()', 'sessionStorage.clear()', ...items].join('\n')
  // If only the fragment differed from the page's last address, it would not be loaded anew.
  if (new URL(url).hash !== '') await page.goto('about:blank')
  const { identifier } = await devtools.send('Page.addScriptToEvaluateOnNewDocument', { source })
  await page.goto(url)
  await devtools.send('Page.removeScriptToEvaluateOnNewDocument', { identifier })
  await devtools.detach()
}

/** Takes from the shared page what the test added to it. */
const releasePage = async (released: SharedPage): Promise<void> => {
  const { page } = released
  for (const name of HEARD) page.removeAllListeners(name)
  if (page.isClosed() || !page.context().browser()?.isConnected()) {
    shared = shared.filter((one) => one !== released)
    return
  }
  const context = page.context()
  const kept = new Set(shared.map((one) => one.page))
  await Promise.all(
    context
      .pages()
      .filter((other) => !kept.has(other))
      .map((other) => other.close()),
  )
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  // Outside the page, since a pointer that rests on a row triggers prefetching.
  await page.mouse.move(-1, -1)
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce', media: null, forcedColors: null })
  await context.clearPermissions()
  released.leftOrigin = (await leave(page)) ? new URL(page.url()).origin : null
}

/** The browser stays open between test files, since starting it costs two seconds of CPU. After the last file it ends with its process. */
const BETWEEN_FILES_MS = 20_000

const openBrowser = async (): Promise<Browser> => {
  clearTimeout(closing)
  if (opened !== null && !(await opened).isConnected()) await closeBrowser()
  opened ??= chromium.launch({ executablePath: BROWSER_PATH ?? '', args: FLAGS })
  return opened
}

const closeBrowser = async (): Promise<void> => {
  const last = opened
  opened = null
  shared = []
  await (await last)?.close()
}

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Says whether the service documents a call, so that programs can do what the page does. */
type IsDocumented = (method: string, path: string) => boolean

/** A separate program, since it imports code with the types of the service's runtime, and these tests have the browser's. */
const LISTING = spawnSync(process.execPath, [join(import.meta.dir, '../../test/support/programs/documented-calls.ts')], {
  encoding: 'utf8',
})

/**
 * Listed once for all services, since describing the routes takes a quarter of a second. A service that lacks one of them answers 404,
 * which fails the test too.
 */
const DOCUMENTED = (JSON.parse(LISTING.stdout) as readonly (readonly [string, string])[]).map(([method, path]) => ({
  method,
  pattern: new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+')}$`),
}))

/** The path of the service, which has a prefix if a proxy adds one. */
const prefixOf = (url: string): string => new URL(url).pathname.replace(/\/(?:dashboard|auth)(?:\/.*)?$/, '').replace(/\/$/, '')

const documentedBelow =
  (prefix: string): IsDocumented =>
  (method, path) => {
    if (!path.startsWith(`${prefix}/`)) return false
    const own = path.slice(prefix.length)
    // The files of the page are not calls of the API.
    return own.startsWith('/dashboard') || DOCUMENTED.some((call) => call.method === method && call.pattern.test(own))
  }

const watch = (page: Page, origin: string, isDocumented: IsDocumented): Visitor => {
  const faults: string[] = []
  const refused: { readonly status: number; readonly what: string }[] = []
  const expected = new Set<number>()
  /** Reads that were put off and not answered since, with their times. */
  const putOff = new Map<string, number>()
  const origins = new Set([origin])
  const underWay = new Set<Request>()
  let outage = false
  // Until the address is opened, the page of an earlier test goes on.
  page.once('framenavigated', () => void (faults.length = refused.length = 0))
  page.on('console', (message) => {
    const text = message.text()
    // The browser's own message about a response; the status is checked below.
    if (message.type() !== 'error' || text.startsWith('Failed to load resource')) return
    faults.push(`console: ${text}`)
  })
  page.on('pageerror', (error) => faults.push(`thrown: ${error.message}`))
  page.on('request', (request) => {
    underWay.add(request)
    const url = request.url()
    const { pathname } = new URL(url)
    if (url.startsWith(`${origin}/`) && !isDocumented(request.method(), pathname))
      faults.push(`request that openapi.json does not name: ${request.method()} ${pathname}`)
    if (![...origins].some((own) => url.startsWith(`${own}/`)) && !url.startsWith('data:') && !url.startsWith('blob:'))
      faults.push(`request to another origin: ${url}`)
  })
  page.on('response', (response) => {
    const [status, method] = [response.status(), response.request().method()]
    const call = `${method} ${new URL(response.url()).pathname}`
    if (isPutOff(response)) putOff.set(call, performance.now())
    else putOff.delete(call)
    if (status >= 400 && !isPutOff(response)) refused.push({ status, what: `${method} ${response.url()}` })
  })
  // A screen that is left asks for nothing any more.
  page.on('framenavigated', () => putOff.clear())
  page.on('requestfinished', (request) => underWay.delete(request))
  page.on('requestfailed', (request) => {
    underWay.delete(request)
    const reason = request.failure()?.errorText ?? ''
    if (!outage && reason !== 'net::ERR_ABORTED') faults.push(`${reason} of ${request.url()}`)
  })
  const check = (): void => {
    const unexpected = refused.filter(({ status }) => !expected.has(status)).map(({ status, what }) => `${status} of ${what}`)
    const left = [...putOff].filter(([, sinceMs]) => performance.now() - sinceMs > ASKED_AGAIN_MS).map(([call]) => `503 of ${call} alone`)
    expect([...faults, ...unexpected, ...left]).toEqual([])
  }
  return {
    page,
    expectStatus: (...statuses) => statuses.forEach((status) => expected.add(status)),
    expectOrigin: (other) => void origins.add(other),
    expectOutage: () => (outage = true),
    check,
    async settled() {
      do {
        await until(() => underWay.size === 0, 'all answers', patient(5000))
        await page.evaluate(SHOWN)
      } while (underWay.size > 0)
    },
    async tabTo(name) {
      for (let presses = 0; presses < TABS_MAX; presses += 1) {
        await page.keyboard.press('Tab')
        const focused: string = await page.evaluate(FOCUSED_NAME)
        if (typeof name === 'string' ? focused === name : name.test(focused)) return
      }
      throw new Error(`No ${TABS_MAX} presses of Tab lead to ${name}.`)
    },
    async checkAccessible() {
      check()
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
      const looks = await page.evaluate(MARK_NEW_LOOKS, [...seenLooks])
      expect(await violationsOf(page, looks.length === 0 ? EVERY_RULE_BUT_OF_COLOURS : EVERY_RULE)).toEqual([])
      if (looks.length === 0) return
      await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
      expect({ dark: await violationsOf(page, RULES_OF_COLOURS) }).toEqual({ dark: [] })
      for (const look of looks) seenLooks.add(look)
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
    },
  }
}

/** On a busy machine the service may put a read off, and the page must ask again by itself. */
const isPutOff = (response: Response): boolean =>
  response.status() === 503 && response.request().method() === 'GET' && response.headers()['retry-after'] !== undefined

/** The page asks again after a second or two; the answer may take a busy machine some seconds more. */
const ASKED_AGAIN_MS = patient(1500)

/** By then the answers are shown, and the page has asked for what it needs because of them. */
const SHOWN = `new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(shown))))`

const TABS_MAX = 120

/** The label of the focused element, its own name, or its text. */
const FOCUSED_NAME = `(() => {
  const element = document.activeElement
  const label = element?.getAttribute('aria-label') ?? element?.labels?.[0]?.textContent ?? null
  const words = [...(element?.childNodes ?? [])].filter((node) => !(node instanceof Element && node.getAttribute('aria-hidden') === 'true'))
  return (label ?? words.map((node) => node.textContent).join('')).trim()
})()`

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

/** The theme changes only colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']
const RULES_OF_COLOURS = { runOnly: { type: 'rule', values: COLOUR_RULES } }
const EVERY_RULE = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }
const EVERY_RULE_BUT_OF_COLOURS = { ...EVERY_RULE, rules: Object.fromEntries(COLOUR_RULES.map((rule) => [rule, { enabled: false }])) }

/**
 * The rules of colours take most of the time, and say the same of all texts that look alike, as those of a hundred rows do: their elements
 * have the same colours, and the elements around them the same classes, states and backgrounds. One text of each look is checked, once.
 */
const seenLooks = new Set<string>()

/** Marks a text of each look that is not among the given ones, and returns their looks, as hashes. */
const MARK_NEW_LOOKS = (seen: readonly string[]): readonly string[] => {
  const looks = new Set(seen)
  const hashOf = (words: readonly unknown[]): string => {
    let [one, other] = [7, 11]
    for (const letter of words.join(' ')) {
      const code = letter.codePointAt(0) ?? 0
      one = Math.imul(one ^ code, 2_654_435_761)
      other = Math.imul(other ^ code, 1_597_334_677)
    }
    return `${one}/${other}`
  }
  const STATES = ['aria-disabled', 'aria-selected', 'aria-pressed', 'aria-invalid', 'data-highlighted', 'disabled']
  const around = new Map<Element, string>()
  const lookOf = (element: Element | null): string => {
    if (element === null) return ''
    const known = around.get(element)
    if (known !== undefined) return known
    const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element)
    const states = STATES.map((name) => element.getAttribute(name))
    const own = [element.tagName, element.getAttribute('class'), ...states, backgroundColor, backgroundImage, opacity]
    const look = hashOf([lookOf(element.parentElement), ...own])
    around.set(element, look)
    return look
  }
  const fresh: string[] = []
  for (const element of document.body.querySelectorAll('*')) {
    element.removeAttribute('data-new-look')
    const hasText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && (node.textContent ?? '').trim() !== '')
    if (!(hasText || element.matches('input, select, textarea')) || !element.checkVisibility()) continue
    const { color, fontSize, fontWeight } = getComputedStyle(element)
    const look = hashOf([lookOf(element), color, fontSize, fontWeight, element.matches(':placeholder-shown')])
    if (looks.has(look)) continue
    looks.add(look)
    fresh.push(look)
    element.setAttribute('data-new-look', '')
  }
  return fresh
}

/** With the rules of colours for the texts of new looks alone. */
const AXE = `${readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')}
axe.configure({
  rules: [
    { id: 'color-contrast', selector: '[data-new-look], [data-new-look] *' },
    { id: 'link-in-text-block', selector: '${['a[href]', '[role=link]'].map((link) => `${link}[data-new-look], [data-new-look] ${link}`).join(', ')}' },
  ],
})`

type Rules = typeof EVERY_RULE | typeof RULES_OF_COLOURS

/** Runs through the browser's protocol, to which the page's own policy does not apply. */
const violationsOf = async (page: Page, rules: Rules): Promise<readonly string[]> => {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE)
  const options = JSON.stringify({ ...rules, resultTypes: ['violations'], ...ONLY_WHAT_IS_SHOWN })
  const violations = await page.evaluate(`axe.run(document, ${options}).then(({ violations }) => violations)`)
  return (violations as readonly Violation[]).flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
  )
}

/**
 * The rules do not read style sheets, the page has no frames, and a failure is identified by its markup, so computing selectors for all
 * passing elements would be wasted.
 */
const ONLY_WHAT_IS_SHOWN = { selectors: false, preload: false, iframes: false }
