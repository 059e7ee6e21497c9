/** Each setting in force, with its source; of a secret it only says that it is set. */
import { type ConfigFile, DEFAULT_CONFIG_FILE } from '../config-file.ts'
import { SERVE_SETTINGS, type Environment, type ServeSettings } from '../config.ts'
import type { EffectiveSetting } from '../contract/service-facts.ts'
import { isCredentialName } from '../lib/credential-names.ts'
import { isObject } from '../lib/json/json.ts'
import type { ReloadedSettings } from './reloadable.ts'

/** The settings from the start: a flag overrides its variable, and the variable overrides the default. */
export const startSettings = (settings: ServeSettings, env: Environment): readonly EffectiveSetting[] =>
  Object.entries(SERVE_SETTINGS).map(([key, { flag, env: variable, schema }]) => {
    const value = settings[key as keyof ServeSettings]
    const isSame = (text: string | undefined): boolean => {
      const parsed = schema.safeParse(text)
      return parsed.success && parsed.data === value
    }
    const reported = env[variable] || undefined
    const isOfVariable = reported !== undefined && isSame(reported)
    const name = flag === null ? variable : `--${flag}`
    const setting = { name, value: shown(variable, value) }
    if (!isOfVariable && isSame(undefined)) return { ...setting, source: 'default', place: null }
    return isOfVariable || flag === null ? { ...setting, source: 'variable', place: variable } : { ...setting, source: 'flag', place: name }
  })

/** The settings that the file has or could have. `lines` gives the line in the file by a member's path. Models are only counted. */
export const fileSettings = (file: ConfigFile, path: string | null, lines: ReadonlyMap<string, number>): readonly EffectiveSetting[] => {
  const { models, ...rest } = file
  const settings: EffectiveSetting[] = []
  const add = (name: string, value: unknown): void => {
    const line = lines.get(name)
    const place = line === undefined ? null : `${path ?? DEFAULT_CONFIG_FILE}:${line}`
    settings.push({ name, value, source: place === null ? 'default' : 'file', place })
  }
  const walk = (value: unknown, at: readonly string[]): void => {
    if (isObject(value) && Object.keys(value).length > 0) for (const [key, item] of Object.entries(value)) walk(item, [...at, key])
    else if (value !== undefined) add(at.join('.'), at.some(isSecretPart) ? masked(value) : shown(at.at(-1) ?? '', value))
  }
  walk(rest, [])
  add('models', Object.keys(models).length)
  return settings
}

/** With the values in force of the two bounds of bytes, which follow the memory of the process and the size of the largest body, too. */
export const withBytesInForce = (
  settings: readonly EffectiveSetting[],
  { bodyRoom, answerBytes }: Pick<ReloadedSettings, 'bodyRoom' | 'answerBytes'>,
  memoryBytes: number,
): readonly EffectiveSetting[] => {
  const inForce: Readonly<Record<string, number>> = {
    'limits.body_bytes_in_flight': bodyRoom.mostBytes,
    'limits.answer_bytes_in_flight': answerBytes,
  }
  return settings.map((setting) => {
    const { name, value, source, place } = setting
    const bytes = inForce[name]
    if (bytes === undefined || typeof value !== 'number' || bytes === value) return setting
    if (bytes > value) return { ...setting, value: bytes, place: `limits.max_body_bytes, instead of ${value}` }
    return { name, value: bytes, source: 'memory', place: `${memoryBytes} bytes; ${place ?? source} says ${value}` }
  })
}

const SET = '[set]'

/** Numbers and booleans are no secrets: `first_token` is a time. */
const masked = (value: unknown): unknown => (typeof value === 'string' || Array.isArray(value) ? SET : value)

const isSecretPart = (name: string): boolean =>
  /^(?:headers|env)$/i.test(name) || isCredentialName(name) || isCredentialName(name.replace(/s$/, ''))

const shown = (name: string, value: unknown): unknown => {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return value.map((item) => (isObject(item) ? SET : shown(name, item)))
  if (isSecretPart(name)) return masked(value)
  return typeof value === 'string' ? withoutPassword(value) : value
}

/** The URL without user, password and query. */
const withoutPassword = (text: string): string => {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? URL.parse(text) : null
  if (url === null || (url.username === '' && url.password === '' && url.search === '')) return text
  if (url.username !== '' || url.password !== '') {
    url.username = 'user'
    url.password = ''
  }
  url.search = ''
  return url.href
}
