import { expect, test } from 'bun:test'

import { remedyFor } from './remedy.ts'

test.each([
  ['CERT_HAS_EXPIRED', 'has expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'another name'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'NODE_EXTRA_CA_CERTS'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'NODE_EXTRA_CA_CERTS'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'NODE_EXTRA_CA_CERTS'],
  ['EPROTO', 'http://'],
  ['ECONNRESET', 'https://'],
  ['ENOTFOUND', 'base_url'],
  ['ECONNREFUSED', 'Nothing listens there'],
  ['no answer within 5 s', 'HTTPS_PROXY'],
])('%s comes with what to do about it', (fault, words) => {
  expect(remedyFor(fault, { proxied: false })).toContain(words)
})

test('behind a proxy, the proxy may be at fault, whatever the failure is', () => {
  for (const fault of ['ECONNREFUSED', 'an unknown failure']) expect(remedyFor(fault, { proxied: true })).toContain('NO_PROXY')
  expect(remedyFor('an unknown failure', { proxied: false })).toBe('')
})
