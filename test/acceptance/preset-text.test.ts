/** A saved preset is returned as it was sent, whatever it contains, on every engine (docs/contract/presets.md#what-is-kept). */
import { expect, test } from 'bun:test'

import { call, infer } from '../support/calls.ts'
import { describeEachEngine } from '../support/databases.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()

describeEachEngine('presets', (engine) => {
  let started: Promise<StartedService> | null = null
  const start = (): Promise<StartedService> =>
    (started ??= engine
      .locate()
      .then(({ databaseUrl }) => services.start(databaseUrl === null ? {} : { flags: ['--database-url', databaseUrl] })))

  // As JSON text, since some of them cannot be written in any other way.
  const texts: Readonly<Record<string, string>> = {
    'accents and scripts': '"Grüße, 世界, שלום"',
    'emoji of several code points': '"👩‍👩‍👧‍👦🏳️‍🌈"',
    'a zero character': String.raw`"a\u0000b"`,
    'half a surrogate pair': String.raw`"a\ud800b"`,
    'control characters': String.raw`"\u0001\u001f\u007f\u0085\u2028\u2029"`,
    'quotes and backslashes': String.raw`"\\ \" ' %s $1 {} \\u0041 \\x00"`,
    'combining characters, not normalized': String.raw`"e\u0301 \u00e9"`,
    SQL: `"'); drop table preset; --"`,
    'a long text': JSON.stringify('x'.repeat(300_000)),
    'white space alone': String.raw`" \t\r\n "`,
  }
  for (const [what, text] of Object.entries(texts)) {
    test(`${what}: in the system prompt, the config, a name, a description and an echo`, async () => {
      const service = await start()
      const tool = `{"type":"function","name":"look","parameters":{"type":"object","description":${text}}}`
      const body = `{"model":"sandbox/echo","instructions":${text},"tools":[${tool}]}`
      const saved = await call(service, 'POST', '/presets/texts/responses', { body })
      expect(saved.status).toBe(200)
      const read = await call(service, 'GET', '/presets/texts')
      expect(read.preset.designated_version).toEqual(saved.preset.designated_version)
      expect(read.preset.designated_version.system_prompt).toBe(JSON.parse(text) as string)
      expect(read.preset.designated_version.config['tools']).toEqual([JSON.parse(tool)])
      const answer = await infer(
        service,
        `{"model":"@preset/texts","messages":[{"role":"user","content":${text}}],"user":"u","tool_choice":"none"}`,
      )
      expect(answer.status).toBe(200)
    })
  }

  test('members of the config keep their order', async () => {
    const service = await start()
    const format = '{"type":"json_schema","name":"n","schema":{"z":1,"a":{"y":2,"b":3},"10":4,"m":[]}}'
    await call(service, 'POST', '/presets/order/responses', {
      body: `{"temperature":0.5,"text":{"format":${format}},"model":"sandbox/json"}`,
    })
    const { config } = (await call(service, 'GET', '/presets/order')).preset.designated_version
    expect(JSON.stringify((config['text'] as { format: unknown }).format)).toBe(JSON.stringify(JSON.parse(format)))
  })

  for (const number of ['9007199254740993', '1e400', '123456789012345678901234567890']) {
    test(`${number}: a number that JSON.parse would change is kept or refused, never changed`, async () => {
      const service = await start()
      const body = `{"model":"sandbox/echo","tools":[{"type":"function","name":"look","parameters":{"const":${number}}}]}`
      const saved = await call(service, 'POST', '/presets/numbers/responses', { body })
      if (saved.status === 400) expect(JSON.stringify(saved.error.metadata)).toContain('tools')
      else expect((await call(service, 'GET', '/presets/numbers')).text).toContain(`"const":${number}}`)
    })
  }
})
