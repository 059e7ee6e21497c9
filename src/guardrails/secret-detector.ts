/**
 * Credentials: keys of well-known forms (this service's own too), private key blocks, and random values that are assigned to names
 * such as `password`.
 */
import { detector, type Part } from './detector.ts'

const KEYS = [
  String.raw`pb_(?:mgmt|inf)_[A-Za-z0-9]{20,}`,
  String.raw`sk-(?:ant|or|proj|svcacct|admin)-[A-Za-z0-9_\-]{20,}`,
  String.raw`sk-[A-Za-z0-9]{32,}`,
  String.raw`(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}`,
  String.raw`ABSK[A-Za-z0-9+/=]{40,}`,
  String.raw`bedrock-api-key-[A-Za-z0-9+/=]{40,}`,
  String.raw`gh[pousr]_[A-Za-z0-9]{36,}`,
  String.raw`github_pat_[A-Za-z0-9_]{22,}`,
  String.raw`glpat-[A-Za-z0-9_\-]{20,}`,
  String.raw`xox[abeprs]-[A-Za-z0-9\-]{10,}`,
  String.raw`xapp-\d-[A-Za-z0-9\-]{20,}`,
  String.raw`hooks\.slack\.com/services/[A-Za-z0-9/]{30,}`,
  String.raw`AIza[0-9A-Za-z_\-]{35}`,
  String.raw`AQ\.Ab8[0-9A-Za-z_\-]{30,}`,
  String.raw`GOCSPX-[0-9A-Za-z_\-]{28}`,
  String.raw`ya29\.[0-9A-Za-z_\-]{20,}`,
  String.raw`[sr]k_(?:live|test)_[0-9A-Za-z]{16,}`,
  String.raw`whsec_[0-9A-Za-z+/=]{24,}`,
  String.raw`SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}`,
  String.raw`npm_[A-Za-z0-9]{36}`,
  String.raw`pypi-[A-Za-z0-9_\-]{40,}`,
  String.raw`hf_[A-Za-z0-9]{30,}`,
  String.raw`gsk_[A-Za-z0-9]{40,}`,
  String.raw`xai-[A-Za-z0-9]{40,}`,
  String.raw`(?:pplx|csk)-[A-Za-z0-9]{40,}`,
  String.raw`nvapi-[A-Za-z0-9_\-]{40,}`,
  String.raw`r8_[A-Za-z0-9]{37}`,
  String.raw`fw_[A-Za-z0-9]{22,}`,
  String.raw`tgp_v1_[A-Za-z0-9_\-]{40,}`,
  String.raw`dapi[a-f0-9]{32}`,
  String.raw`hv[sb]\.[A-Za-z0-9_\-]{24,}`,
  String.raw`shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}`,
  String.raw`dckr_(?:pat|oat)_[A-Za-z0-9_\-]{20,}`,
  String.raw`sbp_[a-f0-9]{40}`,
  String.raw`sb_secret_[A-Za-z0-9_\-]{20,}`,
  String.raw`gl(?:sa|c)_[A-Za-z0-9_+/=]{32,}`,
  String.raw`ATATT3[A-Za-z0-9_\-=]{60,}`,
  String.raw`lin_api_[A-Za-z0-9]{40}`,
  String.raw`do[opr]_v1_[a-f0-9]{64}`,
  String.raw`eyJ[A-Za-z0-9_\-]{10,}\.eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]+`,
  // An encrypted token has five parts, of which the second may be empty.
  String.raw`eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]*(?:\.[A-Za-z0-9_\-]{10,}){3}`,
]

const SPACE = String.raw`(?:\s|\\{1,4}[nr])`
/** Lines such as `Proc-Type: 4,ENCRYPTED`, before the key itself. */
const PEM_HEADERS = String.raw`(?:[ \t]*(?:[\r\n]|\\{1,4}[nr])+[A-Za-z][A-Za-z\-]{1,30}:[^\r\n\\]{0,200})*`
/** The base64 of a key, whose last line may be short; PGP adds a checksum. */
const PEM_BODY = String.raw`(?:${SPACE}*[A-Za-z0-9+/=]{16,})*(?:${SPACE}*[A-Za-z0-9+/=]+)?(?:${SPACE}*=[A-Za-z0-9+/]{4})?`
/** Matches from the first line on; a block without an end counts as far as it looks like one. */
const PRIVATE_KEY = String.raw`-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----${PEM_HEADERS}${PEM_BODY}(?:${SPACE}*-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?`

const GAP = String.raw`\s{0,16}`
const NAMES = String.raw`(?:(?:api|secret|access|account|private|signing|encryption|master)[_\- ]?key|secret|access[_\- ]?token|auth[_\- ]?token|bearer|token|password|passwd|passphrase|pwd|credentials?|authorization["']?${GAP}[:=]${GAP}["']?basic)`
/** The name, and what assigns the value to it. */
const ASSIGNING = String.raw`${NAMES}["']?${GAP}(?:=>|:=|[:=])?${GAP}["']?`
const ASSIGNED = String.raw`${ASSIGNING}[A-Za-z0-9_\-+/=.~!@#%^&*]{12,}`

/** Shannon entropy in bits per character. */
const entropy = (text: string): number => {
  for (let at = 0; at < text.length; at += 1) counts[text.charCodeAt(at)] = (counts[text.charCodeAt(at)] ?? 0) + 1
  let bits = 0
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    const share = (counts[unit] ?? 0) / text.length
    if (share > 0) bits -= share * Math.log2(share)
    counts[unit] = 0
  }
  return bits
}

/** Reused, because each end of a long value asks for its entropy. */
const counts = new Uint16Array(1 << 16)

const looksRandom = (value: string): boolean =>
  /\d/.test(value) && /[A-Za-z]/.test(value) && !/^[a-z]+(?:[._-][a-z]+)*\d{0,4}$/i.test(value) && entropy(value) >= 3

const BEFORE_VALUE = new RegExp(`^${ASSIGNING}`, 'i')

/** Only the value is the secret; the name stays readable. Without an assignment, only the name of a scheme is followed by a value. */
const assignedValue = (match: string): readonly Part[] => {
  const before = BEFORE_VALUE.exec(match.slice(0, BEFORE_MAX))?.[0]
  // If a match is very long, only the end of its value is known.
  const from = before?.length ?? 0
  const assigns = before === undefined || /[:=]>?\s*["']?$/.test(before) || /(?:bearer|basic)\s+["']?$/i.test(before)
  return assigns && looksRandom(match.slice(Math.max(from, match.length - VALUE_MAX))) ? [[from, match.length]] : []
}

const VALUE_MAX = 400
/** Longer than any name with what assigns a value to it. */
const BEFORE_MAX = 128

/** The password in an address, such as that of a database. */
const passwordInAddress = (match: string): readonly Part[] => {
  const scheme = match.indexOf('://')
  return [[match.indexOf(':', scheme < 0 ? 0 : scheme + 3) + 1, match.lastIndexOf('@')]]
}

export const KNOWN_SECRETS = detector(`(?<![A-Za-z0-9])(?:${KEYS.join('|')})|${PRIVATE_KEY}`)
export const ASSIGNED_SECRETS = detector(`(?<![A-Za-z])${ASSIGNED}(?![A-Za-z0-9_])`, { partsOf: assignedValue, ignoreCase: true })
/** The second form is that of drivers written in Go: `user:password@tcp(host:port)/name`. */
export const ADDRESS_SECRETS = detector(
  String.raw`(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{1,20}://[^\s:/@?#"'<>]{0,100}:[^\s/@?#"'<>]{3,200}@|(?<![A-Za-z0-9_.\-])[A-Za-z0-9_.\-]{1,64}:[^\s"'<>]{3,200}@(?:tcp|unix)[46]?\(`,
  {
    partsOf: passwordInAddress,
  },
)
