/**
 * Refuses files, vector stores, containers, skills and tunnels that a request names by their ids: they are in the account behind the
 * credential with which the provider is asked. The operator's account belongs to no single client, so no request may reach into it; with a
 * key of the customer's own, a request reaches what is the customer's (docs/contract/responses.md#nothing-is-stored).
 */
import { GatewayError } from '../../errors.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { isObject, listOf } from '../../lib/json/json.ts'
import { lookForName } from '../../lib/text/may-name.ts'
import type { Steps } from '../../lib/steps.ts'
import { noFile } from './no-file.ts'
import { isStoredAddress, lookForStoredAddress } from './stored-addresses.ts'
import type { Target } from '../provider.ts'

/** Throws `invalid_request` naming the first such object. `conversation`: the member in which the dialect keeps the conversation. */
export function* refuseStoredObjects(body: JsonBody, conversation: 'messages' | 'input', target: Target): Steps<void> {
  if (target.storedObjects === true || !(yield* mayHold(body.searchable))) return
  yield
  const items = yield* mayHold(body.rawSearchable(conversation) ?? '')
  yield* body.reading(items ? [conversation, 'tools'] : ['tools'])
  const { providerName } = target
  for (const [index, item] of (items ? listOf(body.value(conversation)) : []).entries()) {
    if (!isObject(item)) continue
    const file = findIn(item, `${conversation}[${index}]`, idIn)
    if (file !== null) refuse(file.at, noFile(providerName, file.value))
    const address = findIn(item, `${conversation}[${index}]`, addressIn)
    if (address !== null) refuseName(address.at, providerName)
    const { audio } = item
    if (isObject(audio) && isId(audio['id'])) refuseName(`${conversation}[${index}].audio.id`, providerName)
    refuseTools(item['tools'], `${conversation}[${index}].tools`, providerName)
  }
  refuseTools(body.value('tools'), 'tools', providerName)
}

/** Like `refuseStoredObjects` for the tools alone, when the conversation is translated. */
export const refuseStoredInTools = (body: JsonBody, { storedObjects, providerName }: Target): void => {
  if (storedObjects !== true && NAMED.test(body.rawSearchable('tools') ?? '')) refuseTools(body.value('tools'), 'tools', providerName)
}

/** Throws `invalid_request`. */
export const refuse = (field: string, message: string): never => {
  throw new GatewayError('invalid_request', `${field}: ${message}`, { metadata: { field } })
}

export const refuseName = (field: string, providerName: string): never =>
  refuse(field, `This names an object in the account of this service at ${providerName}, which requests may not use.`)

function* mayHold(json: string): Steps<boolean> {
  return (yield* lookForName(NAMED, json)) || (yield* lookForStoredAddress(json))
}

/** The members that name such an object. */
const NAMED = /"(?:file_ids?|vector_store_ids|container(?:_id)?|skill_id|tunnel_id|audio)"/

interface Found<Value> {
  readonly at: string
  readonly value: Value
}

/** Returns the first result of `find`: among the parts of the message, or among those that a tool returned. */
const findIn = <Value>(item: Readonly<Record<string, unknown>>, at: string, find: (part: unknown) => Value | null): Found<Value> | null => {
  for (const member of ['content', 'output']) {
    const parts = item[member]
    for (const [index, part] of [parts, ...listOf(parts)].entries()) {
      const value = find(part)
      if (value !== null) return { at: index === 0 ? `${at}.${member}` : `${at}.${member}[${index - 1}]`, value }
    }
  }
  return null
}

const idIn = (part: unknown): string | null => {
  if (!isObject(part)) return null
  const id = part['file_id'] ?? (isObject(part['file']) ? part['file']['file_id'] : null)
  return isId(id) ? id : null
}

const MEDIA = ['image_url', 'video_url', 'audio_url', 'file_url', 'document_url']

const addressIn = (part: unknown): string | null => {
  if (!isObject(part)) return null
  const addresses = MEDIA.map((name) => part[name]).map((media) => (isObject(media) ? media['url'] : media))
  return addresses.find((address): address is string => typeof address === 'string' && isStoredAddress(address)) ?? null
}

const isId = (value: unknown): value is string => typeof value === 'string' && value !== ''

const refuseTools = (tools: unknown, at: string, providerName: string): void => {
  for (const [index, tool] of listOf(tools).entries()) {
    if (!isObject(tool) || typeof tool['type'] !== 'string') continue
    // A tunnel of the account leads to servers in the operator's own network.
    if (tool['type'] === 'mcp' && isId(tool['tunnel_id'])) refuseName(`${at}[${index}].tunnel_id`, providerName)
    if (OWN_NAMES.test(tool['type'])) continue
    const place = objectIn(tool, `${at}[${index}]`)
    if (place !== null) refuseName(place, providerName)
  }
}

/** Tools whose members hold the client's own words, and tools that this service runs itself. */
const OWN_NAMES = /^(?:function|custom|namespace|mcp)$|^(?:service|openrouter):/

const objectIn = (value: unknown, at: string): string | null => {
  if (Array.isArray(value)) return firstPlace(value.map((element: unknown, index) => [`${at}[${index}]`, element]))
  if (!isObject(value)) return null
  const named = Object.entries(value).find(([name, member]) => isNaming(name, member))
  if (named !== undefined) return `${at}.${named[0]}`
  return firstPlace(Object.entries(value).map(([name, member]) => [`${at}.${name}`, member]))
}

const firstPlace = (inner: readonly (readonly [string, unknown])[]): string | null => {
  for (const [at, value] of inner) {
    const place = objectIn(value, at)
    if (place !== null) return place
  }
  return null
}

const isNaming = (name: string, value: unknown): boolean => {
  // A skill of the provider has a name; a skill stored in an account has an id.
  if (name === 'skill_id') return typeof value === 'string' && value.startsWith('skill_')
  return IDS.has(name) ? isId(value) : LISTS.has(name) && listOf(value).length > 0
}

const IDS: ReadonlySet<string> = new Set(['file_id', 'container', 'container_id'])
const LISTS: ReadonlySet<string> = new Set(['file_ids', 'vector_store_ids'])
