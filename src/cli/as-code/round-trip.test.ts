/** Presets through files and back, by way of a running service. */
import { beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { type StartedService, useServices } from '../../../test/support/started-service.ts'
import { createRemote, type Remote } from '../remote.ts'
import { parseFile, renderFile } from './document-file.ts'
import type { Document } from './document.ts'
import type { PushOptions, RemoteObject } from './kind.ts'
import { presetKind } from './preset-kind.ts'

const services = useServices()
let service: StartedService
let remote: Remote

beforeAll(async () => {
  service = await services.start()
  remote = createRemote({ url: service.url, managementKey: service.managementKey })
})

const options: PushOptions = { env: {}, warn: () => undefined, designate: true }

const served = async (slug: string): Promise<RemoteObject | null> =>
  (await presetKind.list(remote)).find(({ identity }) => identity === slug) ?? null

const push = async (document: Document, slug: string) => presetKind.write(remote, document, await served(slug), options)

/** Texts that YAML reads as something else if they are not quoted, and that editors change. */
const hostile = fc.constantFrom(
  'yes',
  'null',
  '~',
  '1.0',
  '0x1f',
  '- a',
  '# no comment',
  'a: b',
  ' lead',
  'trail \n\n',
  '\ttab',
  'two\r\nlines',
  '\u0085\u2028',
  '\uFEFF',
  '2026-11-22',
  '{',
  '&a',
  '*a',
  '!tag',
  '|',
  '>',
  '%YAML',
  '---\nx',
  '...',
  '"',
  "'",
  '\u00e9\ud83d\ude00',
  '${NAME}',
)
const text = fc.oneof(hostile, fc.string({ unit: 'grapheme' })).filter((value) => !value.includes('\0'))

const tool = fc
  .record({
    name: fc.stringMatching(/^[a-z]{1,8}$/),
    description: text,
    properties: fc.dictionary(fc.stringMatching(/^[a-z0-9_]{1,6}$/), fc.record({ type: fc.constant('string'), description: text }), {
      maxKeys: 3,
    }),
  })
  .map(({ name, description, properties }) => ({
    type: 'function',
    function: { name, description, parameters: { type: 'object', properties, required: Object.keys(properties).toReversed() } },
  }))

const body = fc.record(
  {
    model: fc.constant('sandbox/echo'),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }).map((value) => value + 0),
    seed: fc.maxSafeInteger(),
    stop: fc.array(
      text.filter((value) => value !== ''),
      { minLength: 1, maxLength: 3 },
    ),
    tools: fc.uniqueArray(tool, { minLength: 1, maxLength: 2, selector: ({ function: { name } }) => name }),
  },
  { requiredKeys: ['model'] },
)

describe('a preset', () => {
  test('that goes to a file and comes back is the same, for any text, and its file does not change', async () => {
    let count = 0
    await fc.assert(
      fc.asyncProperty(body, fc.option(text), fc.constantFrom('.yaml', '.json'), async (config, systemPrompt, extension) => {
        count += 1
        const slug = `round-${count}`
        const path = `${slug}${extension}`
        const document = presetKind.read({ config: config, system_prompt: systemPrompt }, slug).document
        const first = renderFile(path, document, null)
        expect(presetKind.read(parseFile(path, first), 'other').document).toEqual(document)
        await push(presetKind.read(parseFile(path, first), slug).document, slug)
        const pulled = await served(slug)
        expect(pulled?.document).toEqual(document)
        expect(JSON.stringify(pulled?.document)).toBe(JSON.stringify(document))
        expect(renderFile(path, pulled?.document ?? {}, first)).toBe(first)
      }),
      { numRuns: 40 },
    )
  }, 300_000)

  test('keeps the comments, the order and the spelling of its file, whatever the service changed', () => {
    fc.assert(
      fc.property(fc.option(text), fc.double({ min: 0, max: 2, noNaN: true }), (prompt, temperature) => {
        const before = `# Owned by the support team.
config:
    temperature: 0.2   # calm
    # The cheap one is enough.
    model: "sandbox/echo"
slug: bot
shape: chat
`
        const document: Document = {
          slug: 'bot',
          shape: 'chat',
          ...(prompt === null ? {} : { system_prompt: prompt }),
          config: { model: 'sandbox/echo', temperature: temperature + 0 },
        }
        const after = renderFile('bot.yaml', document, before)
        expect(presetKind.read(parseFile('bot.yaml', after), 'x').document).toEqual(presetKind.read(document, 'x').document)
        for (const kept of ['# Owned by the support team.', '# calm', '# The cheap one is enough.', '"sandbox/echo"'])
          expect(after).toContain(kept)
        expect(after.indexOf('config:')).toBeLessThan(after.indexOf('slug:'))
      }),
    )
  })

  test('every line whose value stays is the same text, however its author spaced and indented it', () => {
    const before = `providers:
    # Ours.
    local: {dialects: [openai-chat], base_url: 'http://127.0.0.1:8000/v1'}   # the big machine

    other:
        dialects: [ openai-chat ]
        base_url:   "https://o.example.com"
log: {format:   json}
media:
    trusted_hosts: [a]
observability:
    trusted_hosts: [ a ]
`
    const dashes = 'cors:\n  origins:\n  - https://a.example.com\n  # ours\n  - https://b.example.com\n'
    for (const text of [before, dashes]) expect(renderFile('patchbay.yaml', parseFile('patchbay.yaml', text), text)).toBe(text)
    const document = parseFile('patchbay.yaml', before)
    const { local, other } = document['providers'] as { readonly local: Document; readonly other: Document }
    const more: Document = {
      ...document,
      providers: { local, other: { ...other, base_url: 'https://new.example.com' }, third: { any_model: true } },
    }
    const after = renderFile('patchbay.yaml', more, before)
    expect(after).toBe(
      before
        .replace('base_url:   "https://o.example.com"', 'base_url: "https://new.example.com"')
        .replace('log:', '    third:\n        any_model: true\nlog:'),
    )
    expect(parseFile('patchbay.yaml', after)).toEqual(more)
  })

  test('of each interface keeps its system prompt, with the blocks that carry more than text', async () => {
    const cached = [{ type: 'text', text: 'Long.', cache_control: { type: 'ephemeral' } }]
    const documents: Document[] = [
      { slug: 'r', shape: 'responses', system_prompt: 'Be brief.', config: { model: 'sandbox/echo' } },
      { slug: 'm', shape: 'messages', system_prompt: 'Be brief.', config: { model: 'sandbox/echo', max_tokens: 10 } },
      { slug: 'mb', shape: 'messages', system_prompt: 'Long.', config: { model: 'sandbox/echo', max_tokens: 10, system: cached } },
      { slug: 'cb', shape: 'chat', system_prompt: 'Long.', config: { model: 'sandbox/echo', system: cached } },
    ]
    for (const document of documents) {
      const { identity: slug } = presetKind.read(document, '')
      await push(document, slug)
      expect((await served(slug))?.document).toEqual(document)
    }
  })
})
