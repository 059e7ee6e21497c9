/** The commands on the pages about the service's tools do what the pages say, with the variables that all pages share. */
import { readFileSync } from 'node:fs'

import { beforeAll, expect, test } from 'bun:test'

import { infer } from '../support/calls.ts'
import { startFakeUpstream } from '../support/fake-upstream.ts'
import { pdfOf } from '../support/pdfs.ts'
import { useServices, type StartedService } from '../support/started-service.ts'

const services = useServices()
const engine = await startFakeUpstream()
let service: StartedService

beforeAll(async () => {
  const found = [{ url: 'https://quokka.example/', title: 'Quokkas', content: 'Ten thousand.' }]
  engine.script((exchange) => exchange.answer(200, JSON.stringify({ query: 'q', results: found })))
  const url = engine.url.slice(0, -'/v1'.length)
  service = await services.start({ config: `tools: { web_search: { engines: { house: { kind: searxng, url: "${url}" } } } }\n` })
})

/** The text with which a command puts a file of the reader into its body. */
const FILE = `'"$(base64 < a.pdf | tr -d '\\n')"'`

const commandsOf = (page: string): readonly (readonly [path: string, body: string])[] => {
  const text = readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), 'utf8').replaceAll(FILE, () =>
    pdfOf(['Invoice 42']).toString('base64'),
  )
  const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block)
  // Tests do not read pages of the open internet.
  const here = blocks.filter((block) => !block.includes('service:web_fetch'))
  return here.map((block) => {
    const [, path = '', body = ''] =
      /^curl "\$PATCHBAY_URL\/api\/v1(\/[^"]+)" -H "Authorization: Bearer \$INFERENCE_KEY" -H 'Content-Type: application\/json'[\s\\]* -d '([^']+)'\n$/.exec(
        block,
      ) ?? []
    return [path, body]
  })
}

const PAGES: Readonly<Record<string, readonly (readonly [path: string, says: readonly string[]])[]>> = {
  'server-tools': [
    ['/chat/completions', ['It is late.', '+09:00']],
    ['/responses', ['It is late.', '+09:00']],
    ['/messages', ['It is late.', '+09:00']],
  ],
  'web-search': [
    ['/chat/completions', ['About ten thousand.', 'https://quokka.example/']],
    ['/chat/completions', ['How many quokkas are there?']],
  ],
  'web-fetch': [['/chat/completions', ['What does it say?', 'Invoice 42']]],
}

test.each(Object.keys(PAGES))('the page %s: each command is answered as it says', async (page) => {
  const commands = commandsOf(page)
  const expected = PAGES[page] ?? []
  expect(commands.map(([path]) => path)).toEqual(expected.map(([path]) => path))
  for (const [index, [path, body]] of commands.entries()) {
    const { status, text } = await infer(service, body, { path })
    expect(status).toBe(200)
    for (const words of expected[index]?.[1] ?? []) expect(text).toContain(words)
  }
})
