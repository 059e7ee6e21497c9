/** Presets as files. Labels and rollouts stay with the service: they say which version is served where, and move without an edit. */
import { z } from 'zod'

import { inSentences } from '../../contract/issue-sentence.ts'
import { nearestHint } from '../../lib/text/nearest-name.ts'
import { presetShape, presetWithVersion, savedPreset, type PresetShape } from '../../contract/preset.ts'
import { presetSlug } from '../../contract/preset-name.ts'
import { SettingError, type Environment } from '../../config.ts'
import { definedOnly } from '../../lib/defined-only.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { PERSISTED_FIELDS, SYSTEM_BLOCKS_KEY } from '../../request-fields/preset-fields.ts'
import { RemoteRefused, type Remote } from '../remote.ts'
import type { Document } from './document.ts'
import { withoutSecrets, withReferences, withSecrets } from './kept-secrets.ts'
import type { Kind, PushOptions, RemoteObject } from './kind.ts'

const fileSchema = z
  .strictObject({
    slug: presetSlug.optional(),
    name: z.string().min(1).max(200).optional(),
    description: z.string().max(2000).nullish(),
    status: z.enum(['active', 'disabled']).default('active'),
    shape: presetShape.default('chat'),
    system_prompt: z.string().nullish(),
    config: z.record(z.string(), z.json()).default({}),
  })
  .superRefine(({ shape, config }, { addIssue }) => {
    // The service ignores fields that a preset does not keep, so a misspelt field would be lost and then look like drift.
    const kept = [...PERSISTED_FIELDS[shape], SYSTEM_BLOCKS_KEY]
    for (const field of Object.keys(config)) {
      if (kept.includes(field)) continue
      const message = `A preset of the shape ${shape} keeps no such field.${nearestHint(kept, field)}`
      addIssue({ code: 'custom', path: ['config', field], message })
    }
  })

type PresetFile = z.output<typeof fileSchema>
type PresetFields = Omit<PresetFile, 'config'> & { readonly config: JsonObject }

const configOf = ({ config }: Document): JsonObject => (isObject(config) ? config : {})

const asInFile: NonNullable<Kind['withReferences']> = (document, file, remote, env) => ({
  ...document,
  config: withReferences(configOf(document), configOf(file), remote?.config ?? {}, env),
})

/** `current` is what the command has compared, with the variables of the file in it. */
const isUnchanged = (now: RemoteObject, current: RemoteObject, file: Document, env: Environment): boolean =>
  JSON.stringify(asInFile(now.document, file, now, env)) === JSON.stringify(current.document)

export const presetKind: Kind = {
  name: 'presets',
  schema: fileSchema,
  folder: '',
  fileName: ({ identity }) => identity.replace(/^\./, '%2E'),
  async list(remote) {
    const listed = z.array(z.looseObject({ slug: z.string(), status: z.string() })).parse(await remote.list('/presets'))
    const objects: RemoteObject[] = []
    for (const { slug, status } of listed) {
      const read = status === 'archived' ? null : await readPreset(remote, slug)
      if (read !== null) objects.push(remoteObject(read))
    }
    return objects
  },
  read(value, stem) {
    const file = fileSchema.parse(value, inSentences)
    const slug = file.slug ?? presetSlug.parse(stem.replace(/^%2E/i, '.'))
    return { identity: slug, document: documentOf({ ...file, slug }) }
  },
  withReferences: asInFile,
  async write(remote, document, current, options) {
    const file = fileSchema.parse(document)
    const { slug = '' } = file
    const served = await readPreset(remote, slug)
    if (served !== null && current !== null && !isUnchanged(remoteObject(served), current, document, options.env))
      throw new SettingError(`${slug}: it was changed on the service in this very moment; run the command again.`)
    const before = current?.document ?? {}
    const isOther = ['shape', 'system_prompt', 'config'].some((field) => JSON.stringify(before[field]) !== JSON.stringify(document[field]))
    const version = isOther ? await save(remote, file, served, options) : undefined
    const patch = definedOnly({
      name: changed(file.name ?? slug, before['name'] ?? slug),
      description: changed(file.description ?? null, before['description'] ?? null),
      status: changed(file.status, before['status'] ?? 'active'),
    })
    if (Object.keys(patch).length > 0) await remote.ask('PATCH', pathOf(slug), { body: patch })
    return version
  },
  async label(remote, slug, version, label) {
    await remote.ask('PATCH', pathOf(slug), { body: { labels: { [label]: version } } })
  },
  async remove(remote, { identity }) {
    await remote.ask('DELETE', pathOf(identity))
  },
}

type Preset = z.output<typeof presetWithVersion>

const pathOf = (slug: string): string => `/presets/${encodeURIComponent(slug)}`

/** Null if there is none. */
const readPreset = async (remote: Remote, slug: string): Promise<Preset | null> => {
  try {
    return presetWithVersion.parse((await remote.ask('GET', pathOf(slug))).json['data'])
  } catch (thrown) {
    if (thrown instanceof RemoteRefused && thrown.status === 404) return null
    throw thrown
  }
}

const remoteObject = (preset: Preset): RemoteObject => {
  const { designated_version: version } = preset
  refuseInexact(version.config, preset.slug)
  const { slug, name, description, status } = preset
  const { shape, system_prompt, config } = version
  return {
    identity: slug,
    id: slug,
    config,
    document: documentOf({
      slug,
      name,
      description,
      status: status === 'disabled' ? 'disabled' : 'active',
      shape,
      system_prompt,
      config: withoutSecrets(config),
    }),
  }
}

/** Defaults are left out, and the order is always the same: the model first, then the fields by name. */
const documentOf = ({ slug, name, description, status, shape, system_prompt, config }: PresetFields): Document => ({
  slug: slug ?? '',
  ...(name === undefined || name === slug ? {} : { name }),
  ...(description == null ? {} : { description }),
  ...(status === 'active' ? {} : { status }),
  shape,
  ...(system_prompt == null ? {} : { system_prompt }),
  config: Object.fromEntries(Object.entries(config).toSorted(byRank)),
})

const byRank = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  Number(other === 'model') - Number(one === 'model') || (one < other ? -1 : 1)

/** Refuses integers that a file would round. */
const refuseInexact = (value: JsonValue, slug: string): void => {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new SettingError(`${slug}: its configuration holds an integer of more than 15 digits, which a file cannot keep.`)
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) refuseInexact(inner, slug)
}

const changed = <Value>(now: Value, before: JsonValue): Value | undefined => (now === before ? undefined : now)

/** Returns the number of the new version. */
const save = async (remote: Remote, file: PresetFile, served: Preset | null, options: PushOptions): Promise<number> => {
  const { slug = '' } = file
  const { config, plain } = withSecrets(file.config, served?.designated_version.config ?? null, options.env)
  for (const place of plain) options.warn(`${slug}: config.${place} holds a credential as it is; write \${NAME} and set the variable NAME.`)
  const { json, headers } = await remote.ask('POST', `${pathOf(slug)}/${SAVED_AT[file.shape]}`, {
    body: bodyOf(file.shape, file.system_prompt ?? null, config),
    query: options.designate ? {} : { designate: 'false' },
    headers: {
      'if-match': `"${served?.latest_version ?? 0}"`,
      ...(options.note === undefined ? {} : { 'x-preset-note': encodeURIComponent(options.note) }),
    },
  })
  const warning = headers.get('x-service-warning')
  if (warning !== null) options.warn(`${slug}: ${warning}`)
  const { saved_version: draft, designated_version: designated } = savedPreset.parse(json['data'])
  return (draft ?? designated).version
}

export const SAVED_AT = { chat: 'chat/completions', responses: 'responses', messages: 'messages' } as const satisfies Record<
  PresetShape,
  string
>

/** The request body from which the service stores this configuration and this system prompt. */
export const bodyOf = (shape: PresetShape, systemPrompt: string | null, config: JsonObject): JsonObject => {
  const { [SYSTEM_BLOCKS_KEY]: blocks, ...fields } = config
  if (shape === 'messages') return { ...fields, ...(blocks === undefined ? textMember('system', systemPrompt) : { system: blocks }) }
  if (shape === 'responses') return { ...config, ...textMember('instructions', systemPrompt) }
  return isObject(blocks) || Array.isArray(blocks) || systemPrompt !== null
    ? { ...fields, messages: [{ role: 'system', content: (blocks as JsonValue | undefined) ?? systemPrompt }] }
    : config
}

const textMember = (name: string, text: string | null): JsonObject => (text === null ? {} : { [name]: text })
