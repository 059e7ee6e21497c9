/**
 * Credentials: keys of well-known forms (this service's own too), private key blocks, and random values that are assigned to names
 * such as `password`.
 */
import { detector, type Part } from './detector.ts'

const KEYS = [
  String.raw`pb_(?:mgmt|inf)_[A-Za-z0-9]{20,}`,
  String.raw`sk-(?:ant|or|proj|svcacct|admin)-[A-Za-z0-9_\-]{20,}`,
  String.raw`sk-[A-Za-z0-9]{32,}`,
  String.raw`(?:AKIA|ASIA)[0-9A-Z]{16}`,
  String.raw`gh[pousr]_[A-Za-z0-9]{36,}`,
  String.raw`github_pat_[A-Za-z0-9_]{22,}`,
  String.raw`glpat-[A-Za-z0-9_\-]{20,}`,
  String.raw`xox[abeprs]-[A-Za-z0-9\-]{10,}`,
  String.raw`AIza[0-9A-Za-z_\-]{35}`,
  String.raw`ya29\.[0-9A-Za-z_\-]{20,}`,
  String.raw`[sr]k_(?:live|test)_[0-9A-Za-z]{16,}`,
  String.raw`whsec_[0-9A-Za-z+/=]{24,}`,
  String.raw`SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}`,
  String.raw`npm_[A-Za-z0-9]{36}`,
  String.raw`pypi-[A-Za-z0-9_\-]{40,}`,
  String.raw`hf_[A-Za-z0-9]{30,}`,
  String.raw`gsk_[A-Za-z0-9]{40,}`,
  String.raw`xai-[A-Za-z0-9]{40,}`,
  String.raw`dop_v1_[a-f0-9]{64}`,
  String.raw`eyJ[A-Za-z0-9_\-]{10,}\.eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]+`,
]

/** Matches from the first line on; a block without an end counts as far as it looks like one. */
const PRIVATE_KEY = String.raw`-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:(?:\s|\\n|\\r)*[A-Za-z0-9+/=]{16,})*(?:(?:\s|\\n|\\r)*[A-Za-z0-9+/=]+)?(?:(?:\s|\\n|\\r)*-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?`

const NAMES = String.raw`(?:api[_\- ]?key|secret(?:[_\- ]?key)?|access[_\- ]?(?:key|token)|auth[_\- ]?token|bearer|token|password|passwd|pwd|credentials?)`
const ASSIGNED = String.raw`${NAMES}["']?\s*(?:[:=]|=>|:=)?\s*["']?[A-Za-z0-9_\-+/=.~!@#%^&*]{12,}`

/** Shannon entropy in bits per character. */
const entropy = (text: string): number => {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

const looksRandom = (value: string): boolean =>
  /\d/.test(value) && /[A-Za-z]/.test(value) && !/^[a-z]+(?:[._-][a-z]+)*\d{0,4}$/i.test(value) && entropy(value) >= 3

const VALUE = /[A-Za-z0-9_\-+/=.~!@#%^&*]{12,}$/

/** Only the value is the secret; the name stays readable. Without an assignment, only the word "bearer" is followed by a value. */
const assignedValue = (match: string): readonly Part[] => {
  const value = VALUE.exec(match.slice(-VALUE_MAX))?.[0] ?? ''
  const before = match.slice(0, match.length - value.length)
  const assigns = /[:=]\s*["']?$/.test(before) || /bearer\s+["']?$/i.test(before)
  return assigns && looksRandom(value) ? [[match.length - value.length, match.length]] : []
}

const VALUE_MAX = 400

export const KNOWN_SECRETS = detector(`(?<![A-Za-z0-9])(?:${KEYS.join('|')})|${PRIVATE_KEY}`)
export const ASSIGNED_SECRETS = detector(`(?<![A-Za-z])${ASSIGNED}(?![A-Za-z0-9_])`, { partsOf: assignedValue, ignoreCase: true })
