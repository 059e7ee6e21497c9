/** Applies a plan to a running service. Existing objects are left alone, so a second run changes nothing. */
import { z } from 'zod'

import { type apiKey, createdKey } from '../../contract/key.ts'
import { preset, presetVersion, savedPreset } from '../../contract/preset.ts'
import { asOneLine } from '../../contract/stored-text.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { isSame, type Document } from '../as-code/document.ts'
import { guardrailKind } from '../as-code/guardrail-kind.ts'
import { allKeys, keyKind } from '../as-code/key-kind.ts'
import { bodyOf, SAVED_AT } from '../as-code/preset-kind.ts'
import { type Remote, RemoteRefused } from '../remote.ts'
import type { ImportPlan, PlannedKey, PlannedPreset, PlannedVersion } from './import-plan.ts'
import { takeBack } from './take-back.ts'
import { wordSet } from '../../lib/text/word-set.ts'

export interface CarryOutOptions {
  readonly dryRun: boolean
  /** Also changes existing objects that differ. */
  readonly overwrite: boolean
  readonly createKeys: boolean
  readonly env: Readonly<Record<string, string | undefined>>
}

/** `done`: created or changed. `kept`: already as wanted. `left`: differs or cannot be created, and was left alone. */
export interface Done {
  readonly state: 'done' | 'kept' | 'left' | 'refused'
  readonly says: string
  /** A new key, which is shown only this once. */
  readonly made?: z.output<typeof createdKey>
}

export async function* carryOut(plan: ImportPlan, remote: Remote, options: CarryOutOptions): AsyncGenerator<Done> {
  for (const planned of plan.presets) yield await guarded(`preset ${planned.slug}`, () => bringPreset(planned, remote, options))
  const guardrails = plan.guardrails.length === 0 ? [] : await guardrailKind.list(remote)
  for (const planned of plan.guardrails) {
    const { identity, document } = guardrailKind.read(planned, '')
    const current = guardrails.find((one) => one.identity === identity) ?? null
    yield await guarded(`guardrail ${identity}`, async (): Promise<Done> => {
      const name = `guardrail ${identity}`
      if (current !== null && isSame(current.document, document)) return { state: 'kept', says: name }
      if (current !== null && !options.overwrite) return { state: 'left', says: `${name}: the service has another one of this name` }
      if (!options.dryRun)
        await guardrailKind.write(remote, document, current, { env: options.env, warn: () => undefined, designate: true })
      return { state: 'done', says: name }
    })
  }
  const keys = plan.keys.length === 0 ? [] : await allKeys(remote)
  for (const planned of plan.keys) yield await guarded(`key ${planned.name}`, () => bringKey(planned, keys, remote, options))
}

const guarded = async (name: string, bring: () => Promise<Done>): Promise<Done> => {
  try {
    return await bring()
  } catch (thrown) {
    if (!(thrown instanceof RemoteRefused)) throw thrown
    const [issue] = thrown.issues
    return { state: 'refused', says: `${name}: ${issue === undefined ? thrown.message : `${issue.path}: ${issue.message}`}` }
  }
}

const contentOf = ({ shape, systemPrompt, config }: PlannedVersion): Document => ({ shape, system_prompt: systemPrompt, config })

const bringPreset = async (planned: PlannedPreset, remote: Remote, options: CarryOutOptions): Promise<Done> => {
  const name = `preset ${planned.slug}`
  const path = `/presets/${encodeURIComponent(planned.slug)}`
  const existing = await readVersions(remote, path)
  const numberOf = (version: PlannedVersion): number | undefined =>
    existing?.find(({ shape, system_prompt, config }) => isSame({ shape, system_prompt, config }, contentOf(version)))?.version
  const missing = planned.versions.filter((version) => numberOf(version) === undefined)
  if (existing !== null && missing.length === 0) return { state: 'kept', says: name }
  if (existing !== null && !options.overwrite && !isEarlierImport(existing.length, missing.length, planned))
    return { state: 'left', says: `${name}: the service has another one of this name; --overwrite makes a new version of it` }
  if (options.dryRun)
    return { state: 'done', says: `${name}${planned.versions.length > 1 ? ` with ${planned.versions.length} versions` : ''}` }
  const labels: Record<string, number> = {}
  const numbers: number[] = []
  for (const version of planned.versions) {
    const number = numberOf(version) ?? (await saveVersion(version, remote, path))
    numbers.push(number)
    if (version.label !== undefined) labels[version.label] = number
  }
  await remote.ask('PATCH', path, { body: patchOf(planned, labels, numbers[planned.designated ?? numbers.length - 1] ?? 1) })
  return { state: 'done', says: `${name}${numbers.length > 1 ? ` with ${numbers.length} versions` : ''}` }
}

/** All existing versions came from this file, which has more versions by now. */
const isEarlierImport = (existing: number, missing: number, { versions }: PlannedPreset): boolean => existing === versions.length - missing

const patchOf = ({ name, description }: PlannedPreset, labels: Readonly<Record<string, number>>, designated: number): JsonObject => ({
  designated_version: designated,
  ...nameOf(name),
  ...(description === undefined ? {} : { description: description.slice(0, 2000).toWellFormed() }),
  ...(Object.keys(labels).length === 0 ? {} : { labels }),
})

/** Other products allow names of several lines. A name that the service refuses would come after the versions, and end the import between. */
const nameOf = (name: string | undefined): JsonObject => {
  const line = asOneLine((name ?? '').slice(0, 200).toWellFormed()).trim()
  return line === '' ? {} : { name: line }
}

type Version = z.output<typeof presetVersion>

/** Null if there is no such preset, or it is archived: then it is created as if it were new. */
const readVersions = async (remote: Remote, path: string): Promise<readonly Version[] | null> => {
  try {
    const { status } = preset.parse((await remote.ask('GET', path)).json['data'])
    return status === 'archived' ? null : z.array(presetVersion).parse(await remote.list(`${path}/versions`))
  } catch (thrown) {
    if (thrown instanceof RemoteRefused && thrown.status === 404) return null
    throw thrown
  }
}

const saveVersion = async ({ shape, systemPrompt, config }: PlannedVersion, remote: Remote, path: string): Promise<number> => {
  const { json } = await remote.ask('POST', `${path}/${SAVED_AT[shape]}`, {
    body: bodyOf(shape, systemPrompt, config),
    query: { designate: 'false' },
  })
  const { saved_version: draft, designated_version: designated } = savedPreset.parse(json['data'])
  return (draft ?? designated).version
}

const bringKey = async (
  { name, limits }: PlannedKey,
  keys: readonly z.output<typeof apiKey>[],
  remote: Remote,
  options: CarryOutOptions,
): Promise<Done> => {
  const says = `limits of the key ${JSON.stringify(name)}`
  const current = keys.find((key) => key.name === name)
  if (current !== undefined) {
    const { document } = keyKind.read({ hash: current.hash, name, ...limits }, '')
    const own = keyKind.read(
      Object.fromEntries(Object.entries(current).filter(([field]) => field in document || LIMIT_FIELDS.has(field))),
      '',
    ).document
    if (isSame(own, document)) return { state: 'kept', says }
    if (!options.overwrite) return { state: 'left', says: `${says}: the service has others; --overwrite sets these` }
    if (!options.dryRun)
      await keyKind.write(
        remote,
        document,
        { identity: current.hash, id: current.hash, document: own },
        { env: options.env, warn: () => undefined, designate: true },
      )
    return { state: 'done', says }
  }
  if (!options.createKeys) return { state: 'left', says: `${says}: the service has no key of this name; --create-keys makes it` }
  if (options.dryRun) return { state: 'done', says: `a new key ${JSON.stringify(name)} with its limits` }
  const { disabled, ...settable } = limits
  const { json } = await remote.ask('POST', '/keys', { body: { name, ...settable } })
  const made = createdKey.parse(json)
  const { hash } = made.data
  if (disabled === true)
    await remote.ask('PATCH', `/keys/${hash}`, { body: { disabled } }).catch(async (thrown: unknown) => {
      await takeBack([hash], remote, `the key ${JSON.stringify(name)} cannot be disabled as its file wants`)
      throw thrown
    })
  return { state: 'done', says: `a new key ${JSON.stringify(name)} with its limits`, made }
}

const LIMIT_FIELDS: ReadonlySet<string> = wordSet(`
  hash name disabled limit limit_reset include_byok_in_limit strict rpm_limit tpm_limit provider_failure expires_at
`)
