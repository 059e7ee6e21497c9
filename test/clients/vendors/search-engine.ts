/** A search engine with SearXNG's protocol, which finds the same page for every query. */
export const FOUND_URL = 'https://letters.example/ada'

export const ENGINE_PATH = '/searxng'

export const engineAnswer = (query: string): object => ({
  query,
  results: [{ url: FOUND_URL, title: 'Letters of Ada', content: 'All of them.', engine: 'scripted', publishedDate: null }],
  unresponsive_engines: [],
})
