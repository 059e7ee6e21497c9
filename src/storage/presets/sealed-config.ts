/** A preset's configuration as stored: the parts that only management keys may read are sealed, everything else is plain. */
import { secretsIn, withTexts } from '../../canonical/preset-secrets.ts'
import type { PresetVersionResource } from '../../contract/preset.ts'
import { parseJsonInSteps, writeInSteps } from '../../lib/json/json-steps.ts'
import { isList, isMap, type JsonObject } from '../../lib/json/json.ts'
import { LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import type { TextSeal } from '../rows/seal.ts'

type Config = PresetVersionResource['config']
type Secrets = readonly { readonly path: readonly (string | number)[]; readonly value: string }[]

/** A configuration as stored in its row. */
export interface ConfigRow {
  /** JSON: the configuration or, if it has secrets, a pair of the rest of it and the sealed secrets. */
  readonly text: string
  readonly hasSecrets: boolean
}

/** Runs in steps, before the transaction that writes the result. */
export function* storeConfig(config: Config, versionId: string, { seal }: TextSeal): Steps<ConfigRow> {
  const secrets: Secrets = secretsIn(config).map(({ path, value }) => ({ path, value }))
  yield
  if (secrets.length === 0) return { text: yield* writeInSteps(config), hasSecrets: false }
  const rest = withTexts(
    config,
    secrets.map(({ path }) => ({ path, value: '' })),
  )
  yield
  const sealed = seal(yield* writeInSteps(secrets), contextOf(versionId))
  yield
  return { text: `[${yield* writeInSteps(rest)},${JSON.stringify(sealed)}]`, hasSecrets: true }
}

/** Throws as `open` does. */
export function* readConfig(stored: string, versionId: string, { open }: TextSeal): Steps<Config> {
  const value = yield* parseJsonInSteps(stored)
  const [rest, sealed] = isList(value) ? value : [value, null]
  if (!isMap(rest) || !(sealed === null || typeof sealed === 'string') || !hasWholeLocks(rest))
    throw new TypeError('The configuration of a preset was expected.')
  if (sealed === null) return rest as Config
  const secrets = (yield* parseJsonInSteps(open(sealed, contextOf(versionId)))) as unknown as Secrets
  if (stored.length > LARGE_BYTES) yield
  return withTexts(rest, secrets) as Config
}

/** A request may set what no lock names, so a damaged lock would be lost without a word. */
const hasWholeLocks = ({ locked = null }: JsonObject): boolean =>
  locked === null || (isList(locked) && locked.every((name) => typeof name === 'string'))

const contextOf = (versionId: string): string => `preset-version ${versionId}`
