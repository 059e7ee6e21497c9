import { expect, test } from 'bun:test'

import type { Remote } from '../remote.ts'
import { guardrailKind } from './guardrail-kind.ts'
import { keyKind } from './key-kind.ts'
import type { PushOptions } from './kind.ts'

const OPTIONS: PushOptions = { env: {}, warn: () => undefined, designate: true }

test.each([
  ['key', keyKind, { hash: 'a'.repeat(64), name: 'two\nlines', limit: 5 }],
  ['guardrail', guardrailKind, { name: 'two\nlines', limit_usd: 5 }],
] as const)(
  'a %s with a name of several lines, which new names may not have, is read from its file and changed in its limit',
  async (_, kind, file) => {
    const bodies: unknown[] = []
    const remote = {
      ask: async (_method: string, _path: string, { body }: { body: unknown }) => void bodies.push(body),
    } as unknown as Remote
    const { document, identity } = kind.read(file, '')
    expect(document['name']).toBe('two\nlines')
    await kind.write(remote, document, { identity, id: 'id-1', document: { ...document } }, OPTIONS)
    expect(bodies).toHaveLength(1)
    expect(bodies[0]).toMatchObject('limit' in file ? { limit: 5 } : { limit_usd: 5 })
    expect(bodies[0]).not.toHaveProperty('name')
  },
)
