import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { atOnce } from '../../lib/steps.ts'
import { chatFormat } from '../../formats/openai-chat/openai-chat.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import type { Attempt, Target } from '../provider.ts'
import { encodeChatRequest } from './encode.ts'

const target: Target = {
  provider: 'acme',
  providerName: 'Acme',
  baseUrl: 'https://acme.example/v1',
  apiKey: 'k',
  modelId: 'acme/one',
  upstreamModel: 'one-1',
  maxCompletionTokens: null,
}

const attempt = (text: string): Attempt => ({
  call: atOnce(chatFormat.parseCall(JsonBody.read(text))).call,
  target,
  number: 0,
  warn: () => undefined,
  connection: new AbortController(),
})

const encode = (text: string): string => atOnce(encodeChatRequest(attempt(text)))

const messages = '"messages" : [ {"role":"user", "content":"H\\u0069 \\ud83d\\ude00"} ]'

describe('the request that goes upstream', () => {
  test.each<[string, string, string]>([
    ['names the model as the provider does', `{"model":"acme/one",${messages}}`, `{"model":"one-1",${messages}}`],
    [
      'keeps every other byte: order, white space, number forms, escapes, unknown fields',
      `{ "seed":1.0 ,"model": "acme/one","x":{"a" :[1e2 ]},${messages} }`,
      `{ "seed":1.0 ,"model": "one-1","x":{"a" :[1e2 ]},${messages} }`,
    ],
    [
      'asks for usage in a stream',
      `{"model":"acme/one",${messages},"stream":true}`,
      `{"model":"one-1",${messages},"stream":true,"stream_options":{"include_usage":true}}`,
    ],
    [
      'keeps the other options of a stream',
      `{"model":"acme/one","stream_options":{"include_obfuscation":false,"include_usage":false},${messages},"stream":true}`,
      `{"model":"one-1","stream_options":{"include_obfuscation":false,"include_usage":true},${messages},"stream":true}`,
    ],
    [
      'asks for usage where the options are null',
      `{"model":"acme/one",${messages},"stream":true,"stream_options":null}`,
      `{"model":"one-1",${messages},"stream":true,"stream_options":{"include_usage":true}}`,
    ],
    [
      'asks for no usage of a whole answer',
      `{"model":"acme/one",${messages},"stream":false}`,
      `{"model":"one-1",${messages},"stream":false}`,
    ],
    [
      'leaves out the options of a stream where there is none',
      `{"model":"acme/one","stream_options":{"include_usage":true},${messages}}`,
      `{"model":"one-1",${messages}}`,
    ],
    [
      'removes what addresses this service, wherever it stands',
      `{"models":["a/b"],"model":"acme/one","provider":{"order":["x"]},${messages},"session_id":"s","usage":{"include":true},"route":"fallback"}`,
      `{"model":"one-1",${messages}}`,
    ],
    [
      'removes it in any spelling',
      `{"model":"acme/one","pr\\u006fvider":{},${messages},"\\u0061pi_base":"http://evil.example"}`,
      `{"model":"one-1",${messages}}`,
    ],
    [
      'names the effort of reasoning as the dialect does',
      `{"model":"acme/one",${messages},"reasoning":{"effort":"low"}}`,
      `{"model":"one-1",${messages},"reasoning_effort":"low"}`,
    ],
    [
      'lets the dialect’s own name of the effort win',
      `{"model":"acme/one",${messages},"reasoning_effort":"high"}`,
      `{"model":"one-1",${messages},"reasoning_effort":"high"}`,
    ],
  ])('%s', (_, given, sent) => {
    expect(encode(given)).toBe(sent)
  })

  test('no field that could steer it elsewhere ever leaves', () => {
    const steering = [
      'api_base',
      'base_url',
      'api_key',
      'user_config',
      'extra_headers',
      'extra_body',
      'context_window_fallbacks',
      'content_policy_fallbacks',
      'router_settings_override',
      'custom_llm_provider',
      'litellm_credential_name',
      'provider',
      'plugins',
      'models',
      'preset',
      'debug',
      'trace',
      'sandbox',
    ]
    fc.assert(
      fc.property(
        fc.shuffledSubarray(steering),
        fc.constantFrom('null', '"http://10.0.0.1"', '{"api_base":"http://10.0.0.1"}'),
        (fields, value) => {
          // Given straight to the encoder: most of these fields are refused or validated before, but the encoder must not rely on that.
          const body = JsonBody.read(`{"model":"acme/one",${fields.map((field) => `"${field}":${value},`).join('')}${messages}}`)
          const sent = JSON.parse(
            atOnce(
              encodeChatRequest({
                ...attempt(`{"model":"acme/one",${messages}}`),
                call: { ...attempt(`{"model":"acme/one",${messages}}`).call, body },
              }),
            ),
          ) as object
          expect(Object.keys(sent)).toEqual(['model', 'messages'])
        },
      ),
    )
  })
})
