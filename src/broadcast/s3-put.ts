/** A signed PUT of one object to S3 or a compatible service (Signature Version 4). */
import type { DestinationConfig } from '../contract/destination.ts'
import type { Outgoing } from './outgoing.ts'
import type { RequestTrace } from './request-trace.ts'
import { traceIdIn } from './trace-spans.ts'

type S3Config = DestinationConfig<'s3'>

export const createS3Put =
  (config: S3Config): ((path: string, body: string, nowMs: number) => Promise<Outgoing>) =>
  async (path, body, nowMs) => {
    // Loaded on first use, so that services without such a destination do not pay for it.
    const [{ SignatureV4 }, { Sha256 }] = await Promise.all([import('@smithy/signature-v4'), import('@smithy/core/checksum')])
    const { protocol, host, hostname, pathname } = new URL(objectUrl(config, path))
    const signer = new SignatureV4({
      service: 's3',
      region: config.region,
      // The path is already encoded, once, as S3 wants it.
      uriEscapePath: false,
      credentials: {
        accessKeyId: config.access_key_id,
        secretAccessKey: config.secret_access_key,
        ...(config.session_token === undefined ? {} : { sessionToken: config.session_token }),
      },
      sha256: Sha256,
    })
    const headers = { ...config.headers, 'content-type': 'application/json', host }
    const signed = await signer.sign({ method: 'PUT', protocol, hostname, path: pathname, headers, body }, { signingDate: new Date(nowMs) })
    return {
      url: `${protocol}//${host}${pathname}`,
      method: 'PUT',
      // The HTTP client sets `host` itself.
      headers: Object.fromEntries(Object.entries(signed.headers).filter(([name]) => name !== 'host')),
      body,
      gzip: false,
    }
  }

/** Amazon's buckets are hosts; those of other services are paths below an endpoint. */
const objectUrl = ({ endpoint, bucket_name: bucket, region }: S3Config, path: string): string => {
  const key = path.split('/').map(escaped).join('/')
  return endpoint === undefined
    ? `https://${bucket}.s3.${region}.amazonaws.com/${key}`
    : `${endpoint.replace(/\/+$/, '')}/${escaped(bucket)}/${key}`
}

/** Escapes everything but letters, digits and `-._~`, as S3 does for signatures. */
const escaped = (segment: string): string =>
  encodeURIComponent(segment).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)

/** The path of an object: `{path}/{traceId}-{timestamp}.json`. */
export const objectPath = ({ path_template: template, prefix }: S3Config, trace: RequestTrace): string => {
  const [day = '', time = ''] = new Date(trace.endedMs).toISOString().split('T')
  const [year = '', month = '', dayOfMonth = ''] = day.split('-')
  const values: Readonly<Record<string, string>> = {
    prefix,
    date: day,
    year,
    month,
    day: dayOfMonth,
    apiKeyName: segment(trace.keyName ?? 'unknown'),
  }
  const path = template.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
  const folder = path
    .split('/')
    .filter((part) => part !== '' && part !== '.' && part !== '..')
    .join('/')
  const file = `${traceIdIn(trace)}-${day}T${time.replaceAll(':', '-').replace('Z', '')}Z.json`
  return folder === '' ? file : `${folder}/${file}`
}

/** A name chosen by somebody must be a single segment of the path. */
const segment = (name: string): string => name.replaceAll('/', '_')
