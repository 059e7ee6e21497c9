import { createHash } from 'node:crypto'

import { describe, expect, test } from 'bun:test'
import { z } from 'zod'

import type { JsonObject } from '../lib/json/json.ts'
import { openapiDocument as describing } from '../http/openapi/openapi.ts'
import { describedMounts } from '../compose/described-routes.test-kit.ts'
import { REFERENCE_PAGE_POLICY, referencePage } from './reference-page.ts'
import { curlCommand } from './code-view.ts'
import { readDocument } from './document-reader.ts'
import { entriesOf, objectAt } from './read-json.ts'
import { atOnce } from '../lib/steps.ts'

const openapiDocument = (...given: Parameters<typeof describing>): JsonObject => atOnce(describing(...given))

const document = openapiDocument(await describedMounts(), { version: '1.2.3' })
const page = atOnce(referencePage(document))

const all = (pattern: RegExp, text = page): string[] => [...text.matchAll(pattern)].map(([, found]) => found ?? '')

const VOID = new Set(['meta', 'link', 'wbr', 'br', 'img'])

/** Finds tags that are still open when another one is closed. */
const unbalanced = (html: string): string[] => {
  const open: string[] = []
  const faults: string[] = []
  for (const [tag, closing, name = ''] of html
    .replace(/<style>.*?<\/style>/s, '')
    .matchAll(/<(\/?)([a-zA-Z][\w-]*)(?:[^>"']|"[^"]*"|'[^']*')*>/g)) {
    if (VOID.has(name) || tag.endsWith('/>')) continue
    if (closing === '') open.push(name)
    else if (open.pop() !== name) faults.push(tag)
  }
  return [...faults, ...open]
}

describe('the page of the real routes', () => {
  test('has every operation and every schema, each once', () => {
    const ids = all(/ id="([^"]+)"/g)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { operations } of readDocument(document).groups) for (const { id } of operations) expect(ids).toContain(`op-${id}`)
    for (const [name] of entriesOf(objectAt(objectAt(document, 'components'), 'schemas'))) expect(ids).toContain(`schema-${name}`)
  })

  test('every link within it leads somewhere', () => {
    const ids = new Set(all(/ id="([^"]+)"/g))
    expect(all(/href="#([^"]+)"/g).filter((target) => !ids.has(target))).toEqual([])
  })

  test('its tags are balanced', () => {
    expect(unbalanced(page)).toEqual([])
  })

  test('loads nothing and runs nothing', () => {
    expect(all(/<(script|img|iframe|object|embed|video|audio|base|form)\b/gi)).toEqual([])
    expect(all(/<[^>]*\s((?:src|srcset|action|style|on\w+)=)/gi)).toEqual([])
    expect(all(/<[^>]*\shref="([^"#][^"]*)"/g).filter((target) => !target.startsWith('data:image/svg+xml,'))).toEqual(['openapi.json'])
    expect(all(/<style>(.*?)<\/style>/gs).join('')).not.toMatch(/url\(|@import/)
  })

  test('its policy allows its style sheet by hash', () => {
    const hash = createHash('sha256')
      .update(all(/<style>(.*?)<\/style>/gs)[0]!)
      .digest('base64')
    expect(REFERENCE_PAGE_POLICY).toContain(`'sha256-${hash}'`)
  })

  test('a body that one operation takes is described there, with its sentence, and once', () => {
    const [, operation = ''] = /id="op-updateWorkspace"(.*?)<\/article>/s.exec(page) ?? []
    expect(operation).toContain(' id="schema-UpdateWorkspaceBody"')
    expect(operation).toContain('Absent fields stay as they are; null clears.')
    const [, schemas = ''] = page.split(' id="schemas"')
    expect(schemas).toContain('href="#schema-UpdateWorkspaceBody"')
    expect(schemas).not.toContain('<section class="schema" id="schema-UpdateWorkspaceBody"')
  })

  test('calls no field required that only answers hold', () => {
    const section = (name: string): string => new RegExp(`id="schema-${name}"(.*?)</section>`, 's').exec(page)?.[1] ?? ''
    expect(section('Generation')).toContain('total_cost')
    expect(section('Generation')).not.toContain('required')
    expect(section('EmbeddingsRequest')).toContain('required')
  })

  test('says beside each field what it is, though its schema has a name and null stands beside it', () => {
    const [, body = ''] = /id="schema-CreateWorkspaceBody"(.*?)<\/section>/s.exec(page) ?? []
    expect(body).toMatch(/<dfn>io_logging_api_key_ids<\/dfn>.{0,200}<p>Hashes of the keys/s)
  })

  test('is made in a step for each operation and each schema, between which other requests get their turn', () => {
    expect([...referencePage(document)].length).toBeGreaterThan(page.match(/<section class="schema"/g)?.length ?? Infinity)
  })

  test('is smaller than 1.5 MB', () => {
    expect(Buffer.byteLength(page)).toBeLessThan(1_500_000)
  })
})

describe('hostile text', () => {
  const HOSTILE = `"><script>alert(1)</script><img src=x onerror='alert(1)'> \`</code><b>\` &lt;`

  const hostileDocument = (): JsonObject =>
    openapiDocument(
      [
        {
          base: '',
          routes: [
            {
              method: 'POST',
              path: `/x"><script>/:id`,
              operation: HOSTILE,
              summary: HOSTILE,
              tag: 'Service',
              policy: 'management',
              surface: 'management',
              params: { id: z.string().meta({ description: HOSTILE, examples: [HOSTILE] }) },
              query: {
                [HOSTILE]: z
                  .string()
                  .regex(/<script>/)
                  .meta({ examples: [`it's $(x)`] }),
              },
              body: z.object({ [HOSTILE]: z.enum([HOSTILE, 'b']).default(HOSTILE) }).meta({ id: 'Hostile<b>', description: HOSTILE }),
              answers: { 200: { description: HOSTILE, schema: z.object({ [HOSTILE]: z.literal(HOSTILE) }) } },
              errors: [],
              handle: () => new Response(),
            },
          ],
        },
      ],
      { version: HOSTILE },
    )

  test('is shown as text wherever it stands', () => {
    const html = atOnce(referencePage(hostileDocument()))
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(html).not.toMatch(/<script|<img|<b>/)
    expect(unbalanced(html)).toEqual([])
  })

  test('is data in a command: a shell passes it on as it is', () => {
    const [group] = readDocument(hostileDocument()).groups.slice(-1)
    const body = { text: `it's $(x) \`y\` "z" \\ \n` }
    const command = curlCommand(hostileDocument(), group!.operations[0]!, body)
    const { stdout } = Bun.spawnSync([
      'sh',
      '-c',
      `curl() { printf '%s\\0' "$@"; }\nPATCHBAY_URL=http://host; MANAGEMENT_KEY=secret\n${command}`,
    ])
    const [url = '', ...rest] = stdout.toString().split('\0')
    expect(url).toStartWith('http://host/x"><script>/%22%3E')
    expect(rest.slice(0, 5)).toEqual(['-H', 'Authorization: Bearer secret', '-H', 'Content-Type: application/json', '-d'])
    expect(JSON.parse(rest[5]!)).toEqual(body)
  })
})
