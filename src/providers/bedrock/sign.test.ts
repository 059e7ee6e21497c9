import { describe, expect, test } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'

import { authorized, regionOf, secretsOf } from './sign.ts'

const NOW = Date.parse('2026-11-20T10:20:30Z')
const URL_OF_MODEL = 'https://bedrock-runtime.eu-central-1.amazonaws.com/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse'
const request = {
  url: URL_OF_MODEL,
  headers: { 'content-type': 'application/json', accept: 'application/json', 'accept-encoding': 'identity' },
  body: '{"messages":"Grüße 👋"}',
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** An independent implementation of Signature Version 4, from its description alone. */
const signatureOf = (signed: Readonly<Record<string, string>>, path: string, secret: string): string => {
  const names = Object.keys(signed).sort()
  const canonical = ['POST', path, '', ...names.map((name) => `${name}:${signed[name]}`), '', names.join(';'), sha256(request.body)].join(
    '\n',
  )
  const scope = '20261120/eu-central-1/bedrock/aws4_request'
  const toSign = ['AWS4-HMAC-SHA256', '20261120T102030Z', scope, sha256(canonical)].join('\n')
  const key = ['20261120', 'eu-central-1', 'bedrock', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`)
  return hmac(key, toSign).toString('hex')
}

describe('a credential', () => {
  test('that is an API key of Bedrock goes as a bearer token', async () => {
    const apiKey = 'ABSKQmVkcm9ja0FQSUtleS1hYmNk+/=='
    expect(await authorized(request, apiKey, NOW)).toEqual({ ...request.headers, authorization: `Bearer ${apiKey}` })
  })

  test('that is absent adds nothing', async () => {
    expect(await authorized(request, null, NOW)).toEqual(request.headers)
  })

  test.each<[string, string, string | undefined]>([
    ['a key pair', 'AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', undefined],
    ['a key pair of a session', 'ASIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY:IQoJb3JpZ2lu//==', 'IQoJb3JpZ2lu//=='],
  ])('that is %s signs the request', async (_, apiKey, token) => {
    const sent = await authorized(request, apiKey, NOW)
    const covered = {
      'content-type': 'application/json',
      host: 'bedrock-runtime.eu-central-1.amazonaws.com',
      'x-amz-content-sha256': sha256(request.body),
      'x-amz-date': '20261120T102030Z',
      ...(token === undefined ? {} : { 'x-amz-security-token': token }),
    }
    // For the signature the path is encoded once more than it is sent; only S3 does not do so.
    const signature = signatureOf(
      covered,
      '/model/anthropic.claude-sonnet-4-5-20250929-v1%253A0/converse',
      'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    )
    const scope = `${apiKey.slice(0, 20)}/20261120/eu-central-1/bedrock/aws4_request`
    expect(sent['authorization']).toBe(
      `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=${Object.keys(covered).sort().join(';')}, Signature=${signature}`,
    )
    expect(sent['x-amz-security-token']).toBe(token as string)
    expect(sent).not.toHaveProperty('host')
    expect(sent).toMatchObject(request.headers)
  })

  test('hides every part of itself', () => {
    expect(secretsOf('AKIAIOSFODNN7EXAMPLE:secret/secret:token==')).toEqual([
      'AKIAIOSFODNN7EXAMPLE:secret/secret:token==',
      'secret/secret',
      'token==',
      'AKIAIOSFODNN7EXAMPLE',
    ])
    expect(secretsOf('ABSKkey')).toEqual(['ABSKkey'])
    expect(secretsOf(null)).toEqual([])
  })
})

test.each([
  ['bedrock-runtime.us-east-1.amazonaws.com', 'us-east-1'],
  ['bedrock-runtime-fips.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
  ['bedrock-runtime.ap-southeast-2.api.aws', 'ap-southeast-2'],
  ['vpce-0a1b.bedrock-runtime.eu-west-3.vpce.amazonaws.com', 'eu-west-3'],
  ['bedrock-runtime.cn-north-1.amazonaws.com.cn', 'cn-north-1'],
  ['127.0.0.1', 'us-east-1'],
  ['bedrock.proxy.example', 'us-east-1'],
])('the region of %s is %s', (host, region) => {
  expect(regionOf(host)).toBe(region)
})
