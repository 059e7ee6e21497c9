/**
 * Refuses media that a request names by an address in a private network. A provider gets such an address as it was written, and a server
 * of the operator's own would fetch it from where it stands: from its neighbours, or from the metadata of its cloud (decisions/0256).
 */
import type { JsonBody } from '../../lib/json/json-body.ts'
import { isObject, listOf } from '../../lib/json/json.ts'
import { parseIpv4, parseIpv6 } from '../../lib/network/ip-address.ts'
import { isPrivateName, PRIVATE_DOMAINS } from '../../lib/network/private-name.ts'
import { isPublicAddress } from '../../lib/network/safe-address.ts'
import { bareHost, type IsTrustedHost } from '../../lib/network/trusted-hosts.ts'
import type { Steps } from '../../lib/steps.ts'
import { lookForName } from '../../lib/text/may-name.ts'
import { refuse } from './stored-objects.ts'

/** Throws `invalid_request` naming the first such address. */
export function* refusePrivateMedia(body: JsonBody, isTrusted: IsTrustedHost): Steps<void> {
  for (const member of SEARCHED) {
    if (!(yield* mayNameDoubtfulAddress(body.rawSearchable(member) ?? ''))) continue
    yield* body.reading([member])
    for (const [index, item] of listOf(body.value(member)).entries()) refuseIn(item, `${member}[${index}]`, isTrusted)
  }
}

/** Returns what is wrong with the address; null if it may go to a provider. */
export const faultOfMediaAddress = (address: string, isTrusted: IsTrustedHost): string | null => {
  // URL parsers ignore white space before an address, and tabs and line ends within it.
  const head = address.slice(FIRST.exec(address)?.[0].length ?? 0)
  const scheme = SCHEME.exec(head)?.[1]
    ?.replaceAll(/[\t\n\r]/g, '')
    .toLowerCase()
  if (scheme === undefined) return PATH.test(head.slice(0, HEAD_MAX).replaceAll(/[\t\n\r]/g, '')) ? NO_ADDRESS : null
  if (scheme === 'data' || OF_STORES.has(scheme)) return null
  if (scheme !== 'http' && scheme !== 'https') return NO_ADDRESS
  const url = URL.parse(address)
  const written = PLAIN.exec(address)?.[1]?.toLowerCase()
  if (url === null || written === undefined) return DOUBTFUL
  const host = bareHost(url.hostname)
  const isIpv4 = parseIpv4(host) !== null
  const isPublic = isIpv4 || parseIpv6(host) !== null ? isPublicAddress(host) : !isPrivateName(host)
  if (!isPublic && !isTrusted(url)) return PRIVATE
  // Programs disagree about addresses with leading zeros.
  return isIpv4 && written !== host ? DOUBTFUL : null
}

const NO_ADDRESS = 'A file is named by an http: or https: address, or sent as a data: URL.'
const DOUBTFUL = 'Programs read this address differently. Write scheme and host plainly, or send the file as a data: URL.'
const SERVER =
  'A server of tools is named by a plain http: or https: address of the open internet, unless its host is in media.trusted_hosts of this service.'
const PRIVATE =
  'This address is not of the open internet; its host is not in media.trusted_hosts of this service. Send the file as a data: URL.'

/** Tools hold media too: the mask of a picture that is to be made. They also name servers, as `mcp_servers` does. */
const SEARCHED = ['messages', 'input', 'tools', 'mcp_servers'] as const

/** The types of tools and servers that a provider would ask, and the member with the address. */
const SERVERS = [
  ['mcp', 'server_url'],
  ['url', 'url'],
] as const

/** Characters in which a path on a server's disk is looked for. */
const HEAD_MAX = 4096
// oxlint-disable-next-line no-control-regex
const FIRST = /^[\s\0-\x1f]*/
const SCHEME = /^([a-z](?:[\t\n\r]*[a-z0-9+._-])*)[\t\n\r]*:/i
/** Some servers open the path of a picture on their own disk. Base64 has no dot. */
const PATH = /^\S+\.[a-z0-9]{2,5}\s*$/i
/** Buckets and uploads, for which stored-objects.ts has rules. */
const OF_STORES: ReadonlySet<string> = new Set(['gs', 's3', 'ms', 'oss'])
/** The host is in the same place for every parser: no backslash, white space, percent escape or second `@` is before the path. */
const PLAIN = /^\s*https?:\/\/(?:[^\s/?#\\@]*@)?(\[[^\s/?#\\@%\]]*\]|[^\s/?#\\@%:]+)(?::\d{0,5})?(?:[/?#]|$)/i

/** Searches JSON text for members of media that hold anything but data or an address of an ordinary public name. */
const mayNameDoubtfulAddress = (json: string): Steps<boolean> => lookForName(DOUBTFUL_MEMBER, json)

/** A name that ends in a public domain, and no port that could be the beginning of a password. */
const ORDINARY = String.raw`https?:(?:\\?\/){2}(?:[a-z\d_-]{1,63}\.){1,8}(?!(?:${PRIVATE_DOMAINS})\b)[a-z]{2,24}(?::\d{1,5})?(?:\\?\/|[?#"])`
const DOUBTFUL_MEMBER = new RegExp(
  `"(?:(?:(?:[a-z]{4,8}_)?url|image|video|audio)"[\\s:]+"|(?:file_)?data"[\\s:]+"(?![\\w+/=-]{32}))(?!data:|${ORDINARY})`,
  'i',
)

/** Members of a message, of its parts and of tools that hold parts. */
const HOLDERS = ['content', 'output', 'images', 'tools', 'input_image_mask'] as const
/** Members that are an address, or an object that holds one. */
const MEDIA = ['image_url', 'video_url', 'audio_url', 'file_url', 'document_url', 'image', 'video', 'audio', 'input_audio', 'file'] as const
/** Members of such an object. */
const INSIDE = ['url', 'data', 'file_data'] as const

const refuseIn = (item: unknown, at: string, isTrusted: IsTrustedHost): void => {
  if (!isObject(item)) return
  const check = (value: unknown, place: string): void => {
    const fault = typeof value === 'string' ? faultOfMediaAddress(value, isTrusted) : null
    if (fault !== null) refuse(place, fault)
  }
  for (const name of MEDIA) {
    const media = item[name]
    check(media, `${at}.${name}`)
    if (isObject(media)) for (const inner of INSIDE) check(media[inner], `${at}.${name}.${inner}`)
  }
  check(item['file_data'], `${at}.file_data`)
  for (const [type, name] of SERVERS) {
    const address = item['type'] === type ? item[name] : null
    if (typeof address === 'string' && faultOfMediaAddress(address, isTrusted) !== null) refuse(`${at}.${name}`, SERVER)
  }
  const { source } = item
  if (isObject(source)) {
    check(source['url'], `${at}.source.url`)
    refuseInside(source, `${at}.source`, isTrusted)
  }
  refuseInside(item, at, isTrusted)
}

const refuseInside = (holder: Readonly<Record<string, unknown>>, at: string, isTrusted: IsTrustedHost): void => {
  for (const name of HOLDERS) {
    const parts = holder[name]
    if (isObject(parts)) refuseIn(parts, `${at}.${name}`, isTrusted)
    for (const [index, part] of listOf(parts).entries()) refuseIn(part, `${at}.${name}[${index}]`, isTrusted)
  }
}
