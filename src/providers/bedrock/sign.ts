/**
 * Adds the credential to a request. A target's single credential is either an API key of Bedrock (the value of AWS_BEARER_TOKEN_BEDROCK),
 * or `ACCESS_KEY_ID:SECRET_ACCESS_KEY` or `ACCESS_KEY_ID:SECRET_ACCESS_KEY:SESSION_TOKEN`, which signs each request (Signature Version 4).
 * No part of either contains a colon.
 */

export interface Unsigned {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Returns the headers to send, including those of the credential. */
export const authorized = async (
  { url, headers, body }: Unsigned,
  apiKey: string | null,
  nowMs: number,
): Promise<Record<string, string>> => {
  if (apiKey === null) return { ...headers }
  const credentials = awsCredentials(apiKey)
  if (credentials === null) return { ...headers, authorization: `Bearer ${apiKey}` }
  // Loaded on first use, so that services without Bedrock do not pay for it.
  const [{ SignatureV4 }, { Sha256 }] = await Promise.all([import('@smithy/signature-v4'), import('@smithy/core/checksum')])
  const { protocol, host, hostname, pathname } = new URL(url)
  const signer = new SignatureV4({ service: 'bedrock', region: regionOf(hostname), credentials, sha256: Sha256 })
  const signed = await signer.sign(
    { method: 'POST', protocol, hostname, path: pathname, headers: { ...headers, host }, body },
    { signingDate: new Date(nowMs), unsignableHeaders: CHANGEABLE },
  )
  // The HTTP client sets `host` itself.
  return Object.fromEntries(Object.entries(signed.headers).filter(([name]) => name !== 'host'))
}

/** Headers that a proxy on the way may rewrite. */
const CHANGEABLE = new Set(['accept', 'accept-encoding'])

interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

const awsCredentials = (apiKey: string): AwsCredentials | null => {
  const { accessKeyId, secretAccessKey, sessionToken } = KEYS.exec(apiKey)?.groups ?? {}
  if (accessKeyId === undefined || secretAccessKey === undefined) return null
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }
}

const KEYS = /^(?<accessKeyId>\w{16,128}):(?<secretAccessKey>[^:\s]+)(?::(?<sessionToken>[^:\s]+))?$/

/**
 * Reads the region from `bedrock-runtime.eu-central-1.amazonaws.com` and similar names for FIPS, dual stack and VPC endpoints; a proxy's
 * address has none.
 */
export const regionOf = (hostname: string): string =>
  /(?:^|\.)bedrock-runtime(?:-fips)?\.([a-z]{2,}(?:-[a-z]+)+-\d+)\./.exec(hostname)?.[1] ?? DEFAULT_REGION

const DEFAULT_REGION = 'us-east-1'

/** Each secret in a credential separately, because the answer to a faulty signature repeats parts of it. */
export const secretsOf = (apiKey: string | null): readonly string[] => {
  if (apiKey === null) return []
  const { secretAccessKey, sessionToken, accessKeyId } = awsCredentials(apiKey) ?? {}
  return [apiKey, secretAccessKey, sessionToken, accessKeyId].filter((secret) => secret !== undefined && secret.length >= 4) as string[]
}
