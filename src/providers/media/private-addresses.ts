/**
 * Refuses media that a request names by an address in a private network. A provider gets such an address as it was written, and a server
 * of the operator's own would fetch it from where it stands: from its neighbours, or from the metadata of its cloud (decisions/0256).
 */
import { plainName } from '../../canonical/conversation-media.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { isObject, listOf, textOf } from '../../lib/json/json.ts'
import { parseIpv4, parseIpv6 } from '../../lib/network/ip-address.ts'
import { isPrivateName, PRIVATE_DOMAINS } from '../../lib/network/private-name.ts'
import { isPublicAddress } from '../../lib/network/safe-address.ts'
import { bareHost, type IsTrustedHost } from '../../lib/network/trusted-hosts.ts'
import type { Steps } from '../../lib/steps.ts'
import { lookForName } from '../../lib/text/may-name.ts'
import { wordSet } from '../../lib/text/word-set.ts'
import { refuse } from './stored-objects.ts'

/** Throws `invalid_request` naming the first such address. */
export function* refusePrivateMedia(body: JsonBody, isTrusted: IsTrustedHost): Steps<void> {
  for (const member of SEARCHED) {
    if (!(yield* mayNameDoubtfulAddress(body.rawSearchable(member) ?? ''))) continue
    yield* body.reading([member])
    for (const [index, item] of listOf(body.value(member)).entries()) refuseIn(item, `${member}[${index}]`, isTrusted)
  }
  for (const key of body.keys) if (BESIDE.has(plainName(key))) refuseAnywhere(yield* body.parsing(key), key, isTrusted)
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

/** Members beside the conversation that hold media at some servers (vLLM, SGLang, Ollama), in the form of `plainName`. */
const BESIDE: ReadonlySet<string> = wordSet(`
  multimodaldata mmdata mmprocessorkwargs image images imagedata imageurl imageurls video videos videodata videourl videourls
  audios audiodata audiourl audiourls
`)

/** Each text in such a member may be an address. */
const refuseAnywhere = (value: unknown, place: string, isTrusted: IsTrustedHost): void => {
  const fault = typeof value === 'string' ? faultOfMediaAddress(value, isTrusted) : null
  if (fault !== null) refuse(place, fault)
  if (Array.isArray(value)) for (const [index, one] of listOf(value).entries()) refuseAnywhere(one, `${place}[${index}]`, isTrusted)
  else if (isObject(value)) for (const [name, one] of Object.entries(value)) refuseAnywhere(one, `${place}.${name}`, isTrusted)
}

/** The types of tools and servers that a provider would ask, and the member with the address. */
const SERVERS: ReadonlyMap<string, string> = new Map([
  ['mcp', 'server_url'],
  ['url', 'url'],
])

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
  `"(?:(?:(?:[a-z]{4,8}_)?url|image|video|audio)"[\\s:]+["[]|(?:(?:file_)?data|result)"[\\s:]+"(?![\\w+/=-]{32}))(?!data:|${ORDINARY})`,
  'i',
)

/** Members of a message, of its parts and of tools that hold parts. */
const HOLDERS: ReadonlySet<string> = new Set(['content', 'output', 'images', 'tools', 'input_image_mask'])
/** Members that are an address, an object that holds one, or a list of them (Qwen takes the pictures of a video so). */
const MEDIA: ReadonlySet<string> = wordSet(
  'image_url video_url audio_url file_url document_url image video audio input_audio file file_data',
)
/** Members of such an object. */
const INSIDE: ReadonlySet<string> = new Set(['url', 'data', 'file_data'])

const refuseIn = (item: unknown, at: string, isTrusted: IsTrustedHost): void => {
  const check = (value: unknown, place: string): void => {
    const fault = typeof value === 'string' ? faultOfMediaAddress(value, isTrusted) : null
    if (fault !== null) refuse(place, fault)
  }
  const checkMedia = (media: unknown, place: string): void => {
    check(media, place)
    for (const [name, value, inner] of membersAt(media, place)) if (INSIDE.has(name)) check(value, inner)
    for (const [index, one] of listOf(media).entries()) checkMedia(one, `${place}[${index}]`)
  }
  const server = isObject(item) ? SERVERS.get(textOf(item['type'])) : undefined
  for (const [name, value, place] of membersAt(item, at)) {
    if (name === server) {
      if (typeof value === 'string' && faultOfMediaAddress(value, isTrusted) !== null) refuse(place, SERVER)
    } else if (MEDIA.has(name)) checkMedia(value, place)
    else if (name === 'source') {
      for (const [inner, address, below] of membersAt(value, place)) if (inner === 'url') check(address, below)
      refuseIn(value, place, isTrusted)
    } else if (HOLDERS.has(name)) {
      refuseIn(value, place, isTrusted)
      for (const [index, part] of listOf(value).entries()) refuseIn(part, `${place}[${index}]`, isTrusted)
      // A picture of an earlier answer goes to a provider that speaks another dialect as one that the client names.
    } else if (name === 'result' && isObject(item) && item['type'] === 'image_generation_call') check(value, place)
  }
}

/** Names in lower case, since some servers (those in Go) read them in any case; values, and their paths. */
const membersAt = (item: unknown, at: string): readonly (readonly [string, unknown, string])[] =>
  isObject(item) ? Object.entries(item).map(([name, value]) => [name.toLowerCase(), value, `${at}.${name}`]) : []
