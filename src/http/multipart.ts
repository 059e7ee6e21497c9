/**
 * A form with files (multipart/form-data, RFC 7578), parsed as it arrives: only one piece of the body and the head of one part are in
 * memory. Anything that a hostile sender makes of it ends in `invalid_request`.
 */
import { invalidField } from '../contract/validate.ts'

export interface FormPart {
  readonly name: string
  /** As it was sent; null for a plain field. */
  readonly filename: string | null
  /** In lower case, without parameters; null if the part names no valid type. */
  readonly contentType: string | null
  /** Must be read to its end before the next part is requested. */
  readonly content: AsyncGenerator<Uint8Array>
}

/** The boundary between the parts. Throws `invalid_request` if the content type is not that of a form. */
export const boundaryOf = (headers: Headers): string => {
  const type = headers.get('content-type') ?? ''
  const [, quoted, plain] = FORM_TYPE.exec(type) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) {
    throw invalidField('', `Content-Type is "${type.slice(0, 100)}"; send multipart/form-data with the file in its part "file".`)
  }
  return boundary
}

const FORM_TYPE =
  /^multipart\/form-data\s*;\s*(?:charset=[\w-]{1,20}\s*;\s*)?boundary=(?:"([\w'()+,./:=? -]{0,69}[\w'()+,./:=?-])"|([\w'()+./:=?-]{1,70}))\s*(?:;\s*charset=[\w-]{1,20}\s*)?$/i

const LINE_END = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')
const HEAD_MAX = 8 * 1024
const PARTS_MAX = 20

export async function* readForm(pieces: AsyncIterable<Uint8Array>, boundary: string): AsyncGenerator<FormPart> {
  const source = pieces[Symbol.asyncIterator]()
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  // The first boundary may stand at the very beginning.
  let buffer: Buffer = Buffer.from('\r\n')

  const more = async (): Promise<void> => {
    const { done, value } = await source.next()
    if (done === true) throw broken('the form ends before its last boundary')
    buffer = buffer.length === 0 ? Buffer.from(value) : Buffer.concat([buffer, value])
  }
  /** Returns the bytes before the mark, and skips the mark. */
  const before = async (mark: Buffer): Promise<Buffer> => {
    let at = buffer.indexOf(mark)
    while (at < 0) {
      if (buffer.length > HEAD_MAX + mark.length) throw broken('the head of a part is too long')
      const searched = Math.max(0, buffer.length - mark.length + 1)
      await more()
      at = buffer.indexOf(mark, searched)
    }
    if (at > HEAD_MAX) throw broken('the head of a part is too long')
    const found = buffer.subarray(0, at)
    buffer = buffer.subarray(at + mark.length)
    return found
  }
  async function* content(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = buffer.indexOf(delimiter)
      const end = at < 0 ? Math.max(0, buffer.length - delimiter.length + 1) : at
      const part = buffer.subarray(0, end)
      buffer = buffer.subarray(at < 0 ? end : at + delimiter.length)
      if (part.length > 0) yield part
      if (at >= 0) return
      await more()
    }
  }

  const preamble = await before(delimiter)
  if (preamble.length > 0) throw broken('something comes before its first boundary')
  for (let count = 0; ; count += 1) {
    while (buffer.length < 2) await more()
    if (buffer.subarray(0, 2).toString('latin1') === '--') break
    if (count === PARTS_MAX) throw broken(`it has more than ${PARTS_MAX} parts`)
    const padding = await before(LINE_END)
    if (!/^[ \t]*$/.test(padding.toString('latin1'))) throw broken('a boundary has something behind it')
    const head = readHead((await before(HEAD_END)).toString('utf8'))
    const reading = content()
    yield { ...head, content: reading }
    for await (const _rest of reading);
  }
  // The bytes after the last boundary are ignored.
  for (let ended = false; !ended;) ended = (await source.next()).done === true
}

const readHead = (text: string): Omit<FormPart, 'content'> => {
  const lines = text.split('\r\n')
  const disposition = headerOf(lines, 'content-disposition')
  const [, parameters] = /^form-data\s*;(.*)$/is.exec(disposition ?? '') ?? []
  const name = parameters === undefined ? null : parameterOf(parameters, 'name')
  if (parameters === undefined || name === null) throw broken('a part has no name')
  const [type] = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?=\s*(?:;|$))/.exec(headerOf(lines, 'content-type') ?? '') ?? []
  return {
    name,
    filename: encodedParameterOf(parameters, 'filename') ?? parameterOf(parameters, 'filename'),
    contentType: type?.toLowerCase() ?? null,
  }
}

const headerOf = (lines: readonly string[], name: string): string | null => {
  const line = lines.find((one) => one.slice(0, name.length + 1).toLowerCase() === `${name}:`)
  return line === undefined ? null : line.slice(name.length + 1).trim()
}

/** Browsers write a quote as %22, and older programs as \". */
const parameterOf = (parameters: string, name: string): string | null => {
  const [, quoted, plain] = new RegExp(`(?:^|;)\\s*${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]+))`, 'is').exec(parameters) ?? []
  const text = quoted?.replace(/\\(["\\])/g, '$1') ?? plain
  return text === undefined ? null : text.replace(/%(22|0D|0A)/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

/** RFC 5987: filename*=UTF-8''na%C3%AFve.txt */
const encodedParameterOf = (parameters: string, name: string): string | null => {
  const [, encoded] = new RegExp(`(?:^|;)\\s*${name}\\*\\s*=\\s*utf-8'[^']*'([^\\s;]+)`, 'i').exec(parameters) ?? []
  if (encoded === undefined) return null
  try {
    return decodeURIComponent(encoded)
  } catch {
    throw broken('the name of a file is not encoded as it says')
  }
}

const broken = (reason: string) => invalidField('', `The body is no form that can be read: ${reason}.`)
