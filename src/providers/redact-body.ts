/**
 * A request body as it may be shown: what is large and opaque (pictures, files, sound, proofs of thinking) as its size,
 * what looks like a key as a mark. Best effort: what a person wrote stays (docs/contract/debugging.md#echo).
 */
import { type HiddenTexts, hiderOf } from '../canonical/hidden-prompt.ts'
import { HIDDEN_MARK } from '../canonical/preset-secrets.ts'
import { isCredentialName } from '../lib/credential-names.ts'
import { isExactInteger, parseExact } from '../lib/exact-json.ts'
import { isObject } from '../lib/json.ts'
import { SECRETS } from './redact.ts'

/** JSON text in, JSON text of one line out. `hidden`: texts of a preset, for which a mark stands. */
export const redactBody = (body: string, hidden: HiddenTexts = NOTHING_HIDDEN): string => {
  const hide = hiderOf(hidden)
  const known = [...hidden.texts, ...hidden.credentials]
  const shown = (text: string): string => {
    const open = known.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN_MARK), text)
    return open.length > QUOTES_MAX ? open : hide(open)
  }
  return JSON.stringify(redacted(parseExact(body), '', known.length === 0 ? (text) => text : shown))
}

const NOTHING_HIDDEN: HiddenTexts = { texts: [], credentials: [] }

/** In a longer text a part of what is hidden is not looked for: providers get it as a whole. */
const QUOTES_MAX = 65_536

/** Members that hold bytes in base64, in the dialects of the providers. */
const BYTE_MEMBERS: ReadonlySet<string> = new Set(['data', 'bytes', 'b64_json', 'file_data'])
/** Text of this length without a space is no word of anybody's. */
const OPAQUE_MIN = 256
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/
const DATA_URL = /^(data:[^,]{0,200},)(.*)$/s

const redacted = (value: unknown, member: string, shown: (text: string) => string): unknown => {
  if (typeof value === 'string') {
    const text = shown(value)
    return isCredentialName(member) && text === value && value !== '' ? '[redacted]' : redactedText(text, member)
  }
  if (Array.isArray(value)) return value.map((item) => redacted(item, member, shown))
  if (!isObject(value) || isExactInteger(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redacted(item, key, shown)]))
}

const redactedText = (text: string, member: string): string => {
  const [, prefix, data] = DATA_URL.exec(text) ?? []
  if (prefix !== undefined && data !== undefined) return prefix + sizeOf(data)
  if ((BYTE_MEMBERS.has(member) || text.length >= OPAQUE_MIN) && BASE64.test(text)) return sizeOf(text)
  return text.replace(SECRETS, '[redacted]')
}

const sizeOf = (base64: string): string => `[${Math.floor((base64.replace(/=+$/, '').length * 3) / 4)} bytes]`
