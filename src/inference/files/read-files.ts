/**
 * The plugin `file-parser`: turns PDFs of a request into text for models that take no files. The text is sent with the answer; if a client
 * sends it back, the file is not read again (docs/contract/tools.md#files-as-text).
 */
import { createHash } from 'node:crypto'

import type { FileText } from '../../canonical/event.ts'
import type { Warning } from '../../canonical/warning.ts'
import { invalidField } from '../../contract/validate.ts'
import { GatewayError } from '../../errors.ts'
import { readDataUrl } from '../../lib/network/data-url.ts'
import type { ReadAnswer, ReadDocument } from '../../lib/documents/read-document.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { inTurns, LARGE_BYTES } from '../../lib/steps.ts'
import { editElements } from '../../lib/json/json-splice.ts'
import type { Models } from '../../models/models.ts'
import type { ProviderContext } from '../../providers/provider.ts'
import { resolveModel } from '../../routing/resolve-model.ts'
import { type FetchPage, NoPage } from '../../tools/web-fetch/fetch-page.ts'
import { type Prepared, refuseLosses } from '../request.ts'
import type { LargeStep } from '../large-steps.ts'
import { readAgain } from '../read-call.ts'
import { OcrFailure, type ReadByOcr } from './read-by-ocr.ts'
import { CONVERSATION_FIELD } from '../../formats/require-conversation.ts'
import { type FilePart, filePart, textPart } from './file-places.ts'

export interface ReadFilesParts {
  readonly largeStep: LargeStep
  readonly context: ProviderContext
  readonly models: Models
  readonly readDocument: ReadDocument
  readonly fetchPage: FetchPage
  /** Null if no key of an OCR engine is configured. */
  readonly readByOcr: ReadByOcr | null
}

const FILES_MAX = 20
const BYTES_MAX = 32 * 1024 * 1024
const LIMITS = { maxPages: 1000, maxCharacters: 4_000_000 }
const READ_MS = 30_000

/** Returns the request with text in place of its PDFs. Throws `invalid_request`, which names the file, if a file cannot be read. */
export const readFiles = async (prepared: Prepared, options: JsonObject, parts: ReadFilesParts): Promise<Prepared> => {
  const { dialect, body, models } = prepared.call
  const field = CONVERSATION_FIELD[dialect]
  const large = body.held.length > LARGE_BYTES
  /** For megabytes of text each step takes some milliseconds. */
  const pause = (): Promise<void> | undefined => (large ? parts.largeStep() : undefined)
  const { engine, read: readText } = readerOf(options, prepared.caller.workspaceId, parts)
  if (body.rawSearchable(field)?.startsWith('[') !== true || !takesText(engine, models, parts.models)) return prepared
  if (large) await inTurns(body.reading([field]), parts.context.turn ?? parts.largeStep)
  const known = dialect === 'chat' ? annotated(body.value(field)) : new Map<string, string>()
  const found = findFiles(body.value(field), dialect, field)
  if (found.length === 0) return prepared
  if (found.length > FILES_MAX) throw invalidField(found[FILES_MAX]?.at ?? field, `No more than ${FILES_MAX} PDFs are read.`)
  const read = new Map<string, FileText & { readonly pages: number | null }>()
  const readOnce = eachOnce(readText)
  await Promise.all(
    found.map(async ({ at, file }) => {
      const one = await readFile(file, at, known, readOnce, { ...parts, pause })
      if (one !== null) read.set(at, one)
    }),
  )
  if (read.size === 0) return prepared
  await pause()
  const raw = body.raw(field) ?? '[]'
  await pause()
  const changed = editElements(raw, (text, index) => {
    const start = `${field}[${index}]`
    const touched = text.includes('"annotations"') || [...read.keys()].some((at) => at === start || at.startsWith(`${start}.`))
    return touched ? JSON.stringify(replaced(JSON.parse(text) as JsonValue, start, (at) => textOf(read.get(at), dialect))) : text
  })
  await pause()
  const files = [...read.values()]
  prepared.effects.push({
    type: 'plugin',
    name: 'file-parser',
    summary: `Read the text of ${files.length} PDF${files.length === 1 ? '' : 's'}`,
    cost_usd: 0,
    data: {
      engine: engine === OCR ? OCR : 'pdf-text',
      files: files.length,
      parsed: new Set(files.flatMap(({ hash, pages }) => (pages === null ? [] : [hash]))).size,
    },
  })
  const warnings = engine === 'cloudflare-ai' ? [OTHER_ENGINE] : []
  refuseLosses(prepared.strict, warnings)
  return {
    ...prepared,
    call: await inTurns(readAgain(prepared, body.with({ [field]: changed })), parts.context.turn ?? parts.largeStep),
    files,
    warnings: [...prepared.warnings, ...warnings],
  }
}

/** Reads a file that appears in several places only once. */
const eachOnce = (readText: ReadBytes): ReadHashed => {
  const reading = new Map<string, Promise<ReadText>>()
  return (hash, bytes, at) => {
    const text = reading.get(hash) ?? readText(bytes, at)
    reading.set(hash, text)
    return text
  }
}

type ReadBytes = (bytes: Buffer, at: string) => Promise<ReadText>
type ReadHashed = (hash: string, bytes: Buffer, at: string) => Promise<ReadText>

const OCR = 'mistral-ocr'

interface ReadText {
  readonly text: string
  readonly pages: number | null
}

/** The engine that the client names, if any, and the function that reads with it. */
const readerOf = (
  { pdf }: JsonObject,
  workspaceId: string,
  { readByOcr, readDocument }: ReadFilesParts,
): { readonly engine: string | null; read(bytes: Buffer, at: string): Promise<ReadText> } => {
  const engine = isObject(pdf) ? pdf['engine'] : null
  if (engine !== OCR) {
    const other = readByOcr === null ? 'which is not available here' : `such as "${OCR}"`
    return {
      engine: typeof engine === 'string' ? engine : null,
      read: (bytes, at) => readTextLayer(at, other, (job) => readDocument(job, bytes, { timeoutMs: READ_MS, holder: workspaceId })),
    }
  }
  if (readByOcr === null) throw invalidField('plugins', NO_OCR)
  return { engine, read: (bytes, at) => readPages(bytes, at, readByOcr) }
}

const NO_OCR =
  'file-parser: the engine "mistral-ocr" is not available here, since plugins.file_parser.mistral_key is not configured; "pdf-text" reads PDFs that have a text layer.'

const readTextLayer = async (
  at: string,
  otherEngine: string,
  readDocument: (job: Parameters<ReadDocument>[0]) => ReturnType<ReadDocument>,
): Promise<ReadText> => {
  const read = await readDocument({ kind: 'pdf', ...LIMITS })
  if (read.fault !== null) throw invalidField(at, FAULTS[read.fault])
  if (read.text === '') throw invalidField(at, `the PDF has no text layer; an OCR engine is needed, ${otherEngine}.`)
  return { text: read.text, pages: read.pages ?? null }
}

const readPages = async (bytes: Buffer, at: string, readByOcr: ReadByOcr): Promise<ReadText> => {
  try {
    return await readByOcr(bytes)
  } catch (thrown) {
    if (!(thrown instanceof OcrFailure)) throw thrown
    if (thrown.isFiles) throw invalidField(at, thrown.message)
    throw new GatewayError('provider_unavailable', `${at}: ${thrown.message}`, { cause: thrown })
  }
}

const OTHER_ENGINE: Warning = {
  code: 'unsupported_field',
  field: 'plugins',
  message: 'file-parser: the engine "cloudflare-ai" is not available here; "pdf-text" read the PDFs.',
}

/** Files stay files if the client asks for that, or if every model that it names is known to take them. */
const takesText = (engine: string | null, named: readonly string[], models: Models): boolean =>
  engine === null ? !named.every((id) => resolveModel(id, models)?.model.inputModalities?.includes('file') === true) : engine !== 'native'

interface FoundFile {
  readonly at: string
  readonly file: FilePart
}

const findFiles = (value: JsonValue | undefined, dialect: Prepared['call']['dialect'], at: string): readonly FoundFile[] => {
  const found: FoundFile[] = []
  walk(value, at, (part, place) => {
    const file = filePart(part, dialect)
    if (file !== null) found.push({ at: place, file })
    return file !== null
  })
  return found
}

/** Visits every element of every list, outermost first; `see` returns true to skip the content of an element. */
const walk = (value: JsonValue | undefined, at: string, see: (part: JsonValue, at: string) => boolean): void => {
  if (Array.isArray(value)) {
    for (const [index, one] of (value as readonly JsonValue[]).entries()) {
      const place = `${at}[${index}]`
      if (!see(one, place)) walk(one, place, see)
    }
  } else if (isObject(value)) walk(value['content'], `${at}.content`, see)
}

/**
 * Replaces parts in the same order as `walk` visits them. Drops the annotations of files: they are the service's own and must not reach
 * providers.
 */
const replaced = (value: JsonValue, at: string, put: (at: string) => JsonObject | null): JsonValue => {
  const instead = put(at)
  if (instead !== null) return instead
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((one, index) => replaced(one, `${at}[${index}]`, put))
  if (!isObject(value)) return value
  const { content, annotations, ...rest } = value
  const kept = Array.isArray(annotations)
    ? (annotations as readonly JsonValue[]).filter((one) => !(isObject(one) && one['type'] === 'file'))
    : annotations
  return {
    ...rest,
    ...(content === undefined ? {} : { content: replaced(content, `${at}.content`, put) }),
    ...(kept === undefined || (Array.isArray(kept) && kept.length === 0) ? {} : { annotations: kept }),
  }
}

const textOf = (file: FileText | undefined, dialect: Prepared['call']['dialect']): JsonObject | null =>
  file === undefined ? null : textPart(`<file name=${JSON.stringify(file.name ?? 'file.pdf')}>\n${file.text}\n</file>`, dialect)

/** The texts of files that came with earlier answers, by the hash of the file. */
const annotated = (messages: JsonValue | undefined): ReadonlyMap<string, string> => {
  const known = new Map<string, string>()
  if (!Array.isArray(messages)) return known
  for (const message of messages as readonly JsonValue[]) {
    const annotations = isObject(message) ? message['annotations'] : null
    if (!Array.isArray(annotations)) continue
    for (const annotation of annotations as readonly unknown[]) {
      const file = isObject(annotation) && annotation['type'] === 'file' ? annotation['file'] : null
      if (!isObject(file) || typeof file['hash'] !== 'string' || !Array.isArray(file['content'])) continue
      const texts = (file['content'] as readonly unknown[]).flatMap((part) =>
        isObject(part) && typeof part['text'] === 'string' ? [part['text']] : [],
      )
      if (texts.length > 0) known.set(file['hash'], texts.join('\n'))
    }
  }
  return known
}

/** Null for a file that turns out not to be a PDF: it stays as it is. */
const readFile = async (
  { url, name }: FilePart,
  at: string,
  known: ReadonlyMap<string, string>,
  readText: ReadHashed,
  { fetchPage, pause }: Pick<ReadFilesParts, 'fetchPage'> & { readonly pause: () => Promise<void> | undefined },
): Promise<(FileText & { readonly pages: number | null }) | null> => {
  await pause()
  const bytes = await bytesOf(url, at, fetchPage)
  if (bytes.byteLength > BYTES_MAX) throw invalidField(at, 'the PDF is too large.')
  const isPdf = bytes.subarray(0, 1024).includes('%PDF-')
  if (!isPdf && !/^data:/i.test(url)) return null
  await pause()
  const hash = createHash('sha256').update(bytes).digest('hex')
  await pause()
  const before = known.get(hash)
  if (before !== undefined) return { hash, name, text: before, pages: null }
  return { hash, name, ...(await readText(hash, bytes, at)) }
}

const bytesOf = async (url: string, at: string, fetchPage: FetchPage): Promise<Buffer> => {
  const data = readDataUrl(url)
  if (data !== null) return Buffer.from(data.base64(), 'base64')
  try {
    const { bytes } = await fetchPage({ url, refuse: () => null, signal: new AbortController().signal })
    return bytes
  } catch (thrown) {
    if (thrown instanceof NoPage) throw invalidField(at, thrown.message)
    throw thrown
  }
}

const FAULTS: Readonly<Record<NonNullable<ReadAnswer['fault']>, string>> = {
  encrypted: 'the PDF is encrypted; send it without a password.',
  broken: 'the PDF is broken and cannot be read.',
  too_slow: 'the PDF takes too long to read.',
  too_large: 'the PDF takes too much memory to read.',
}
