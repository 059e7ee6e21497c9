import { expect, test } from 'bun:test'

import { curlOf } from '../src/curl.ts'
import { readCurl } from '../src/screens/presets/read-curl.ts'

const BODY = { model: 'sandbox/echo', messages: [{ role: 'system', content: 'It\'s "brief", in\nC:\\data and $5' }] }

test.each([
  ['as this page copies it', curlOf({ method: 'POST', path: '/chat/completions', body: BODY }), 'chat'],
  [
    'of documentation',
    `curl https://api.anthropic.com/v1/messages \\\n  --header "x-api-key: $KEY" \\\n  --data '${JSON.stringify(BODY).replaceAll("'", `'"'"'`)}'`,
    'messages',
  ],
  [
    'of a network log',
    `curl 'http://127.0.0.1:8080/api/v1/responses' -H 'content-type: application/json' --data-raw $'${JSON.stringify(BODY).replaceAll('\\', '\\\\').replaceAll("'", "\\'")}' --compressed`,
    'responses',
  ],
  ['in double quotes', `curl "$URL/v1/other" -d${JSON.stringify(JSON.stringify(BODY)).replaceAll('$', '\\$')}`, null],
  [
    'with the short name of JSON',
    `curl --json='${JSON.stringify(BODY).replaceAll("'", `'\\''`)}' $URL/api/v1/messages?beta=true`,
    'messages',
  ],
])('a command for curl %s gives its body, and the interface that it calls', (_, command, shape) => {
  const read = readCurl(command)
  expect({ shape: read?.shape, body: JSON.parse(read?.body ?? 'null') as unknown }).toEqual({ shape: shape as never, body: BODY })
})

test.each([JSON.stringify(BODY), 'curl https://example.com/v1/models', 'curl', '', 'curly -d {}', "curl -d '{"])(
  '%s is no such command',
  (text) => {
    expect(readCurl(text)).toBeNull()
  },
)
