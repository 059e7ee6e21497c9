import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS } from '../canonical/call.ts'
import { SETTINGS } from '../canonical/settings.ts'
import { rules as messagesRules } from '../formats/anthropic-messages/schema.ts'
import { rules as chatRules } from '../formats/openai-chat/schema.ts'
import { rules as responsesRules } from '../formats/openai-responses/schema.ts'
import { LOCKABLE_FIELDS, PERSISTED_FIELDS, PRESET_CONTROLS } from './preset-fields.ts'
import { fieldOf, isForTheService, meaningsOf, REQUEST_FIELDS } from './request-fields.ts'
import { SERVICE_FIELDS } from './service-fields.ts'
import { SPELLINGS } from './setting-spellings.ts'

const RULES = { chat: chatRules, responses: responsesRules, messages: messagesRules }

const BESIDE_SETTINGS = ['conversation', 'tools', 'toolChoice', 'outputFormat', 'fallbackModels', 'service', 'written', 'refused', 'none']

const inAnyTable = (name: string): boolean => CLIENT_DIALECTS.some((client) => fieldOf(client, name) !== undefined)

describe.each([...CLIENT_DIALECTS])('%s: every list of fields is worked out from the table', (client) => {
  const rows = Object.entries(REQUEST_FIELDS[client])
  const names = rows.map(([name]) => name)

  test('each row means something that the service knows', () => {
    const known = [...Object.keys(SETTINGS), ...BESIDE_SETTINGS]
    expect(rows.filter(([, row]) => meaningsOf(row).length === 0 || !meaningsOf(row).every((meaning) => known.includes(meaning)))).toEqual(
      [],
    )
  })

  test('each row is checked, but for those of the service that somebody else reads or nobody does', () => {
    const unchecked = rows.filter(([, { schema }]) => schema === undefined)
    expect(unchecked.filter(([, row]) => !meaningsOf(row).every(isForTheService))).toEqual([])
    const checked = rows.filter(([, { schema, warning }]) => schema !== undefined || warning !== undefined)
    expect([...RULES[client].checks.keys()]).toEqual(checked.map(([name]) => name))
  })

  test('what is checked, kept, refused and left to the reader of prompts are rows', () => {
    const { checks, refusedAtInference, readLater } = RULES[client]
    const kept = PERSISTED_FIELDS[client].filter((name) => !(name in PRESET_CONTROLS))
    const named = [...checks.keys(), ...refusedAtInference.keys(), ...readLater, ...kept]
    expect(named.filter((name) => !names.includes(name))).toEqual([])
  })

  test('what the spellings name are rows that presets keep', () => {
    const fields = [...SPELLINGS.values()].flatMap((spelling) => spelling[client].map((path) => path.split('.')[0] ?? ''))
    expect(fields.filter((name) => fieldOf(client, name)?.presets !== 'keep')).toEqual([])
  })

  test('a field of the service never leaves, whatever interface it came by', () => {
    const service = rows.flatMap(([name, row]) => (meaningsOf(row).some(isForTheService) ? [name] : []))
    expect(service.filter((name) => !SERVICE_FIELDS.includes(name))).toEqual([])
  })
})

test('a name that is on the list of the service, or that a lock may name, is a row somewhere', () => {
  expect(SERVICE_FIELDS.filter((name) => !inAnyTable(name) && !(name in PRESET_CONTROLS))).toEqual([])
  expect(LOCKABLE_FIELDS.filter((name) => !inAnyTable(name))).toEqual([])
})

test('a name that every object has is no field', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) expect(inAnyTable(name)).toBe(false)
})

test('every setting is a field of some interface', () => {
  const meant = new Set(CLIENT_DIALECTS.flatMap((client) => Object.values(REQUEST_FIELDS[client]).flatMap((row) => [...meaningsOf(row)])))
  expect(Object.keys(SETTINGS).filter((name) => !meant.has(name as keyof typeof SETTINGS))).toEqual([])
})
