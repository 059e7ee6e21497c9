/** Makes a provider's own words fit to be shown: our credential and everything that looks like one is removed. */
import { cutText } from '../../lib/text/cut-text.ts'
import type { Target } from '../provider.ts'

/** Patterns of vendors' keys. */
const KEYS = [
  String.raw`\b(?:sk|pk|rk|gsk|xai|pb|csk|hf|r8|fw|pplx|nvapi|tgp)[-_][A-Za-z0-9_-]{12,}`,
  String.raw`\bAIza[A-Za-z0-9_-]{20,}`,
  String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
  String.raw`\bBearer\s+[^\s"']+`,
  // Our organisation or project at the provider.
  String.raw`\b(?:org|proj)[-_][A-Za-z0-9]{12,}`,
].join('|')

/**
 * A signed token, or the beginning of one that no dot follows. Such a beginning is matched too, so that it is scanned only once: a text may
 * hold it thousands of times.
 */
const TOKEN = String.raw`\beyJ[A-Za-z0-9_-]{10,}(\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?)?`

const SECRETS = new RegExp(`${TOKEN}|${KEYS}`, 'g')
const KEYS_ALONE = new RegExp(KEYS, 'g')
const MARK = '[redacted]'

/**
 * A user and a password before the host of an address. The second form is of passwords with a slash, which end at no slash; a port is none.
 * The first needs no limit on its length, since it holds no slash, and so begins nowhere within itself.
 */
const USERINFO = new RegExp(String.raw`(:(?:\\?/){2})(?:[^\s/?#"'<>]+|[^\s/?#"'<>:@[]*:(?!\d{1,5}(?:\\?/|[?#]))[^\s"'<>@]{1,256})@`, 'g')

/** Replaces each word that looks like some vendor’s key with a mark, and who signs in within an address, in time linear in the length of the text. */
export const withoutKeys = (text: string): string =>
  text
    .replace(SECRETS, (found: string, rest: string | undefined) =>
      found.startsWith('eyJ') && rest === undefined ? found.replace(KEYS_ALONE, MARK) : MARK,
    )
    .replace(USERINFO, `$1${MARK}@`)

/** An event of a stream may be megabytes; nothing after this many characters is ever shown. */
const READ_MAX = 64 * 1024

export const redact = (reported: string, { apiKey }: Pick<Target, 'apiKey'>): string => {
  const text = cutText(reported, READ_MAX)
  return withoutKeys(apiKey === null || apiKey.length < 4 ? text : withoutSecret(text, apiKey))
}

/** The secret is also taken out where a provider shows it encoded: as JSON, in an address, in base64 or in hexadecimal. */
export const withoutSecret = (text: string, secret: string): string =>
  formsOf(secret).reduce((shown, form) => shown.replaceAll(form, MARK), text)

const formsOf = (secret: string): readonly string[] => {
  const bytes = Buffer.from(secret)
  const json = JSON.stringify(secret).slice(1, -1)
  // Without the padding, which may stand behind it or not.
  const base64 = bytes.toString('base64').replace(/=+$/, '')
  const hex = bytes.toString('hex')
  return [secret, json, json.replaceAll('/', String.raw`\/`), encodeURIComponent(secret), base64, bytes.toString('base64url'), hex]
}

/** The beginning of a text, at most this many bytes of UTF-8; no character is split. */
export const beginningOf = (text: string, mostBytes: number): string =>
  Buffer.byteLength(text) <= mostBytes
    ? text
    : Buffer.from(text)
        .subarray(0, mostBytes)
        .toString()
        .replace(/\uFFFD{1,3}$/, '')
