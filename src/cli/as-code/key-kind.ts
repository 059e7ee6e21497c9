/** The limits of keys as files. A file never contains a key itself, so no key can be created or revoked this way. */
import { z } from 'zod'

import { SettingError } from '../../config.ts'
import { inSentences } from '../../contract/issue-sentence.ts'
import { apiKey, updateKeyBody } from '../../contract/key.ts'
import { keyHash } from '../../contract/key-hash.ts'
import { storedText } from '../../contract/stored-text.ts'
import { type JsonObject, textOf } from '../../lib/json/json.ts'
import type { Remote } from '../remote.ts'
import type { Document } from './document.ts'
import { plainName } from './guardrail-kind.ts'
import type { Kind } from './kind.ts'

/** A name from before names were one line is read too (decisions/0243); the service decides whether a new one fits. */
const fileSchema = updateKeyBody.extend({ hash: keyHash, name: storedText.optional() }).strict()

const DEFAULTS: JsonObject = { disabled: false, include_byok_in_limit: false, strict: false }

const HASH_SHOWN = 8

export const keyKind: Kind = {
  name: 'keys',
  schema: fileSchema,
  folder: 'keys',
  fileName: ({ identity, document: { name } }) => `${plainName(textOf(name))}-${identity.slice(0, HASH_SHOWN)}`,
  async list(remote) {
    return (await allKeys(remote)).map((key) => ({ identity: key.hash, id: key.hash, document: documentOf(key) }))
  },
  read(value) {
    const file = fileSchema.parse(value, inSentences)
    return { identity: file.hash, document: documentOf(file) }
  },
  async write(remote, document, current) {
    if (current === null) throw new SettingError('the service has no such key; make it with "patchbay keys create", and pull.')
    const isRenamed = Object.hasOwn(document, 'name') && document['name'] !== current.document['name']
    const fields = Object.keys(updateKeyBody.shape).filter((name) => name !== 'name' || isRenamed)
    const body = Object.fromEntries(fields.map((name) => [name, document[name] ?? DEFAULTS[name] ?? null]))
    await remote.ask('PATCH', `/keys/${current.id}`, { body })
  },
  remove: null,
}

export const allKeys = async (remote: Remote): Promise<readonly z.output<typeof apiKey>[]> =>
  z.array(apiKey).parse(await remote.list('/keys', { include_disabled: 'true' }))

const documentOf = (key: Readonly<Record<string, unknown>>): Document => {
  const limits = Object.keys(updateKeyBody.shape).flatMap((name) => {
    const value = key[name] as Document[string] | undefined
    return value == null || value === DEFAULTS[name] ? [] : [[name, value] as const]
  })
  return { hash: String(key['hash']), ...Object.fromEntries(limits) }
}
