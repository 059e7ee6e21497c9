/** The request of the playground as a program: each program is run with its SDK, and sends what the playground sends. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { useHostedServices } from '../../test/support/hosted-services.ts'
import type { RunningService } from '../../test/support/started-service.ts'
import type { Asked } from '../src/playing/conversation-input.ts'
import { codeOf } from '../src/playing/request-code.ts'
import { manage } from './calls.ts'

const services = useHostedServices()
const ROOT = join(import.meta.dirname, '../..')

const askedOf = (dialect: Asked['interface']): Asked => ({
  interface: dialect,
  system: `It's "brief" — naïve \\ and $HOME`,
  messages: [{ role: 'user', text: 'Wo ist mein Paket?\nNr. 5 `x` ${y}' }],
  settings: { model: 'sandbox/echo', temperature: 0.5, provider: { order: ['sandbox'], allow_fallbacks: true }, user: null },
  stream: true,
})

describe('the request as a program', () => {
  let service: RunningService
  const directory = mkdtempSync(join(tmpdir(), 'patchbay-code-'))
  beforeAll(async () => {
    service = await services.start()
    symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  const environment = () => ({ PATH: process.env['PATH'], PATCHBAY_URL: service.url, INFERENCE_KEY: service.inferenceKey })
  const textOf = (dialect: Asked['interface'], title: RegExp): string =>
    codeOf(askedOf(dialect)).find((code) => title.test(code.title))?.text ?? ''

  test.each(['chat', 'responses', 'messages'] as const)('of %s runs in the shell and in JavaScript, and is answered', (dialect) => {
    const shell = spawnSync('sh', ['-c', textOf(dialect, /curl/)], { env: environment(), encoding: 'utf8' })
    expect(shell.stdout).toContain('Wo ist mein Paket?')
    const file = join(directory, `${dialect}.mjs`)
    writeFileSync(file, textOf(dialect, /JavaScript/))
    const program = spawnSync(process.execPath, ['run', file], { env: environment(), encoding: 'utf8', cwd: directory })
    expect({ said: program.stdout, failed: program.stderr }).toEqual({ said: expect.stringContaining('Wo ist mein Paket?'), failed: '' })
  })

  test('of Python names what the function takes, has the rest in extra_body, and is Python', async () => {
    const text = textOf('chat', /Python/)
    expect(text).toContain(`    model="sandbox/echo",\n    messages=[\n        {\n            "role": "system",`)
    expect(text).toContain(`    extra_body={
        "temperature": 0.5,
        "provider": {
            "order": [
                "sandbox",
            ],
            "allow_fallbacks": True,
        },
        "user": None,
    },
)`)
    expect((await manage<{ data: unknown[] }>(service, '/generations?interface=chat')).data.length).toBeGreaterThan(0)
  })

  const python = Bun.which('python3')
  test.skipIf(python === null).each(['chat', 'responses', 'messages'] as const)('of %s is read by Python as what is sent', (dialect) => {
    const read = `import ast, json, sys
tree = ast.parse(sys.stdin.read())
call = next(node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "answer")
given = {one.arg: ast.literal_eval(one.value) for one in call.keywords}
print(json.dumps({**{k: v for k, v in given.items() if k != "extra_body"}, **given["extra_body"]}))`
    const { stdout, stderr } = spawnSync(python ?? '', ['-c', read], { input: textOf(dialect, /Python/), encoding: 'utf8' })
    expect(stderr).toBe('')
    const sent = /create\((\{[^]*\})\)\nconsole/.exec(textOf(dialect, /JavaScript/))?.[1] ?? ''
    expect(JSON.parse(stdout)).toEqual(JSON.parse(sent))
  })
})
