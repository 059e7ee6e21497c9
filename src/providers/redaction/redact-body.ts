import { type HiddenTexts, hiderOf } from '../../canonical/hidden-prompt.ts'
import { HIDDEN_MARK } from '../../canonical/preset-secrets.ts'
import { isCredentialName } from '../../lib/credential-names.ts'
import { isExactInteger } from '../../lib/json/exact-json.ts'
import { parseExactInSteps, writeInSteps } from '../../lib/json/json-steps.ts'
import { isObject, type JsonValue } from '../../lib/json/json.ts'
import { startPace, type Steps } from '../../lib/steps.ts'
import { redactSecrets } from './redact-secrets.ts'

/** Takes JSON text and returns JSON text of one line. `hidden`: texts of a preset, which are replaced by a mark. */
export function* redactBody(body: string, hidden: HiddenTexts = NOTHING_HIDDEN): Steps<string> {
  return yield* writeInSteps(yield* redactedBody(body, hidden))
}

/** Like `redactBody`, but returns the parsed value. */
export function* redactedBody(body: string, hidden: HiddenTexts = NOTHING_HIDDEN): Steps<JsonValue> {
  const value = (yield* parseExactInSteps(body)) as JsonValue
  return yield* redacted(value, '', { hidingIn: hidingOf(hidden), isStep: startPace() })
}

const NOTHING_HIDDEN: HiddenTexts = { texts: [], credentials: [] }

/** Longer texts are not searched for partial quotes of what is hidden: providers get it as a whole. */
const QUOTES_MAX = 65_536

const hidingOf = (hidden: HiddenTexts): Redaction['hidingIn'] => {
  const known = [...hidden.texts, ...hidden.credentials]
  if (known.length === 0) return null
  const hide = hiderOf(hidden)
  return function* (text) {
    let open = text
    for (const secret of known) {
      open = open.replaceAll(secret, HIDDEN_MARK)
      if (text.length > LONG) yield
    }
    return open.length > QUOTES_MAX ? open : hide(open)
  }
}

interface Redaction {
  /** Null if nothing is hidden. */
  readonly hidingIn: ((text: string) => Steps<string>) | null
  readonly isStep: ReturnType<typeof startPace>
}

function* redacted(value: JsonValue, member: string, redaction: Redaction): Steps<JsonValue> {
  if (typeof value === 'string') {
    if (redaction.isStep(value.length)) yield
    const text = redaction.hidingIn === null ? value : yield* redaction.hidingIn(value)
    return isCredentialName(member) && text === value && value !== '' ? '[redacted]' : yield* redactedText(text, member)
  }
  if (Array.isArray(value)) {
    const items: JsonValue[] = []
    for (const item of value as readonly JsonValue[]) {
      items.push(yield* redacted(item, member, redaction))
      if (redaction.isStep()) yield
    }
    return items
  }
  if (!isObject(value) || isExactInteger(value)) return value
  const members: [string, JsonValue][] = []
  for (const [name, item] of Object.entries(value)) {
    members.push([name, yield* redacted(item, name, redaction)])
    if (redaction.isStep()) yield
  }
  return Object.fromEntries(members)
}

/** Members that hold bytes in base64, in the dialects of the providers. */
const BYTE_MEMBERS: ReadonlySet<string> = new Set(['data', 'bytes', 'b64_json', 'file_data'])
/** Text of at least this length without a space is not written by a person. */
const OPAQUE_MIN = 256
const DATA_URL = /^data:[^,]{0,200},/

function* redactedText(text: string, member: string): Steps<string> {
  const [prefix] = DATA_URL.exec(text) ?? []
  if (prefix !== undefined) return prefix + sizeOf(text.slice(prefix.length))
  if ((BYTE_MEMBERS.has(member) || text.length >= OPAQUE_MIN) && (yield* isBase64(text))) return sizeOf(text)
  return yield* redactSecrets(text)
}

/** Characters of a text that are checked, or searched for hidden texts, in one step. */
const LONG = 256 * 1024

function* isBase64(text: string): Steps<boolean> {
  let from = 0
  // The last part is never so short that it would cut the padding.
  while (text.length - from > LONG + 2) {
    if (!WITHIN_BASE64.test(text.slice(from, from + LONG))) return false
    from += LONG
    yield
  }
  return BASE64.test(text.slice(from))
}

const WITHIN_BASE64 = /^[A-Za-z0-9+/_-]+$/
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

const sizeOf = (base64: string): string => {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return `[${Math.floor(((base64.length - padding) * 3) / 4)} bytes]`
}
