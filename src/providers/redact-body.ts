/**
 * A request body as it may be shown: what is large and opaque (pictures, files, sound, proofs of thinking) as its size,
 * what looks like a key as a mark. Best effort: what a person wrote stays (service.md, "Debugging", rule 4).
 */
import { isExactInteger, parseExact } from '../lib/exact-json.ts'
import { isObject } from '../lib/json.ts'
import { SECRETS } from './redact.ts'

/** JSON text in, JSON text of one line out. `hidden`: texts of a preset, for which a mark stands. */
export const redactBody = (body: string, hidden: readonly string[] = []): string => JSON.stringify(redacted(parseExact(body), '', hidden))

const HIDDEN_MARK = '[preset system prompt]'

/** Members that hold bytes in base64, in the dialects of the providers. */
const BYTE_MEMBERS: ReadonlySet<string> = new Set(['data', 'bytes', 'b64_json', 'file_data'])
/** Text of this length without a space is no word of anybody's. */
const OPAQUE_MIN = 256
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/
const DATA_URL = /^(data:[^,]{0,200},)(.*)$/s

const redacted = (value: unknown, member: string, hidden: readonly string[]): unknown => {
  if (typeof value === 'string') {
    return redactedText(
      hidden.reduce((text, secret) => text.replaceAll(secret, HIDDEN_MARK), value),
      member,
    )
  }
  if (Array.isArray(value)) return value.map((item) => redacted(item, member, hidden))
  if (!isObject(value) || isExactInteger(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redacted(item, key, hidden)]))
}

const redactedText = (text: string, member: string): string => {
  const [, prefix, data] = DATA_URL.exec(text) ?? []
  if (prefix !== undefined && data !== undefined) return prefix + sizeOf(data)
  if ((BYTE_MEMBERS.has(member) || text.length >= OPAQUE_MIN) && BASE64.test(text)) return sizeOf(text)
  return text.replace(SECRETS, '[redacted]')
}

const sizeOf = (base64: string): string => `[${Math.floor((base64.replace(/=+$/, '').length * 3) / 4)} bytes]`
