import { texts } from '../fixtures/token-counts.json'

/**
 * A provider that reads a body literally and charges the most that it may: the largest number in any output limit, times every number of
 * answers; images by their parts, documents by their pages, counted texts by their tokens, and everything else by its bytes.
 */
interface Charge {
  readonly inputTokens: number
  readonly outputTokens: number
}

/** The output that is charged if the body has no limit. */
const UNLIMITED_TOKENS = 16_384
const PICTURE_TOKENS = { 'openai-chat': 2900, 'openai-responses': 2900, anthropic: 4800, google: 2600, bedrock: 4800 } as const

const LIMITS = new Set([
  'maxtokens',
  'maxcompletiontokens',
  'maxoutputtokens',
  'maxnewtokens',
  'numpredict',
  'budgettokens',
  'thinkingbudget',
])
const COUNTS = new Set(['n', 'bestof', 'numreturnsequences', 'candidatecount', 'numbeams'])
/** The limits that a provider of each dialect surely respects; it may not know others. */
const KNOWN: Readonly<Record<string, (body: Record<string, unknown>) => readonly unknown[]>> = {
  'openai-chat': (body) => [body['max_tokens'], body['max_completion_tokens']],
  'openai-responses': (body) => [body['max_output_tokens']],
  anthropic: (body) => [body['max_tokens']],
  google: (body) => [objectOf(body['generationConfig'])['maxOutputTokens']],
  bedrock: (body) => [objectOf(body['inferenceConfig'])['maxTokens']],
}

export const literalCharge = (text: string, dialect: keyof typeof PICTURE_TOKENS): Charge => {
  const body = JSON.parse(text) as Record<string, unknown>
  const conversation = Object.entries(body).filter(([name]) => ['messages', 'input', 'contents'].includes(name))
  const pictures = { count: 0, bytes: 0 }
  for (const [, value] of conversation) countPictures(value, pictures)
  const settings = Object.entries(body).filter(([name]) => !CONTENT.has(name))
  for (const [name, value] of settings) countStray(name, value, pictures)
  const numbers = settings.flatMap(([name, value]) => numbersIn(name, value))
  const limits = numbers.flatMap(([name, value]) => (LIMITS.has(name) ? [value] : []))
  const answers = numbers.reduce((product, [name, value]) => product * (COUNTS.has(name) ? Math.max(1, value) : 1), 1)
  const isLimited = KNOWN[dialect]?.(body).some((value) => typeof value === 'number' && value > 0) === true
  return {
    inputTokens:
      Math.ceil((Buffer.byteLength(text) - pictures.bytes) / 3) +
      pictures.count * PICTURE_TOKENS[dialect] +
      extraTokens(body, PICTURE_TOKENS[dialect] + PAGE_TOKENS),
    outputTokens: Math.max(isLimited ? 0 : UNLIMITED_TOKENS, ...limits) * answers,
  }
}

const PAGE_TOKENS = 3000
const COUNTED = new Map(texts.map(({ text, tokens }) => [text, tokens]))

/** The tokens of strings that are not covered by their bytes: of counted texts, and of PDFs. */
const extraTokens = (value: unknown, pageTokens: number): number => {
  if (typeof value === 'string') {
    const text = value.startsWith('data:application/pdf') ? value.slice(value.indexOf(',') + 1) : value
    const pages = text.startsWith('JVBERi')
      ? (Buffer.from(text, 'base64')
          .toString()
          .match(/\/Type \/Page\b/g)?.length ?? 0)
      : 0
    const tokens = pages === 0 ? (COUNTED.get(text) ?? 0) : pages * pageTokens
    return Math.max(0, tokens - Math.floor(Buffer.byteLength(text) / 3))
  }
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce<number>((sum, inner) => sum + extraTokens(inner, pageTokens), 0)
}

const CONTENT = new Set([
  'messages',
  'input',
  'contents',
  'system',
  'systemInstruction',
  'instructions',
  'tools',
  'toolConfig',
  'tool_choice',
  'metadata',
  'text',
  'response_format',
])

const numbersIn = (name: string, value: unknown): readonly (readonly [string, number])[] => {
  const plain = name.toLowerCase().replaceAll('_', '')
  if (typeof value === 'number' || (typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value))))
    return [[plain, Number(value)]]
  if (Array.isArray(value)) return value.flatMap((entry: unknown) => numbersIn(name, entry))
  return Object.entries(objectOf(value)).flatMap(([key, inner]) => numbersIn(key, inner))
}

const countPictures = (value: unknown, pictures: { count: number; bytes: number }): void => {
  if (Array.isArray(value)) return value.forEach((entry) => countPictures(entry, pictures))
  if (typeof value !== 'object' || value === null) return
  const part = objectOf(value)
  const kind = typeof part['type'] === 'string' ? part['type'].toLowerCase() : ''
  if (
    kind.includes('image') ||
    part['image'] !== undefined ||
    objectOf(part['inlineData'])['mimeType'] === 'image/png' ||
    part['fileData'] !== undefined
  ) {
    pictures.count += 1
    pictures.bytes += base64Bytes(part)
  }
  for (const place of ['content', 'parts', 'output', 'toolResult', 'functionResponse']) countPictures(part[place], pictures)
}

/** Counts images outside the conversation, each given by a URL. */
const countStray = (name: string, value: unknown, pictures: { count: number }): void => {
  if (typeof value === 'string') pictures.count += /^https?:/.test(value) && /image|multi_?modal/i.test(name) ? 1 : 0
  else if (Array.isArray(value)) value.forEach((entry) => countStray(name, entry, pictures))
  else for (const [key, inner] of Object.entries(objectOf(value))) countStray(`${name} ${key}`, inner, pictures)
}

/** Counts only an image that is declared as one, in the field for an image's bytes. */
const base64Bytes = (value: unknown): number => {
  if (typeof value === 'string') return /^data:image\/\w+;base64,/.test(value) ? value.length - value.indexOf(',') - 1 : 0
  const source = objectOf(value)
  const reported = source['media_type'] ?? source['mimeType']
  const isPicture = (typeof reported === 'string' && reported.startsWith('image/')) || source['bytes'] !== undefined
  const own = isPicture ? (source['data'] ?? source['bytes']) : undefined
  if (typeof own === 'string') return own.length
  return Object.values(source).reduce<number>((sum, inner) => sum + base64Bytes(inner), 0)
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
