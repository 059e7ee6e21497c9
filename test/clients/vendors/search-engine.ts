/** An engine that answers as SearXNG does: whatever is searched for, it finds one page. */
export const FOUND_URL = 'https://letters.example/ada'

export const ENGINE_PATH = '/searxng'

export const engineAnswer = (query: string): object => ({
  query,
  results: [{ url: FOUND_URL, title: 'Letters of Ada', content: 'All of them.', engine: 'scripted', publishedDate: null }],
  unresponsive_engines: [],
})
