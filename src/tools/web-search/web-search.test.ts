/** Tests every engine over a real socket, with answers in its own format. */
import { createHmac } from 'node:crypto'

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { systemClock, type Clock } from '../../lib/clock.ts'
import type { Exchange, Script } from '../../../test/support/fake-upstream.ts'
import { startFakeUpstream } from '../../../test/support/fake-upstream.ts'
import { toolCaller, toolTurn } from '../../../test/support/tool-turn.ts'
import { isExcludedBy, isInDomains, normalDomain } from '../domains.ts'
import { plainText } from '../outside-text.ts'
import type { ToolTurn } from '../tool.ts'
import type { KindName } from './engine-kinds.ts'
import { createSearchEngines } from './search-engines.ts'
import { prefersNative, webSearchSettings } from './settings.ts'
import { webSearchTool } from './web-search.ts'

const first = await startFakeUpstream()
const second = await startFakeUpstream()
const base = ({ url }: { readonly url: string }): string => url.slice(0, -'/v1'.length)

/** The requested waits, none of which actually waits. */
const waits: number[] = []
const clock: Clock = {
  now: () => 1_700_000_000_000,
  monotonicMs: () => systemClock.monotonicMs(),
  after(delayMs, task) {
    if (delayMs > 5000) return systemClock.after(delayMs, task)
    waits.push(delayMs)
    return systemClock.after(0, task)
  },
}

const turn = (signal = new AbortController().signal): ToolTurn => toolTurn({ signal })
const NOBODY = toolCaller()

const toolWith = (settings: unknown, parameters: Readonly<Record<string, unknown>> = {}) =>
  webSearchTool(createSearchEngines(webSearchSettings.parse(settings), clock))(
    { tool: 'web_search', askedAs: 'service:web_search', at: 'tools[0]', parameters: parameters as never },
    NOBODY,
  )

const engine = (kind: KindName, more: Readonly<Record<string, unknown>> = {}) => ({
  engines: { one: { kind, url: base(first), api_key: 'key-123', ...more } },
})

interface Row {
  readonly title: string
  readonly url: string
  readonly content: string
  readonly published: string | null
}

const resultsIn = (value: unknown): readonly Row[] => (value as { readonly results: readonly Row[] }).results

const queryOf = ({ path }: Exchange): Readonly<Record<string, string>> => Object.fromEntries(new URL(path, 'http://x').searchParams)
const pathOf = ({ path }: Exchange): string => path.split('?')[0] ?? ''

const answering =
  (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Script =>
  (exchange) =>
    exchange.answer(status, typeof body === 'string' ? body : JSON.stringify(body), headers)

/** Results in the form of SearXNG. */
const pages = (count: number, host = 'example.com'): unknown => ({
  query: 'q',
  number_of_results: 0,
  results: Array.from({ length: count }, (_, index) => ({
    url: `https://${host}/${index}`,
    title: `Page ${index}`,
    content: `Text ${index}`,
    engine: 'duckduckgo',
    parsed_url: ['https', host, `/${index}`, '', '', ''],
    score: 1,
    category: 'general',
    publishedDate: null,
  })),
  answers: [],
  suggestions: [],
  unresponsive_engines: [],
})

const LOCATION = { type: 'approximate', country: 'DE', city: 'Berlin' }
const PAGE = 'https://example.com/a'

interface KindCase {
  readonly kind: KindName
  readonly parameters?: Readonly<Record<string, unknown>>
  readonly answer: unknown
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The query of a GET, or the body of a POST. */
  readonly sent: Readonly<Record<string, unknown>>
  readonly row: Row
}

const KINDS: readonly KindCase[] = [
  {
    kind: 'searxng',
    parameters: { user_location: LOCATION, allowed_domains: ['example.com'] },
    answer: { query: 'q', results: [{ url: PAGE, title: 'A', content: 'Text.', engine: 'bing', publishedDate: '2026-01-02T00:00:00' }] },
    path: '/search',
    headers: { authorization: 'Bearer key-123' },
    sent: { q: 'what is new site:example.com', format: 'json', language: 'de-DE' },
    row: { title: 'A', url: PAGE, content: 'Text.', published: '2026-01-02T00:00:00' },
  },
  {
    kind: 'brave',
    parameters: { user_location: LOCATION },
    answer: {
      type: 'search',
      query: { original: 'what is new' },
      web: {
        type: 'search',
        results: [{ title: 'A', url: PAGE, description: 'Text.', page_age: '2026-01-02T00:00:00', extra_snippets: ['More.'] }],
      },
    },
    path: '/res/v1/web/search',
    headers: { 'x-subscription-token': 'key-123' },
    sent: { q: 'what is new', count: '5', result_filter: 'web', text_decorations: 'false', extra_snippets: 'true', country: 'DE' },
    row: { title: 'A', url: PAGE, content: 'Text.\nMore.', published: '2026-01-02T00:00:00' },
  },
  {
    kind: 'tavily',
    parameters: { allowed_domains: ['example.com'], excluded_domains: ['b.example.com'] },
    answer: {
      query: 'q',
      answer: null,
      images: [],
      results: [{ title: 'A', url: PAGE, content: 'Text.', score: 0.9, raw_content: null }],
      response_time: 1,
    },
    path: '/search',
    headers: { authorization: 'Bearer key-123' },
    sent: {
      query: 'what is new',
      max_results: 5,
      search_depth: 'basic',
      include_domains: ['example.com'],
      exclude_domains: ['b.example.com'],
    },
    row: { title: 'A', url: PAGE, content: 'Text.', published: null },
  },
  {
    kind: 'exa',
    parameters: { mode: 'deep', max_characters: 2000, user_location: LOCATION, excluded_domains: ['b.org'] },
    answer: {
      requestId: 'r',
      results: [
        {
          id: PAGE,
          title: 'A',
          url: PAGE,
          publishedDate: '2026-01-02',
          author: null,
          highlights: ['One.', 'Two.'],
          highlightScores: [1, 0.5],
        },
      ],
    },
    path: '/search',
    headers: { 'x-api-key': 'key-123' },
    sent: {
      query: 'what is new',
      type: 'deep',
      numResults: 5,
      contents: { highlights: { maxCharacters: 2000 } },
      userLocation: 'DE',
      excludeDomains: ['b.org'],
    },
    row: { title: 'A', url: PAGE, content: 'One.\nTwo.', published: '2026-01-02' },
  },
  {
    kind: 'firecrawl',
    parameters: { search_context_size: 'high', user_location: LOCATION },
    answer: { success: true, data: { web: [{ url: PAGE, title: 'A', description: 'Short.', position: 1, markdown: '# Long' }] } },
    path: '/v2/search',
    headers: { authorization: 'Bearer key-123' },
    sent: { query: 'what is new', limit: 5, country: 'DE', scrapeOptions: { formats: ['markdown'], onlyMainContent: true } },
    row: { title: 'A', url: PAGE, content: '# Long', published: null },
  },
  {
    kind: 'perplexity',
    parameters: { excluded_domains: ['b.org'], user_location: LOCATION },
    answer: { id: 'x', results: [{ title: 'A', url: PAGE, snippet: 'Text.', date: '2026-01-02', last_updated: '2026-02-02' }] },
    path: '/search',
    headers: { authorization: 'Bearer key-123' },
    sent: { query: 'what is new', max_results: 5, max_tokens_per_page: 1000, country: 'DE', search_domain_filter: ['-b.org'] },
    row: { title: 'A', url: PAGE, content: 'Text.', published: '2026-01-02' },
  },
  {
    kind: 'http',
    parameters: { allowed_domains: ['example.com'], user_location: LOCATION },
    answer: { results: [{ title: 'A', url: PAGE, content: 'Text.', published: 'today' }] },
    path: '/',
    headers: {},
    sent: {
      query: 'what is new',
      max_results: 5,
      allowed_domains: ['example.com'],
      excluded_domains: [],
      user_location: { type: 'approximate', city: 'Berlin', region: null, country: 'DE', timezone: null },
    },
    row: { title: 'A', url: PAGE, content: 'Text.', published: 'today' },
  },
]

describe('engines', () => {
  test.each(KINDS)('$kind is asked and read in its own words', async ({ kind, parameters, answer, path, headers, sent, row }) => {
    first.script(answering(answer))
    const result = await toolWith(engine(kind), parameters).run({ query: ' what is\nnew ' }, turn())
    expect(result).toMatchObject({ fault: null, engine: 'one', sources: [{ url: PAGE, title: 'A' }], partlyShown: true })
    expect(result.value).toEqual({ query: 'what is new', untrusted: true, results: [{ ...row }] })
    expect(pathOf(first.last)).toBe(path)
    expect(first.last.headers).toMatchObject(headers)
    expect(first.last.text === '' ? queryOf(first.last) : first.last.body).toEqual(sent as never)
  })

  test('a service of your own is asked with a signature over the second and the body, and never with the secret', async () => {
    first.script(answering({ results: [] }))
    await toolWith(engine('http')).run({ query: 'q' }, turn())
    const { headers, text } = first.last
    expect(headers['x-patchbay-signature']).toBe(
      `t=1700000000,v1=${createHmac('sha256', 'key-123').update(`1700000000.${text}`).digest('hex')}`,
    )
    expect(JSON.stringify(headers)).not.toContain('key-123')
  })

  test.each(KINDS)('$kind: nothing found is a result, and an answer of another form a failure', async ({ kind }) => {
    first.script(answering(kind === 'brave' ? { type: 'search' } : kind === 'firecrawl' ? { data: {} } : { results: [] }))
    expect(await toolWith(engine(kind)).run({ query: 'q' }, turn())).toMatchObject({ fault: null, value: { results: [] } })
    for (const hostile of ['<html>', '[]', '7', '{"results":7,"web":{"results":7},"data":{"web":7}}']) {
      first.script(answering(hostile))
      expect((await toolWith(engine(kind)).run({ query: 'q' }, turn())).fault).toEqual({
        code: 'unavailable',
        message: 'The search engine one gave an answer that cannot be read.',
      })
    }
  })
})

describe('options', () => {
  test('as many results as the client wants of those that an engine gives, and as much of each', async () => {
    first.script(answering(pages(20)))
    const rows = resultsIn((await toolWith(engine('searxng'), { max_results: 3, max_characters: 4 }).run({ query: 'q' }, turn())).value)
    expect(rows.map(({ content }) => content)).toEqual(['Text', 'Text', 'Text'])
  })

  test('Brave is sent fifty words at most, which is all that it takes', async () => {
    const asked = async (count: number, domains: readonly string[] = []): Promise<string> => {
      first.script(answering({ web: { results: [] } }))
      const query = Array.from({ length: count }, (_, index) => `w${index}`).join(' ')
      await toolWith(engine('brave'), { allowed_domains: [...domains] }).run({ query }, turn())
      return new URL(first.last.path, 'http://x').searchParams.get('q') ?? ''
    }
    expect((await asked(80)).split(' ')).toHaveLength(50)
    expect(await asked(3, ['a.org'])).toBe('w0 w1 w2 site:a.org')
    const many = Array.from({ length: 24 }, (_, index) => `a${index}.org`)
    expect(await asked(6, many)).toBe('w0 w1 w2 w3 w4 w5')
  })

  test('an engine is asked for no more than it gives, and for all of it where its answer is filtered here', async () => {
    first.script(answering({ web: { results: [] } }))
    await toolWith(engine('brave'), { max_results: 25 }).run({ query: 'q' }, turn())
    expect(queryOf(first.last)['count']).toBe('20')
    await toolWith(engine('brave'), { max_results: 2, excluded_domains: ['b.org'] }).run({ query: 'q' }, turn())
    expect(queryOf(first.last)).toMatchObject({ count: '20', q: 'q -site:b.org' })
  })

  test('domains are filtered on the borders of labels, whatever the engine made of them', async () => {
    const urls = [
      'https://example.com/',
      'https://docs.example.com/x',
      'https://notexample.com/',
      'https://example.com.evil.org/',
      'https://bad.example.com/',
    ]
    first.script(answering({ results: urls.map((url) => ({ url, title: '', content: '' })) }))
    const options = { allowed_domains: ['https://*.Example.com/'], blocked_domains: ['bad.example.com'] }
    const rows = resultsIn((await toolWith(engine('searxng'), options).run({ query: 'q' }, turn())).value)
    expect(rows.map(({ url }) => url)).toEqual(urls.slice(0, 2))
  })

  test('all searches of a request together give as many results as the client allows', async () => {
    first.script(answering(pages(20)))
    const tool = toolWith(engine('searxng'), { max_results: 5, max_total_results: 7 })
    const counts = []
    for (let search = 0; search < 2; search += 1) counts.push(resultsIn((await tool.run({ query: 'q' }, turn())).value).length)
    expect(counts).toEqual([5, 2])
    const third = await tool.run({ query: 'q' }, turn())
    expect(third.fault?.code).toBe('max_uses_exceeded')
    expect(third.value['message']).toContain('No more searches')
  })

  test('searches that run at once share both limits', async () => {
    first.script(answering(pages(20)))
    const before = first.exchanges.length
    const tool = toolWith(engine('searxng'), { max_results: 5, max_total_results: 7, max_uses: 2 })
    const results = await Promise.all([1, 2, 3].map(() => tool.run({ query: 'q' }, turn())))
    expect(results.map(({ sources = [] }) => sources.length)).toEqual([5, 2, 0])
    expect(first.exchanges.length - before).toBe(2)
  })

  test.each([
    [{ max_results: 26 }, 'tools[0].parameters.max_results'],
    [{ max_results: 0 }, 'tools[0].parameters.max_results'],
    [{ max_characters: 100_001 }, 'tools[0].parameters.max_characters'],
    [{ allowed_domains: ['a b'] }, 'tools[0].parameters.allowed_domains[0]'],
    [{ search_context_size: 'huge' }, 'tools[0].parameters.search_context_size'],
  ])('%j is refused by its place', (parameters, path) => {
    expect(() => toolWith(engine('searxng'), parameters)).toThrow(path)
  })

  test('without an engine the request is refused with the setting that is missing, and so is an engine that is not there', () => {
    expect(() => toolWith({})).toThrow(/service:web_search cannot run: .*tools\.web_search\.engines/)
    expect(() => toolWith(engine('searxng'), { engine: 'exa' })).toThrow(
      /"exa" is not configured \(tools\.web_search\.engines\); there are one/,
    )
    expect(() => toolWith({ ...engine('searxng'), enabled: false })).toThrow('tools.web_search.engines')
  })

  test('an engine is chosen by its name, or by its kind', async () => {
    first.script(answering(pages(1)))
    const settings = { engines: { house: { kind: 'searxng', url: base(first) }, exa: { kind: 'http', url: base(second) } } }
    second.script(answering({ results: [] }))
    for (const [name, engineName] of [
      ['house', 'house'],
      ['searxng', 'house'],
      ['exa', 'exa'],
    ] as const) {
      expect((await toolWith(settings, { engine: name }).run({ query: 'q' }, turn())).engine).toBe(engineName)
    }
  })

  test.each([
    [{}, 'invalid_tool_input'],
    [{ query: ' \n' }, 'invalid_tool_input'],
    [{ query: 7 }, 'invalid_tool_input'],
    [{ query: 'x'.repeat(401) }, 'query_too_long'],
  ])('%j is not searched for: %s', async (input, code) => {
    const before = first.exchanges.length
    expect((await toolWith(engine('searxng')).run(input as never, turn())).fault?.code).toBe(code as never)
    expect(first.exchanges).toHaveLength(before)
  })
})

describe('engines that fail', () => {
  const both = {
    engines: {
      one: { kind: 'searxng', url: base(first), price_per_request: 0.1 },
      two: { kind: 'searxng', url: base(second), price_per_request: 0.01, price_per_extra_result: 0.001 },
    },
  }

  test('429 is tried once more after the time that it asks for, then the next engine is asked, and only that one is paid', async () => {
    waits.length = 0
    first.script(answering('', 429, { 'retry-after': '2' }))
    second.script(answering(pages(12)))
    const asked = [first.exchanges.length, second.exchanges.length] as const
    const result = await toolWith(both).run({ query: 'q' }, turn())
    expect(result).toMatchObject({ fault: null, engine: 'two', feeNanos: 12_000_000 })
    expect([first.exchanges.length - asked[0], second.exchanges.length - asked[1]]).toEqual([2, 1])
    expect(waits).toEqual([2000])
  })

  test('a wait that is longer than the time of an engine is not waited for', async () => {
    first.script(answering('', 429, { 'retry-after': '60' }))
    second.script(answering(pages(1)))
    const before = first.exchanges.length
    expect((await toolWith(both).run({ query: 'q' }, turn())).engine).toBe('two')
    expect(first.exchanges.length - before).toBe(1)
  })

  test('a second try that succeeds is the answer', async () => {
    let tries = 0
    first.script((exchange) => (++tries === 1 ? exchange.answer(503, '') : exchange.answer(200, JSON.stringify(pages(1)))))
    expect(await toolWith(both).run({ query: 'q' }, turn())).toMatchObject({ engine: 'one', feeNanos: 100_000_000 })
    first.script((exchange) => (++tries === 3 ? exchange.reset() : exchange.answer(200, JSON.stringify(pages(1)))))
    expect((await toolWith(both).run({ query: 'q' }, turn())).engine).toBe('one')
  })

  test('SearXNG without JSON is 403: the next engine is asked, and without one the result names its setting', async () => {
    first.script(answering('Forbidden', 403))
    second.script(answering(pages(1)))
    expect((await toolWith(both).run({ query: 'q' }, turn())).engine).toBe('two')
    const alone = await toolWith(engine('searxng')).run({ query: 'q' }, turn())
    expect(alone.fault).toEqual({
      code: 'unavailable',
      message: 'The search engine one answered 403 (its settings.yml must have json among search.formats).',
    })
    expect([alone.feeNanos ?? 0, alone.engine]).toEqual([0, 'one'])
  })

  test('two engines are asked for one search, and no more', async () => {
    first.script(answering('', 400))
    second.script(answering('', 401))
    const third = { kind: 'searxng', url: base(first) }
    const before = first.exchanges.length
    const { fault } = await toolWith({ engines: { ...both.engines, three: third } }).run({ query: 'q' }, turn())
    expect(fault?.message).toBe('The search engine one answered 400. The search engine two answered 401.')
    expect(first.exchanges.length - before).toBe(1)
  })

  test('an answer without end is not read to its end', async () => {
    first.script(async ({ head, piece, gone }) => {
      await head(200, { 'content-type': 'application/json' })
      let over = false
      void gone.then(() => (over = true))
      while (!over) await piece(' '.repeat(65_536))
    })
    second.script(answering(pages(1)))
    expect((await toolWith(both).run({ query: 'q' }, turn())).engine).toBe('two')
  })

  test('a client that leaves ends the search', async () => {
    const leaving = new AbortController()
    first.script(() => leaving.abort(new Error('gone')))
    const thrown = await toolWith(both)
      .run({ query: 'q' }, turn(leaving.signal))
      .catch((reason: unknown) => reason)
    expect(thrown).toEqual(new Error('gone'))
    await first.last.gone
  })
})

describe('what engines say is hostile', () => {
  test('addresses that are none are left out, and hidden characters and comments with them', async () => {
    const urls = [
      'javascript:alert(1)',
      'file:///etc/passwd',
      'https://user:pw@example.com/',
      'nonsense',
      `https://example.com/${'x'.repeat(3000)}`,
      PAGE,
    ]
    const title = 'a\u200bb\u202ec\u{e0041}d<!-- obey -->e'
    first.script(answering({ results: [null, 7, ...urls.map((url) => ({ url, title, content: { text: 'x' } }))] }))
    const rows = resultsIn((await toolWith(engine('searxng')).run({ query: 'q' }, turn())).value)
    expect(rows).toEqual([{ title: 'abcde', url: PAGE, content: '', published: null }])
  })

  test('whatever an engine answers, the result is bounded and of its form', async () => {
    const member = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 50 }),
      fc.integer(),
      fc.constant(null),
      fc.constant(PAGE),
      fc.dictionary(fc.string(), fc.jsonValue()),
    )
    const row = fc.record({ url: member, title: member, content: member, publishedDate: member })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(row, fc.jsonValue()), { maxLength: 30 }), async (results) => {
        first.script(answering({ results }))
        const { fault, value } = await toolWith(engine('searxng'), { max_characters: 10 }).run({ query: 'q' }, turn())
        expect(fault).toBeNull()
        for (const { title, url, content, published } of resultsIn(value)) {
          expect([typeof title, typeof url, typeof content]).toEqual(['string', 'string', 'string'])
          expect(content.length).toBeLessThanOrEqual(10)
          expect(content.isWellFormed()).toBe(true)
          expect(published === null || typeof published === 'string').toBe(true)
          expect(URL.canParse(url)).toBe(true)
        }
        expect(resultsIn(value).length).toBeLessThanOrEqual(5)
      }),
      { numRuns: 60 },
    )
  })

  test('comments are left out in linear time', () => {
    expect(plainText(`a${'<!--'.repeat(200_000)}`)).toBe('a')
    expect(plainText('a<!-- b -->c<!---->d<!--')).toBe('acd')
  })

  test('a name is in a domain exactly where it is the domain or ends in a dot and the domain', () => {
    const label = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/)
    const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'))
    fc.assert(
      fc.property(name, name, (host, domain) => {
        const expected = host.split('.').slice(-domain.split('.').length).join('.') === domain
        expect(isInDomains(new URL(`https://${host}/`), [normalDomain(domain) ?? ''])).toBe(expected)
      }),
    )
    expect(isInDomains(new URL('https://example.com/docs/a'), ['example.com/docs'])).toBe(true)
    expect(isInDomains(new URL('https://example.com/docsx'), ['example.com/docs'])).toBe(false)
    // The same host to a resolver, so an excluded one may not be asked by this name.
    expect(isInDomains(new URL('https://www.example.com./'), ['example.com'])).toBe(true)
  })

  test.each(['/docs', '/docs/a', '/%64ocs', '//docs', '/a/%2e%2e/docs', '/a%2f..%2fdocs/b', '/%5cdocs'])(
    'a path that a server may read as one that is excluded is excluded: %s',
    (path) => {
      expect(isExcludedBy(new URL(`https://example.com${path}`), ['example.com/docs'])).toBe(true)
      expect(isExcludedBy(new URL(`https://example.org${path}`), ['example.com/docs'])).toBe(false)
    },
  )

  test.each(['/docsx', '/a/docs', '/%'])('another path is not: %s', (path) => {
    expect(isExcludedBy(new URL(`https://example.com${path}`), ['example.com/docs'])).toBe(false)
  })
})

describe('settings', () => {
  test('a search that is switched off comes after that of providers, whatever the order says', () => {
    const settings = { order: ['one', 'native'], ...engine('searxng') }
    expect(prefersNative(webSearchSettings.parse(settings))).toBe(false)
    expect(prefersNative(webSearchSettings.parse({ ...settings, enabled: false }))).toBe(true)
  })

  test.each([
    [{ engines: { a: { kind: 'searxng' } } }, 'has no address of its own'],
    [{ engines: { a: { kind: 'brave' } } }, 'asks for a key'],
    [{ engines: { native: { kind: 'brave', api_key: 'k' } } }, 'a meaning of their own'],
    [{ order: ['native', 'b'], engines: {} }, 'name of one of the engines'],
    [{ engines: { a: { kind: 'brave', api_key: 'k', price: 1 } } }, 'price'],
  ])('%j is refused', (settings, words) => {
    expect(webSearchSettings.safeParse(settings).error?.message).toContain(words)
  })
})
