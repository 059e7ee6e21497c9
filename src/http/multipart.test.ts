import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { GatewayError } from '../errors.ts'
import { boundaryOf, readForm } from './multipart.ts'
import { rejection } from '../storage/testing/rejection.ts'

interface Read {
  readonly name: string
  readonly filename: string | null
  readonly contentType: string | null
  readonly bytes: string
}

const read = async (pieces: Iterable<Uint8Array>, boundary = 'b'): Promise<readonly Read[]> => {
  const parts: Read[] = []
  for await (const { content, ...head } of readForm(arriving(pieces), boundary)) {
    const bytes = Buffer.concat(await Array.fromAsync(content))
    parts.push({ ...head, bytes: bytes.toString('latin1') })
  }
  return parts
}

async function* arriving(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* pieces
}

/** The same bytes, cut at any places. */
const cutAt = (bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] => {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end))
}

const form = (...parts: readonly (readonly [head: string, content: string])[]): Buffer =>
  Buffer.from(`${parts.map(([head, content]) => `--b\r\n${head}\r\n\r\n${content}\r\n`).join('')}--b--\r\n`, 'latin1')

const named = (name: string, more = ''): string => `Content-Disposition: form-data; name="${name}"${more}`

describe('a form', () => {
  test('is read the same wherever its bytes are cut, whatever they are', async () => {
    // Pieces of boundaries are the content that is hardest for a parser.
    const content = fc
      .array(fc.constantFrom('\r\n--b', '\r\n--', '\r', '\n', '--b--', '-', 'b', '\r\n--b'.slice(0, 4), '\u0000', 'ÿ'), { maxLength: 30 })
      .map((pieces) => pieces.join('').replaceAll('\r\n--b', '\r\n--c'))
    await fc.assert(
      fc.asyncProperty(fc.array(content, { minLength: 1, maxLength: 4 }), fc.array(fc.nat(), { maxLength: 40 }), async (contents, cuts) => {
        const body = form(...contents.map((text, index) => [named(`n${index}`, '; filename="x"'), text] as const))
        const parts = await read(cutAt(body, cuts))
        expect(parts).toEqual(contents.map((bytes, index) => ({ name: `n${index}`, filename: 'x', contentType: null, bytes })))
      }),
    )
  })

  test('that nobody would write ends as invalid_request or as parts, and never goes on for ever', async () => {
    const hostile = fc.array(
      fc.constantFrom(
        '--b',
        '\r\n',
        '\r\n\r\n',
        '--',
        'Content-Disposition: form-data; name="file"',
        "; filename*=utf-8''%ff",
        ':',
        '\u0000',
        '"',
        '\\',
        'x',
      ),
      { maxLength: 60 },
    )
    await fc.assert(
      fc.asyncProperty(hostile, fc.array(fc.nat(), { maxLength: 10 }), async (pieces, cuts) => {
        try {
          await read(cutAt(Buffer.from(pieces.join('')), cuts))
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(GatewayError)
          expect((thrown as GatewayError).status).toBe(400)
        }
      }),
    )
  })

  test.each([
    ['; filename="a b.txt"', 'a b.txt'],
    ['; filename=plain.txt', 'plain.txt'],
    ['; filename="a%22b%0D%0A.txt"', 'a"b\r\n.txt'],
    ['; filename="a\\"b\\\\.txt"', 'a"b\\.txt'],
    ['; filename="x"; filename*=UTF-8\'\'na%C3%AFve.txt', 'naïve.txt'],
    ['; filename="; name=other"', '; name=other'],
    ['', null],
  ])('%s names the file %p', async (parameters, filename) => {
    expect((await read([form([named('file', parameters), 'x'])]))[0]).toMatchObject({ name: 'file', filename })
  })

  test('has types in lower case, without parameters, and none that is no type', async () => {
    const typed = async (type: string) => (await read([form([`${named('file')}\r\ncontent-type: ${type}`, 'x'])]))[0]?.contentType
    expect(await typed('Text/Plain; charset=utf-8')).toBe('text/plain')
    expect(await typed('application/vnd.x+json')).toBe('application/vnd.x+json')
    expect(await typed('text/html"><script>')).toBeNull()
    expect(await typed('nothing')).toBeNull()
  })

  test.each([
    ['nothing', ''],
    ['no end', '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx'],
    ['something before it', 'preamble\r\n--b--'],
    ['a part without a name', '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--'],
    ['a part that is no form-data', '--b\r\nContent-Disposition: attachment; name="file"\r\n\r\nx\r\n--b--'],
    ['a head without end', `--b\r\n${'x'.repeat(20_000)}`],
    ['a head that is too long', `--b\r\n${'x'.repeat(9000)}\r\n\r\nx\r\n--b--`],
    ['too many parts', `${'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(21)}--b--`],
  ])('with %s is refused', async (_, body) => {
    expect(String(await rejection(read([Buffer.from(body)])))).toContain('no form that can be read')
  })
})

describe('the boundary', () => {
  const of = (type: string) => boundaryOf(new Headers({ 'content-type': type }))
  test('is taken as clients write it', () => {
    expect(of('multipart/form-data; boundary=----WebKitFormBoundary7MA4')).toBe('----WebKitFormBoundary7MA4')
    expect(of('Multipart/Form-Data; boundary="a b:c"')).toBe('a b:c')
    expect(of('multipart/form-data; charset=utf-8; boundary=x')).toBe('x')
    expect(of('multipart/form-data; boundary=x; charset=utf-8')).toBe('x')
  })

  test.each([
    '',
    'application/json',
    'multipart/form-data',
    'multipart/form-data; boundary=',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
    'multipart/form-data; boundary="x',
  ])('%p is no form', (type) => {
    expect(() => of(type)).toThrow('send multipart/form-data')
  })
})
