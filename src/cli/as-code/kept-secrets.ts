/**
 * Credentials inside presets are never written to a file: a placeholder is written instead, and the
 * service's own value replaces it on the way back.
 */
import { secretsIn, withTexts, type PresetSecret } from '../../canonical/preset-secrets.ts'
import { SettingError, type Environment } from '../../config.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'

/** The placeholder for the value that the service has at this place. */
const KEPT = '${kept}'

const credentialsIn = (config: JsonObject): readonly PresetSecret[] => secretsIn(config).filter(({ kind }) => kind === 'credential')

export const withoutSecrets = (config: JsonObject): JsonObject =>
  withTexts(
    config,
    credentialsIn(config).map(({ path }) => ({ path, value: KEPT })),
  ) as JsonObject

/**
 * The configuration with `${NAME}` at each place where the file has it, unless the variable is set to something else than the service has
 * there; all other credentials are `${kept}`. So a variable that is not set stands for whatever the service has.
 */
export const withReferences = (config: JsonObject, file: JsonObject, served: JsonObject, env: Environment): JsonObject => {
  const known = valuesByPlace(served)
  const inFile = valuesByPlace(file)
  return withTexts(
    config,
    credentialsIn(config).map(({ path }) => {
      const place = placeOf(config, path)
      const reference = inFile.get(place) ?? KEPT
      const name = nameIn(reference)
      if (name === undefined) return { path, value: KEPT }
      const set = env[name] ?? ''
      const isOther = set !== '' && known.has(place) && known.get(place) !== set
      return { path, value: isOther ? KEPT : reference }
    }),
  ) as JsonObject
}

const valuesByPlace = (config: JsonObject): ReadonlyMap<string, string> =>
  new Map(credentialsIn(config).map(({ path, value }) => [placeOf(config, path), value]))

/** The name in `${NAME}`, also that of `${kept}`. */
const nameIn = (value: string): string | undefined => /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(value)?.[1]

/**
 * The configuration to send: `${kept}` is replaced by the service's value at the same place of the same tool, `${NAME}` by a variable.
 * `plain` lists the places that contain a literal credential. Throws SettingError, which names the place.
 */
export const withSecrets = (
  config: JsonObject,
  served: JsonObject | null,
  env: Environment,
): { config: JsonObject; plain: readonly string[] } => {
  const known = valuesByPlace(served ?? {})
  const plain: string[] = []
  const texts = credentialsIn(config).map(({ path, value }) => {
    const name = nameIn(value)
    if (name === undefined) {
      plain.push(path.join('.'))
      return { path, value }
    }
    const found = value === KEPT ? known.get(placeOf(config, path)) : env[name]
    if (found !== undefined && found !== '') return { path, value: found }
    throw new SettingError(
      value === KEPT
        ? `config.${path.join('.')}: the service has no credential for this tool; write the name of a variable that holds it, such as \${MY_TOKEN}.`
        : `config.${path.join('.')}: the variable ${name} is not set.`,
    )
  })
  return { config: withTexts(config, texts) as JsonObject, plain }
}

/** A place in a list is identified by its element, with its address, so that no credential moves to another tool or host. */
const placeOf = (config: JsonObject, path: PresetSecret['path']): string => {
  let at: JsonValue = config
  const steps = path.map((step) => {
    const parent: JsonValue = at
    at = childOf(parent, step)
    return Array.isArray(parent) && isObject(at) ? NAMING.map((name) => childOf(at, name)) : step
  })
  return JSON.stringify(steps)
}

const NAMING = ['type', 'id', 'name', 'server_label', 'server_url', 'url', 'base_url']

const childOf = (value: JsonValue, step: string | number): JsonValue => {
  if (Array.isArray(value)) return (value as readonly JsonValue[])[Number(step)] ?? null
  return isObject(value) && Object.hasOwn(value, step) ? (value[step] ?? null) : null
}
