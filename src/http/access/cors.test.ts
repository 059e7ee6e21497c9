import { expect, test } from 'bun:test'

import { GatewayError } from '../../errors.ts'
import { createCors, type Cors } from './cors.ts'

const marked = (cors: Cors, origin: string): Record<string, string> => {
  const headers = new Headers()
  cors.mark(headers, origin)
  return Object.fromEntries(headers)
}

const cors = createCors(['https://app.example', 'http://localhost:3000/', 'https://UPPER.example:443'])

test.each(['https://app.example', 'http://localhost:3000', 'https://upper.example'])(
  '%s is allowed, and answered with itself',
  (origin) => {
    const headers = marked(cors, origin)
    expect(headers['access-control-allow-origin']).toBe(origin)
    expect(headers['vary']).toBe('Origin')
    expect(headers['access-control-expose-headers']).toContain('x-generation-id')
    // A save of a preset says in this one why it cannot be used, and Anthropic's SDK reads its own name of the request's id.
    expect(headers['access-control-expose-headers']?.split(', ')).toEqual(expect.arrayContaining(['x-service-warning', 'request-id']))
    expect(headers['access-control-allow-credentials']).toBeUndefined()
    const preflight = cors.preflight(origin, ['GET', 'POST'])
    expect([
      preflight.status,
      preflight.headers.get('access-control-allow-origin'),
      preflight.headers.get('access-control-allow-methods'),
    ]).toEqual([204, origin, 'GET, POST'])
    // A wildcard does not cover this one header: it must be named.
    expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization')
  },
)

test('a path that is open to apps of every origin is open to those of any, and the answer is cached for its origin alone', () => {
  for (const origin of ['https://evil.example', 'https://app.example']) {
    const preflight = cors.preflight(origin, ['POST'], true)
    expect([preflight.headers.get('access-control-allow-origin'), preflight.headers.get('vary')]).toEqual(['*', 'Origin'])
  }
})

test('without an origin the methods of the path are returned, since no browser asks', () => {
  const answer = cors.preflight(null, ['GET', 'HEAD'])
  expect([answer.status, answer.headers.get('allow'), answer.headers.get('access-control-allow-origin')]).toEqual([
    204,
    'GET, HEAD, OPTIONS',
    null,
  ])
})

test.each([
  'null',
  '',
  '*',
  'https://app.example.evil.example',
  'https://evil.example',
  'http://app.example',
  'https://app.example:8443',
  'https://APP.example',
  'https://app.example/',
  'https://user@app.example',
])('%s is not', (origin) => {
  // Not allowed, and not to be cached for an origin that is.
  expect(marked(cors, origin)).toEqual({ vary: 'Origin' })
  expect(() => cors.preflight(origin, ['GET'])).toThrow(GatewayError)
})

test('by default there is none', () => {
  expect(marked(createCors([]), 'https://app.example')).toEqual({})
})
