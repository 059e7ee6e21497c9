/**
 * `npm run test:clients [-- id …]`: installs each client in a temporary folder, runs it against a started service whose vendors refuse what
 * real ones refuse, and prints the results. The last line has the counts.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

import { KNOWN_CLIENTS, type KnownClient } from '../../dashboard/src/known-clients.ts'
import { type Case, CASES } from './cases.ts'
import { type Driver, DRIVERS } from './drivers.ts'
import { NotInstalled, Unavailable } from './install-failure.ts'
import { createInstaller, type Installed } from './install.ts'
import { closing, type Outcome, reasons, report, type Result } from './report.ts'
import { startService } from './service.ts'
import { REASONS } from './vendors/failures.ts'

const AT_ONCE = 2
/**
 * A client that hangs must not delay the others. It prints each outcome, so the limit is on its silence, not on the time of all its cases.
 */
const SILENCE_MS = 600_000

const wanted = process.argv.slice(2)
const unknown = wanted.find((id) => KNOWN_CLIENTS.every((client) => client.id !== id))
if (unknown !== undefined) {
  process.stderr.write(`There is no client "${unknown}". Use one of ${KNOWN_CLIENTS.map(({ id }) => id).join(', ')}.\n`)
  process.exit(2)
}
const clients = KNOWN_CLIENTS.filter(({ id }) => wanted.length === 0 || wanted.includes(id))
const root = mkdtempSync(join(tmpdir(), 'patchbay-clients-'))
const install = createInstaller(clients, root)
const service = await startService(join(root, 'service'))
/** The leaders of the process groups that are running. */
const running = new Set<number>()

const main = async (): Promise<readonly Result[]> => {
  const results: Result[] = []
  const waiting = [...clients]
  const worker = async (): Promise<void> => {
    for (let client = waiting.shift(); client !== undefined; client = waiting.shift()) results.push(...(await check(client)))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return results
}

const check = async (client: KnownClient): Promise<readonly Result[]> => {
  const began = performance.now()
  const say = (what: string): void =>
    void process.stderr.write(`${client.id}: ${what} (${((performance.now() - began) / 1000).toFixed(0)} s)\n`)
  try {
    const installed = await install(client)
    say('installed')
    const found = [...(await runCases(client, installed)), await runSnippet(client, installed)]
    say(closing(found))
    for (const reason of reasons(found)) process.stderr.write(`  ${reason}\n`)
    return found
  } catch (thrown) {
    if (!(thrown instanceof Unavailable) && !(thrown instanceof NotInstalled)) throw thrown
    const kind = thrown instanceof Unavailable ? 'skipped' : 'failed'
    return [{ client: client.id, case: 'all', way: '', outcome: { kind, why: thrown.message } }]
  }
}

interface Asked {
  readonly id: string
  readonly way: string
  readonly one: Case
}

const runCases = async (client: KnownClient, installed: Installed): Promise<readonly Result[]> => {
  const driver = DRIVERS[client.id]
  if (driver === undefined) throw new Error(`${client.id} has no driver.`)
  const able = CASES.filter(
    ({ name, only = client.id }) => only === client.id && driver.leavesOut?.some(([cases]) => cases.test(name)) !== true,
  )
  const asked: readonly Asked[] = driver.ways.flatMap((way) =>
    able.map((one) => ({ id: `${client.id}-${way}-${one.name.replaceAll(/\W+/g, '-')}`, way, one })),
  )
  const cases = asked.map(
    ({ id, way, one: { model, prompt, stream, tools, settings, key, retries, mcp = false, webSockets = false } }) => ({
      id,
      way,
      model,
      prompt: prompt(id, driver.tools),
      stream,
      tools,
      settings,
      key: key === 'good' ? service.key : 'pb_inf_wrong',
      retries,
      mcp,
      webSockets,
    }),
  )
  const said = await output(installed.command(driver.script), installed, JSON.stringify({ api: service.api, host: service.url, cases }))
  const outcomes = new Map(
    [...said.matchAll(/^OUTCOME (.*)$/gm)].map(([, json = '{}']) => {
      const outcome = JSON.parse(json) as { id: string; text?: string; error?: string }
      return [outcome.id, outcome]
    }),
  )
  return asked.map(({ id, way, one }) => {
    const reported = outcomes.get(id)
    const outcome: Outcome =
      reported === undefined
        ? { kind: 'failed', why: `the driver said nothing of it: ${said.slice(-300)}` }
        : one.never?.test(`${reported.text ?? ''}${reported.error ?? ''}`) === true
          ? { kind: 'failed', why: `it said ${String(one.never)}: ${(reported.text ?? reported.error ?? '').slice(-300)}` }
          : judge(one.expected(driver.tools), { ...reported, text: answerIn(reported.text ?? '', driver) }, way)
    return { client: client.id, case: one.name, way, outcome }
  })
}

/** Removes terminal colours, and what the program prints besides the answer. */
const answerIn = (text: string, { prints = /$^/g }: Driver): string => stripVTControlCharacters(text).replaceAll(prints, '').trim()

/**
 * On Responses a context that is too long is an answer that was cut short (docs/contract/errors.md#length-errors), which libraries turn
 * into an empty text or an error of their own.
 */
const judge = (expected: ReturnType<Case['expected']>, { text, error }: { text?: string | null; error?: string }, way: string): Outcome => {
  const fault = (asked: string): Outcome => ({ kind: 'failed', why: `${asked}; it said ${JSON.stringify(error ?? text).slice(-400)}` })
  if ('reason' in expected) {
    const isLong = expected.reason === REASONS.overflow
    if (way === 'responses' && isLong && !text) return { kind: 'passed' }
    // An agent that shortens the conversation says so, and goes on.
    const said = error ?? (isLong ? text : undefined) ?? ''
    return expected.reason.test(said) ? { kind: 'passed' } : fault(`an error with ${String(expected.reason)} was due`)
  }
  return inOrder(text ?? '', expected.text) ? { kind: 'passed' } : fault(`"${expected.text.join('" and then "')}" was due`)
}

/** Agents print their prompt as well, so each part must come after the one before it. */
const inOrder = (text: string, parts: readonly string[]): boolean => {
  let from = 0
  return parts.every((part) => {
    const at = text.indexOf(part, from)
    from = at + part.length
    return at >= 0
  })
}

const ENDINGS = { sh: 'sh', python: 'py', js: 'mjs', go: 'go' } as const

/** The snippet as docs/clients.md prints it. */
const runSnippet = async ({ id, snippet }: KnownClient, installed: Installed): Promise<Result> => {
  const folder = join(installed.directory, 'snippets', id)
  mkdirSync(folder, { recursive: true })
  const script = join('snippets', id, `main.${ENDINGS[snippet.language]}`)
  writeFileSync(join(installed.directory, script), snippet.text)
  const command = snippet.language === 'sh' ? (['sh', join(installed.directory, script)] as const) : installed.command(script)
  const said = await output(command, installed, '')
  const outcome: Outcome = said.includes('Hello from ') ? { kind: 'passed' } : { kind: 'failed', why: said.slice(-400) }
  return { client: id, case: 'the snippet of docs/clients.md', way: '', outcome }
}

/** The output of a program, stdout and stderr together. It has a home directory of its own, and its child processes end with it. */
const output = ([program, ...args]: readonly [string, ...string[]], { directory, env }: Installed, input: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const home = join(directory, 'home')
    mkdirSync(home, { recursive: true })
    const child = spawn(program, args, {
      cwd: directory,
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        PYTHONUNBUFFERED: '1',
        PATCHBAY_URL: service.url,
        INFERENCE_KEY: service.key,
        ...env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    const { pid } = child
    const end = (): void => {
      if (pid !== undefined && running.delete(pid)) process.kill(-pid, 'SIGKILL')
    }
    if (pid !== undefined) running.add(pid)
    const deadline = setTimeout(end, SILENCE_MS)
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (piece: string) => {
        said += piece
        deadline.refresh()
      })
    }
    child.once('error', reject)
    child.once('close', () => {
      clearTimeout(deadline)
      if (pid !== undefined) running.delete(pid)
      resolve(said)
    })
    child.stdin.end(input)
  })

const cleanUp = async (): Promise<void> => {
  for (const pid of running) process.kill(-pid, 'SIGKILL')
  await service.stop()
  rmSync(root, { recursive: true, force: true })
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void cleanUp().then(() => process.exit(1)))

try {
  const results = await main()
  process.stdout.write(report(results))
  process.stdout.write(`${closing(results)}\n`)
  process.exitCode = results.some(({ outcome }) => outcome.kind === 'failed') ? 1 : 0
} finally {
  await cleanUp()
}
