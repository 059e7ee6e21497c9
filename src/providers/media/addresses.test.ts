/** Checks that a model name from a client does not change what the operator's credentials can reach. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { callOf } from '../../../test/support/plans.ts'
import { createModels } from '../../models/models.ts'
import { providerRegistry } from '../registry.ts'
import type { Provider } from '../../models/model.ts'
import { PROVIDER_DIALECTS } from '../../canonical/provider-dialects.ts'

const SENT = new Error('sent')

/** The address of a request for the model, at a provider that serves any name; null if there is no such model. */
const addressFor = async (name: string, dialect: Provider['dialects'][number], stream: boolean): Promise<URL | null> => {
  const provider: Provider = {
    slug: 'p',
    name: 'P',
    dialects: [dialect],
    baseUrl: 'https://upstream.example/base/v1',
    apiKeys: ['k'],
    anyModel: true,
  }
  const found = createModels([], [provider]).find(`p/${name}`)
  const upstreamModel = found?.endpoints[0]?.upstreamModel
  if (upstreamModel === undefined) return null
  let url = ''
  const target = {
    provider: 'p',
    providerName: 'P',
    baseUrl: provider.baseUrl,
    apiKey: 'k',
    modelId: `p/${name}`,
    upstreamModel,
    unlisted: true,
    maxCompletionTokens: null,
  }
  const attempt = { call: callOf({ stream }), target, number: 0, warn: () => {}, connection: new AbortController() }
  const upstream = {
    post: (request: { readonly url: string }) => {
      url = request.url
      return Promise.reject(SENT)
    },
  }
  await providerRegistry
    .adapterFor(dialect)(attempt, { clock: createFakeClock(), upstream }, () => undefined)
    .catch((thrown: unknown) => {
      if (thrown !== SENT) throw thrown
    })
  return new URL(url)
}

const piece = fc.constantFrom(
  '..',
  '.',
  '/',
  '\\',
  '?',
  '#',
  '%2e',
  '%2f',
  '%00',
  '@',
  ':',
  ';',
  '&',
  '=',
  'key=1',
  'a',
  'models',
  '//evil.example',
  ' ',
  '\t',
  '\n',
  '\u200b',
  'é',
  '\ud800',
  'x.y',
  '~',
  '*',
  '(',
)
const names = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(''))

const DIALECTS = PROVIDER_DIALECTS.filter((dialect) => dialect !== 'sandbox')
/** The path that is expected, and the query after it. */
const SHAPES: Readonly<Record<string, (stream: boolean) => readonly [RegExp, string]>> = {
  'openai-chat': () => [/^\/base\/v1\/chat\/completions$/, ''],
  'openai-responses': () => [/^\/base\/v1\/responses$/, ''],
  anthropic: () => [/^\/base\/v1\/messages$/, ''],
  google: (stream) => [
    stream ? /^\/base\/v1\/models\/[^/]+:streamGenerateContent$/ : /^\/base\/v1\/models\/[^/]+:generateContent$/,
    stream ? '?alt=sse' : '',
  ],
  bedrock: (stream) => [stream ? /^\/base\/v1\/model\/[^/]+\/converse-stream$/ : /^\/base\/v1\/model\/[^/]+\/converse$/, ''],
}

test.each(DIALECTS)('%s: no name changes the host, the path, the query or the fragment of a request', async (dialect) => {
  let went = 0
  await fc.assert(
    fc.asyncProperty(names, fc.boolean(), async (name, stream) => {
      const url = await addressFor(name, dialect, stream)
      if (url === null) return
      went += 1
      const [path, search] = SHAPES[dialect]?.(stream) ?? []
      expect([url.origin, url.search, url.hash, url.username]).toEqual(['https://upstream.example', search ?? '', '', ''])
      expect(url.pathname).toMatch(path ?? /^$/)
    }),
    { numRuns: 500 },
  )
  expect(went).toBeGreaterThan(20)
})

test('what a server may read as a path, as a part of an address or as another name is no model', async () => {
  for (const name of ['../../admin/delete', 'a/../b', '..', 'x#', 'x?key=1', 'x%2e', 'a//b', 'x\\y', 'x ', 'x\u200b', 'x\u00a0', '\ud800'])
    expect([name, await addressFor(name, 'google', false)]).toEqual([name, null])
})

test('names of local servers are models: with a slash, a tag, a revision', async () => {
  for (const name of ['llama3:8b', 'hf.co/bartowski/Llama-3.2:Q4_K_M', 'org/model@rev', 'qwen2.5-7b-instruct', 'modèle'])
    expect((await addressFor(name, 'openai-chat', false))?.pathname).toBe('/base/v1/chat/completions')
})
