/** The tables of all interfaces, and queries over them. */
import { CLIENT_DIALECTS, type ClientDialect } from '../canonical/call.ts'
import { type SettingName, SETTINGS } from '../canonical/settings.ts'
import { CHAT_FIELDS } from './chat.ts'
import type { FieldMeaning, FieldTable, RequestField } from './field.ts'
import { MESSAGES_FIELDS } from './messages.ts'
import { RESPONSES_FIELDS } from './responses.ts'

/** The keys of each table are the fields that the interface knows. */
export const REQUEST_FIELDS: Readonly<Record<ClientDialect, FieldTable>> = {
  chat: CHAT_FIELDS,
  responses: RESPONSES_FIELDS,
  messages: MESSAGES_FIELDS,
}

/** Returns the row of a field name that a client used. */
export const fieldOf = (client: ClientDialect, name: string): RequestField | undefined =>
  Object.hasOwn(REQUEST_FIELDS[client], name) ? REQUEST_FIELDS[client][name] : undefined

/** The meanings of the field and its members; `none` for a field that the interface does not know. */
export const fieldMeanings = (client: ClientDialect, field: string): readonly FieldMeaning[] => {
  const row = fieldOf(client, field)
  return row === undefined ? ['none'] : meaningsOf(row)
}

/** Names of the fields of the given interfaces whose row satisfies `wanted`, each once. */
export const fieldsWhere = (wanted: (row: RequestField) => boolean, clients: readonly ClientDialect[] = CLIENT_DIALECTS): string[] => [
  ...new Set(clients.flatMap((client) => Object.entries(REQUEST_FIELDS[client]).flatMap(([name, row]) => (wanted(row) ? [name] : [])))),
]

export const meaningsOf = ({ means = [], members = {} }: RequestField): readonly FieldMeaning[] => [means, Object.values(members)].flat()

/** The fields of an interface that are a setting as a whole, keyed by setting; the first of several takes precedence. */
export const settingFields = (client: ClientDialect): SettingFields => SETTING_FIELDS[client]

type SettingFields = ReadonlyMap<SettingName, readonly [string, ...string[]]>

const isSetting = (meaning: FieldMeaning): meaning is SettingName => Object.hasOwn(SETTINGS, meaning)

const settingFieldsOf = (table: FieldTable): SettingFields => {
  const fields = new Map<SettingName, [string, ...string[]]>()
  for (const [name, { means }] of Object.entries(table)) {
    if (typeof means !== 'string' || !isSetting(means)) continue
    const known = fields.get(means)
    if (known === undefined) fields.set(means, [name])
    else known.push(name)
  }
  return fields
}

const SETTING_FIELDS: Readonly<Record<ClientDialect, SettingFields>> = {
  chat: settingFieldsOf(CHAT_FIELDS),
  responses: settingFieldsOf(RESPONSES_FIELDS),
  messages: settingFieldsOf(MESSAGES_FIELDS),
}

export type ServiceMeaning = 'service' | 'fallbackModels'

/** Returns true if a field of this meaning addresses this service. */
export const isForTheService = (meaning: FieldMeaning): meaning is ServiceMeaning => meaning === 'service' || meaning === 'fallbackModels'
