import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { DASHED, DASHED_WORD, UNDASHED } from './tool-name-form.ts'
import { atOnce } from '../../lib/steps.ts'
import { sentNames as namesInSteps, type ToolName, type ToolNameRules } from './tool-names.ts'

const sentNames = (own: readonly ToolName[], rules: ToolNameRules) => atOnce(namesInSteps(own, rules))

/** Names that become alike once they are cut or cleaned, and names that look like the result. */
const word = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.constantFrom('a.b', 'a/b', 'a:b', 'a b', 'a_b', 'a__b', '__proto__', 'constructor', '', '7up', '-x', '\ud800', '\ud801', '["a","b"]'),
  fc.tuple(fc.constantFrom('x', '.', 'long_name_'), fc.integer({ min: 1, max: 120 })).map(([piece, count]) => piece.repeat(count)),
)
const toolName: fc.Arbitrary<ToolName> = fc.oneof(
  word.map((name) => ({ name })),
  fc.record({ name: word, namespace: fc.oneof(fc.constantFrom('a', 'a__', 'mcp__server', 'x.y'), word) }),
)
const names = fc.array(toolName, { maxLength: 40 })

const keyOf = (name: ToolName): string => JSON.stringify([name.namespace ?? null, name.name])

describe('whatever a client calls its tools', () => {
  for (const form of [DASHED, DASHED_WORD, UNDASHED, null]) {
    for (const namespaces of [false, true]) {
      const rules = { lawful: form?.lawful ?? null, namespaces }
      const provider = `a provider that takes ${form?.lawful.source ?? 'any name'}${namespaces ? ' and namespaces' : ''}`

      test(`${provider} is sent lawful names, no two tools under one, and each comes back as it was`, () => {
        fc.assert(
          fc.property(names, (own) => {
            const table = sentNames(own, rules)
            const sent = new Map(own.map((name) => [keyOf(name), table?.sent(name) ?? name]))
            expect(new Set([...sent.values()].map(keyOf)).size).toBe(sent.size)
            for (const name of own) {
              const wire = sent.get(keyOf(name)) ?? name
              if (!namespaces) expect(wire.namespace).toBeUndefined()
              for (const part of [wire.name, wire.namespace]) if (part !== undefined && form !== null) expect(part).toMatch(form.lawful)
              expect(table?.restored(wire) ?? wire).toEqual(name)
            }
          }),
        )
      })

      test(`${provider}: the order of the others does not change what a tool is sent as`, () => {
        fc.assert(
          fc.property(fc.uniqueArray(word, { maxLength: 12 }), (own) => {
            const given = own.map((name) => ({ name }))
            const [one, other] = [sentNames(given, rules), sentNames(given.toReversed(), rules)]
            for (const name of given) expect(other?.sent(name)).toEqual(one?.sent(name))
          }),
        )
      })
    }
  }

  test('a name that the model made up stays', () => {
    const table = sentNames([{ name: 'a.b' }], { lawful: DASHED.lawful, namespaces: false })
    expect(table?.restored({ name: 'something_else' })).toBeNull()
    expect(table?.restored({ name: 'a.b' })).toBeNull()
  })

  test('a dash goes where the provider takes none', () => {
    const table = sentNames([{ name: 'read-file' }, { name: 'read_file' }], { lawful: UNDASHED.lawful, namespaces: false })
    expect(table?.sent({ name: 'read-file' }).name).toMatch(/^read_file_[0-9a-f]{8}$/)
    expect(table?.sent({ name: 'read_file' })).toEqual({ name: 'read_file' })
  })

  test('names that fit are left alone', () => {
    expect(sentNames([{ name: 'read_file' }, { name: 'mcp__server__read-file' }], { lawful: DASHED.lawful, namespaces: false })).toBeNull()
  })

  test('a tool in a namespace is called as MCP clients call it, where that name is free and fits', () => {
    const rules = { lawful: DASHED.lawful, namespaces: false }
    const own = [{ name: 'run', namespace: 'mcp__shell' }, { name: 'run', namespace: 'mcp__other__' }, { name: 'run' }]
    const table = sentNames(own, rules)
    expect(own.map((name) => table?.sent(name).name)).toEqual(['mcp__shell__run', 'mcp__other__run', 'run'])
    const taken = sentNames([...own, { name: 'mcp__shell__run' }], rules)
    expect(taken?.sent({ name: 'run', namespace: 'mcp__shell' }).name).toMatch(/^mcp__shell__run_[0-9a-f]{8}$/)
  })
})
