/** Saved inputs for trying a preset, on the wire (docs/contract/presets.md#tests). */
import { z } from 'zod'

import { fitsWithin } from '../lib/json/json-steps.ts'
import { jsonValue } from './json-value.ts'
import { namedValues } from './named-values.ts'
import { trimmedName } from './stored-text.ts'

/** Messages of Chat Completions. They are fully validated where they are used. */
export const testMessages = z.array(namedValues(z.string(), jsonValue)).min(1).max(1000)

/** The members that a saved input and an item of an evaluation share. */
export const testInput = {
  messages: testMessages,
  tools: z.array(namedValues(z.string(), jsonValue)).max(128).optional(),
  expected: jsonValue.optional().meta({ description: 'The answer that an evaluation compares with: a text, or JSON.' }),
}

/** The maximum number of saved inputs per preset. */
export const PRESET_TESTS_MAX = 50
const INPUT_BYTES_MAX = 64 * 1024

const testName = trimmedName(200)

export const presetTestBody = z
  .strictObject({ name: testName, ...testInput })
  .refine(
    (body) => fitsWithin(body, 2 * INPUT_BYTES_MAX) && Buffer.byteLength(JSON.stringify(body)) <= INPUT_BYTES_MAX,
    `A test holds at most ${INPUT_BYTES_MAX / 1024} KiB.`,
  )
  .meta({
    id: 'PresetTestBody',
    examples: [{ name: 'password', messages: [{ role: 'user', content: 'How do I reset my password?' }], expected: 'Settings → Security' }],
  })

export const presetTest = z
  .object({
    id: z.uuid(),
    name: testName,
    messages: testMessages,
    tools: z.array(z.record(z.string(), jsonValue)).nullable(),
    expected: jsonValue.meta({ description: 'Null where none was given.' }),
    creator_id: z.string(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'PresetTest' })

export const presetTestId = z.uuid().meta({ description: 'Id of a saved test.' })

export type PresetTest = z.output<typeof presetTest>
