import { expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { PRINCIPAL, preparedFrom, receivedFrom } from '../../../test/support/pipelines.ts'
import { FORMATS } from '../../formats/formats.ts'
import { guardrailWith } from '../../../test/support/guardrail.ts'
import { effectiveOf } from '../../guardrails/effective.ts'
import { compactJson } from '../../lib/json/compact-json.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { atOnce } from '../../lib/steps.ts'
import { entryName as naming, type NamedRequest } from './entry-name.ts'

const entryName = (request: NamedRequest, secret: Uint8Array): string => atOnce(naming(request, secret))

const SECRET = new Uint8Array(32)
const BODY = { model: 'm/one', messages: [{ role: 'user', content: 'Hi' }] }

const prepared = await preparedFrom(createFakeClock(), receivedFrom(BODY))
const preset = { id: 'p', slug: 's', version: 1, rolloutId: null, caching: { enabled: true, ttlSeconds: null } }
const sent = new Headers({ 'x-service-provider-failure': 'status' })

/** Each function changes one thing that may change the answer, or who gets it. */
const DIFFERENT: Readonly<Record<string, (request: NamedRequest) => NamedRequest>> = {
  workspace: (request) => ({ ...request, caller: { ...request.caller, workspaceId: 'w' } }),
  key: (request) => ({ ...request, caller: { ...request.caller, keyHash: 'cd'.repeat(32) } }),
  user: (request) => ({ ...request, caller: { ...request.caller, userId: 'user_2' } }),
  operation: (request) => ({ ...request, apiType: 'embeddings' }),
  interface: (request) => ({ ...request, call: { ...request.call, dialect: 'responses' } }),
  stream: (request) => ({ ...request, call: { ...request.call, stream: true } }),
  models: (request) => ({ ...request, call: { ...request.call, models: ['m/one', 'm/two'] } }),
  preset: (request) => ({ ...request, preset }),
  'another preset': (request) => ({ ...request, preset: { ...preset, id: 'q' } }),
  version: (request) => ({ ...request, preset: { ...preset, version: 2 } }),
  strictness: (request) => ({ ...request, strict: true }),
  'provider failures': (request) => ({ ...request, headers: { ...request.headers, sent } }),
  'provider failures of the key': (request) => ({ ...request, principal: { ...PRINCIPAL, providerFailure: 'body' } }),
  version_header: (request) => ({ ...request, headers: { ...request.headers, vendor: { version: '2023-06-01', betas: [] } } }),
  beta: (request) => ({ ...request, headers: { ...request.headers, vendor: { version: '2023-06-01', betas: ['b'] } } }),
  guardrails: (request) => ({ ...request, guardrails: effectiveOf([guardrailWith({})]) }),
  'another guardrail': (request) => ({ ...request, guardrails: effectiveOf([guardrailWith({}, 'api-key', 'guardrail-2')]) }),
  'the body as it came': (request) => ({ ...request, body: JsonBody.read(JSON.stringify({ ...BODY, seed: 1 })) }),
  'the body as it goes on': (request) => ({
    ...request,
    call: { ...request.call, body: JsonBody.read(JSON.stringify({ ...BODY, temperature: 1 })) },
  }),
}

test('requests that differ in one thing, or in several, have different names', () => {
  const names = Object.keys(DIFFERENT)
  const changed = (chosen: readonly string[]): string =>
    entryName(
      names
        .filter((name) => chosen.includes(name))
        .reduce<NamedRequest>((request, name) => DIFFERENT[name]?.(request) ?? request, prepared),
      SECRET,
    )
  for (const name of names) expect([name, changed([name])]).not.toEqual([name, changed([])])
  const singles = names.map((name) => changed([name]))
  expect(new Set(singles).size).toBe(names.length)
  // A preset and its version, or a version header and its beta: the later change replaces the earlier one.
  const apart = names.filter((name) => !['another preset', 'version', 'beta', 'another guardrail', 'provider failures'].includes(name))
  fc.assert(
    fc.property(fc.subarray(apart), fc.subarray(apart), (one, other) => {
      expect(changed(one) === changed(other)).toBe(one.join() === other.join())
    }),
  )
})

test('bodies have the same name exactly where they differ in white space alone', () => {
  const nameOf = (json: string): string => {
    const body = JsonBody.read(json)
    return entryName({ ...prepared, body, call: { ...prepared.call, body } }, SECRET)
  }
  const object = fc.dictionary(
    fc.string({ minLength: 1 }).filter((name) => name !== '__proto__'),
    fc.jsonValue(),
    { maxKeys: 4 },
  )
  fc.assert(
    fc.property(object, object, fc.constantFrom(0, 1, 2), (one, other, indent) => {
      const [first, second] = [JSON.stringify(one), JSON.stringify(other)]
      expect(nameOf(JSON.stringify(one, null, indent))).toBe(nameOf(first))
      expect(nameOf(first) === nameOf(second)).toBe(compactJson(first) === compactJson(second))
    }),
  )
})

test('a name says nothing to who lacks the secret, and the session of a header does not count, not even beside one of the body', async () => {
  expect(entryName(prepared, SECRET)).not.toBe(entryName(prepared, new Uint8Array(32).fill(1)))
  const headers = { ...prepared.headers, sessionId: 's-1' }
  const within = await preparedFrom(createFakeClock(), receivedFrom(BODY, { headers, format: FORMATS.chat }))
  expect(within.call.body.value('session_id')).toBe('s-1')
  expect(entryName(within, SECRET)).toBe(entryName(prepared, SECRET))
  const own = { ...BODY, session_id: 's-2' }
  const [alone, beside] = [receivedFrom(own), receivedFrom(own, { headers, format: FORMATS.chat })]
  const [one, other] = [await preparedFrom(createFakeClock(), alone), await preparedFrom(createFakeClock(), beside)]
  expect(entryName(other, SECRET)).toBe(entryName(one, SECRET))
})
