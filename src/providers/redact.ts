/** The part of a provider's own words that may be shown: our credential and everything that looks like one is taken out of them. */
import { cutText } from '../lib/cut-text.ts'
import type { Target } from './provider.ts'

/** The look of some vendor's keys. */
export const SECRETS = new RegExp(
  [
    String.raw`\b(?:sk|pk|rk|gsk|xai|pb|csk|hf|r8|fw|pplx|nvapi|tgp)[-_][A-Za-z0-9_-]{12,}`,
    String.raw`\bAIza[A-Za-z0-9_-]{20,}`,
    String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
    String.raw`\bBearer\s+[^\s"']+`,
    String.raw`\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?`,
    // Who we are at the provider.
    String.raw`\b(?:org|proj)[-_][A-Za-z0-9]{12,}`,
  ].join('|'),
  'g',
)

/** An event of a stream may be megabytes; nothing behind this is ever shown. */
const READ_MAX = 64 * 1024

export const redact = (reported: string, { apiKey }: Pick<Target, 'apiKey'>): string => {
  const text = cutText(reported, READ_MAX)
  const known = apiKey === null || apiKey.length < 4 ? text : text.replaceAll(apiKey, '[redacted]')
  return known.replace(SECRETS, '[redacted]')
}

/** The beginning of a text, of at most this many bytes in UTF-8; no character is split. */
export const beginningOf = (text: string, mostBytes: number): string =>
  Buffer.byteLength(text) <= mostBytes
    ? text
    : Buffer.from(text)
        .subarray(0, mostBytes)
        .toString()
        .replace(/\uFFFD{1,3}$/, '')
