/**
 * The configuration of a destination: it is read in snake or camel case, returned masked in the case in which it was written, and merged.
 */
import type { z } from 'zod'

import { DESTINATION_TYPE_NAMES, DESTINATION_TYPES, type DestinationConfig, type DestinationType } from '../contract/destination.ts'
import { invalidField, invalidRequest, ISSUES_MAX, validate } from '../contract/validate.ts'
import { GatewayError } from '../errors.ts'
import { cutText } from '../lib/text/cut-text.ts'
import { isObject, type JsonObject, type JsonValue, textOf } from '../lib/json/json.ts'

/** The configuration as it is stored: complete, in snake case, with the case that the client wrote. */
export interface StoredConfig {
  readonly values: JsonObject
  readonly spelling: 'snake' | 'camel'
}

/** Throws `invalid_request` for an unknown type. */
export const knownType = (type: string): DestinationType => {
  const known = DESTINATION_TYPE_NAMES.find((name) => name === type)
  if (known !== undefined) return known
  throw new GatewayError(
    'invalid_request',
    `type: "${cutText(type, 64)}" is not supported here. Use one of ${DESTINATION_TYPE_NAMES.join(', ')}; otel-collector serves any other receiver of OTLP.`,
  )
}

/** Throws `invalid_request` naming each member that is missing or wrong. */
export const readConfig = (type: DestinationType, given: JsonObject): StoredConfig => {
  refuseTwice(given)
  const spelling = Object.keys(given).some((key) => /[A-Z]/.test(key)) ? 'camel' : 'snake'
  return { values: validated(type, respelled(given, snake)), spelling }
}

/**
 * A member that a patch leaves out, or a secret that it repeats masked, stays as it was; null clears it. A secret is kept only for the
 * address for which it was entered: throws `invalid_request` naming each secret that would go to another address.
 */
export const mergeConfig = (type: DestinationType, before: StoredConfig, patch: JsonObject): StoredConfig => {
  refuseTwice(patch)
  const given = respelled(patch, snake)
  const changes = Object.entries(given).filter(([key, value]) => !isSecret(type, key) || !isMask(value))
  const merged = Object.fromEntries(
    Object.entries({ ...before.values, ...Object.fromEntries(changes) }).filter(([, value]) => value !== null),
  ) as Record<string, JsonValue>
  const headers = given['headers']
  if (isObject(headers)) merged['headers'] = mergeHeaders(before.values['headers'], headers)
  const values = validated(type, merged)
  const entered = new Set(secretsOf(type, given).flatMap(([place, value]) => (isMask(value) ? [] : [place])))
  const kept = secretsOf(type, values).filter(([place]) => !entered.has(place))
  if (kept.length > 0 && isElsewhere(before.values, values))
    throw invalidRequest(kept.map(([place]) => ({ path: `config.${place}`, message: 'The address has changed: send this value again.' })))
  return { values, spelling: before.spelling }
}

/** The members that hold the address of a destination. */
const ADDRESSES = ['endpoint', 'url', 'base_url', 'otlp_endpoint'] as const

const isElsewhere = (before: JsonObject, after: JsonObject): boolean =>
  ADDRESSES.some((name) => originOf(before[name]) !== originOf(after[name]))

const hasCredentials = (address: JsonValue | undefined): boolean => {
  const url = typeof address === 'string' ? URL.parse(address) : null
  return url !== null && (url.username !== '' || url.password !== '')
}

const originOf = (address: JsonValue | undefined): string | null =>
  typeof address === 'string' ? (URL.parse(address)?.origin ?? null) : null

/** Each secret with its place in the configuration, such as `api_key` or `headers.x-token`. */
const secretsOf = (type: DestinationType, values: JsonObject): readonly (readonly [place: string, value: JsonValue])[] => [
  ...Object.entries(values).filter(([key]) => isSecret(type, key)),
  ...headersOf(values['headers']).map(([name, value]) => [`headers.${name}`, value] as const),
]

const headersOf = (headers: JsonValue | undefined): readonly (readonly [name: string, value: JsonValue])[] =>
  Object.entries(isObject(headers) ? headers : {})

/** The configuration as it is shown to clients. */
export const shownConfig = (type: DestinationType, { values, spelling }: StoredConfig): JsonObject => {
  const masked = maskedValues(type, values)
  return spelling === 'camel' ? respelled(masked, camel) : masked
}

/** Cannot fail, since the stored values passed the schema. */
export const configOf = <Type extends DestinationType>(type: Type, { values }: StoredConfig): DestinationConfig<Type> =>
  DESTINATION_TYPES[type].config.parse(values) as DestinationConfig<Type>

const validated = (type: DestinationType, values: JsonObject): JsonObject => {
  const schema: z.ZodObject = DESTINATION_TYPES[type].config
  const read = validate(schema, values, ['config']) as JsonObject
  const hidden = secretsOf(type, read).find(([, value]) => isMask(value))
  if (hidden !== undefined) throw invalidField(`config.${hidden[0]}`, 'This is a masked value; send the secret itself.')
  const withPassword = ADDRESSES.find((name) => hasCredentials(read[name]))
  if (withPassword !== undefined)
    throw invalidField(
      `config.${withPassword}`,
      'Send a name and password in `headers`: answers show the address, and one with them is not asked.',
    )
  return read
}

const maskedValues = (type: DestinationType, values: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      if (key === 'headers' && isObject(value))
        return [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, masked(textOf(one))]))]
      return [key, isSecret(type, key) && typeof value === 'string' ? masked(value) : value]
    }),
  )

const isSecret = (type: DestinationType, key: string): boolean => (DESTINATION_TYPES[type].secrets as readonly string[]).includes(key)

/** A short secret is hidden entirely, because any part of it would give too much away. */
const masked = (secret: string): string => (secret.length < 20 ? '…' : `${secret.slice(0, 3)}…${secret.slice(-4)}`)

const isMask = (value: JsonValue): boolean => typeof value === 'string' && /…|\*{3,}/.test(value)

/** A header that is not named is removed. One whose value is masked stays as it was, whatever the case of its name. */
const mergeHeaders = (before: JsonValue | undefined, given: JsonObject): JsonObject => {
  const known = new Map(headersOf(before).map(([name, value]) => [name.toLowerCase(), value]))
  return Object.fromEntries(
    headersOf(given).map(([name, value]) => [name, isMask(value) ? (known.get(name.toLowerCase()) ?? value) : value]),
  )
}

/** Which of two values is in force would depend on their order. Throws `invalid_request` naming each repetition. */
const refuseTwice = (given: JsonObject): void => {
  const headers = headersOf(given['headers']).map(([name]) => name)
  const paths = [
    ...repeated(Object.keys(given), snake).map((name) => `config.${name}`),
    ...repeated(headers, (name) => name.toLowerCase()).map((name) => `config.headers.${name}`),
  ]
  if (paths.length === 0) return
  throw invalidRequest(
    paths.slice(0, ISSUES_MAX).map((path) => ({ path, message: 'The same field is sent in another spelling too. Send it once.' })),
  )
}

/** The names that mean the same as one before them. */
const repeated = (names: readonly string[], meaning: (name: string) => string): readonly string[] => {
  const seen = new Set<string>()
  const again: string[] = []
  for (const name of names) {
    if (seen.has(meaning(name))) again.push(name)
    seen.add(meaning(name))
  }
  return again
}

const respelled = (values: JsonObject, spell: (name: string) => string): JsonObject =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [spell(key), value]))

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
