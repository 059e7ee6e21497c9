/**
 * Refuses files, vector stores, containers, skills, tunnels and connections that a request names by their ids: they are in the account behind
 * the credential with which the provider is asked. The operator's account belongs to no single client, so no request may reach into it; with a
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
  const { providerName, upstreamModel } = target
  for (const [index, item] of (items ? listOf(body.value(conversation)) : []).entries()) {
    if (!isObject(item)) continue
    const file = findIn(item, `${conversation}[${index}]`, idIn)
    if (file !== null) refuse(file.at, noFile(providerName, file.value))
    const address = findIn(item, `${conversation}[${index}]`, addressIn)
    if (address !== null) refuseName(address.at, providerName)
    const named = findIn(item, `${conversation}[${index}]`, (part) => textOfFile(part, upstreamModel))
    if (named !== null) refuseName(named.at, providerName)
    const { audio } = item
    if (isObject(audio) && isId(audio['id'])) refuseName(`${conversation}[${index}].audio.id`, providerName)
    refuseTools(item['tools'], `${conversation}[${index}].tools`, providerName)
  }
  refuseTools(body.value('tools'), 'tools', providerName)
  refuseSources((name) => body.value(name), target)
}

/** Throws `invalid_request` for a field that names what the operator's account may read. `valueOf` returns the value of a field. */
export const refuseSources = (valueOf: (field: string) => unknown, { storedObjects, providerName }: Target): void => {
  const source = storedObjects === true ? undefined : OF_ACCOUNT.find((name) => isNamed(name, valueOf(name)))
  if (source !== undefined) refuseName(source, providerName)
}

/** Azure's members beside the conversation: data that its own identity may read, and agents that the operator made there. */
const OF_ACCOUNT = ['data_sources', 'dataSources', 'agent_reference', 'agent'] as const

const isNamed = (name: string, value: unknown): boolean =>
  isObject(value) ? name !== 'agent' || value['type'] === 'agent_reference' : listOf(value).length > 0

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
const NAMED =
  /"(?:file_ids?|(?:vector_store|collection|library)_ids|container(?:_id)?|(?:skill|tunnel|project_connection|knowledge)_id|memory_store_name|data_sources|dataSources|agent_reference|audio)"/

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

/** Alibaba's models for documents take a system message that is `fileid://` and the id of an upload. */
const READS_FILES_BY_TEXT = /^qwen-(?:long|doc)/

const textOfFile = (part: unknown, upstreamModel: string): string | null => {
  const text = isObject(part) ? part['text'] : part
  return typeof text === 'string' && namesFile(text, upstreamModel) ? text : null
}

/** True if the model takes this text for a file of the account. */
export const namesFile = (text: string, upstreamModel: string): boolean =>
  READS_FILES_BY_TEXT.test(upstreamModel) && /^\s*fileid:/i.test(text)

const isId = (value: unknown): value is string => typeof value === 'string' && value !== ''

const refuseTools = (tools: unknown, at: string, providerName: string): void => {
  for (const [index, tool] of listOf(tools).entries()) {
    if (!isObject(tool) || typeof tool['type'] !== 'string') continue
    if (tool['type'] === 'mcp') {
      const way = WAYS_INSIDE.find((name) => isId(tool[name]))
      if (way !== undefined) refuseName(`${at}[${index}].${way}`, providerName)
    }
    if (OWN_NAMES.test(tool['type'])) continue
    const place = objectIn(tool, `${at}[${index}]`)
    if (place !== null) refuseName(place, providerName)
  }
}

/** A tunnel leads to servers in the operator's own network, and a connection has the operator's credentials for a server. */
const WAYS_INSIDE = ['tunnel_id', 'project_connection_id'] as const

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

const IDS: ReadonlySet<string> = new Set([
  'file_id',
  'container',
  'container_id',
  'project_connection_id',
  'knowledge_id',
  'memory_store_name',
])
const LISTS: ReadonlySet<string> = new Set(['file_ids', 'vector_store_ids', 'collection_ids', 'library_ids'])
