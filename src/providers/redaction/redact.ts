/** Makes a provider's own words fit to be shown: our credential and everything that looks like one is removed. */
import { cutText } from '../../lib/text/cut-text.ts'
import type { Target } from '../provider.ts'

/** Patterns of vendors' keys. */
const KEYS = [
  String.raw`\b(?:sk|pk|rk|gsk|xai|pb|csk|hf|r8|fw|pplx|nvapi|tgp)[-_][A-Za-z0-9_-]{12,}`,
  String.raw`\bAIza[A-Za-z0-9_-]{20,}`,
  String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
  String.raw`\bBearer\s+[^\s"']+`,
  // In a list of what a driver connects with: `host=db user=root password=…`.
  String.raw`(?<=\b[Pp](?:assword|asswd|wd)=)[^\s;&"'<>]+`,
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
 * A user and a password before the host of an address, `opening` being what is before them. The second form is of passwords with a slash, which
 * end at no slash. The first needs no limit on its length, since it holds no slash, and so begins nowhere within itself.
 */
const userinfo = (opening: string, password: string): RegExp =>
  new RegExp(String.raw`(${opening}:(?:\\?/){2})(?:[^\s/?#"'<>]+|[^\s/?#"'<>:@[]*:${password}[^\s"'<>@]{1,256})@`, 'gi')

const ADDRESSES = [
  // The path of a page may hold an @: what begins like a port is one, and no password of digits.
  userinfo(String.raw`(?<=https?)`, String.raw`(?!\d{1,5}(?:\\?/|[?#]))`),
  // The path in the address of a database holds none.
  userinfo(String.raw`(?<!https?)`, ''),
  // An address within an address, encoded once or more: its own signs are encoded as often as its beginning, those of a password more often.
  /(%((?:25)*)3A(?:%\2(?:2F)){2})(?:(?!%\2(?:0[9AD]|2[02367F]|3[CEF]))[^\s/?#&"'<>])+%\2(?:40)/gi,
] as const

/** As drivers written in Go name a database: `user:password@tcp(host:port)/name`. It begins with its word, so that each word is read once. */
const GO_ADDRESS = /(?<![^\s"'<>])[^\s"'<>]+@(?=(?:tcp|unix)\d?\()/gi

/** Replaces each word that looks like some vendor’s key with a mark, and who signs in within an address, in time linear in the length of the text. */
export const withoutKeys = (text: string): string => {
  const shown = text.replace(SECRETS, (found: string, rest: string | undefined) =>
    found.startsWith('eyJ') && rest === undefined ? found.replace(KEYS_ALONE, MARK) : MARK,
  )
  return ADDRESSES.reduce((open, address) => open.replace(address, `$1${MARK}@`), shown).replace(GO_ADDRESS, `${MARK}@`)
}

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
