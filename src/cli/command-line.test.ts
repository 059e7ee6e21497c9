import { describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { temporaryDirectory } from '../../test/support/sqlite-database.ts'
import { SERVE_SETTINGS } from '../config.ts'

const directory = temporaryDirectory()
const PROGRAM = join(import.meta.dir, '../main.ts')

const run = (args: readonly string[], env: Record<string, string> = {}) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    encoding: 'utf8',
    cwd: directory,
    env: { PATH: process.env['PATH'] ?? '', PATCHBAY_DATA_DIR: join(directory, 'data'), ...env },
  })
  return { status, stdout, stderr }
}

const makeDatabase = (): void => {
  if (!existsSync(join(directory, 'data/patchbay.db'))) run(['keys', 'create', '--kind', 'inference', '--name', 'first'])
}

describe('a misuse is one sentence on stderr and exit code 2', () => {
  test.each<[string, readonly string[], Record<string, string>, string]>([
    ['an unknown verb', ['sevre'], {}, 'sevre'],
    ['an unknown flag', ['serve', '--prot', '1'], {}, "unknown option '--prot' (Did you mean --port?); see --help."],
    [
      'models for a doctor that asks none',
      ['doctor', '--model', 'openai/gpt-5.4'],
      {},
      '--model says which models are asked: it needs --live.',
    ],
    ['a kind of price list that is none', ['catalogue', 'forget', 'hosts'], {}, 'the kind must be one of litellm, models.dev, hosted'],
    ['a flag without its value', ['serve', '--port'], {}, "'--port <value>' argument missing"],
    ['a bad flag', ['serve', '--port', 'x'], {}, '--port must be a whole number from 0 to 65535 (it is "x").'],
    ['a bad variable', ['serve'], { PATCHBAY_WORKERS: '0' }, 'PATCHBAY_WORKERS must be a whole number from 1 to 64 (it is "0").'],
    ['workers on SQLite', ['serve', '--workers', '2'], {}, '--workers: more than one process needs --database-url'],
    ['a file that is missing', ['serve', '--config', 'nowhere.yaml'], {}, 'nowhere.yaml: the configuration file cannot be read (ENOENT).'],
    ['a provider’s address that is none', ['serve', '--port', '0'], { OLLAMA_HOST: 'http://[' }, 'the address of "ollama" is not a URL'],
    ['an argument too many', ['keys', 'list', 'x'], {}, "too many arguments for 'list'. Expected 0 arguments but got 1; see --help."],
    ['a verb of keys that is none', ['keys', 'make'], {}, 'there is no command "keys make"; there are create, list, revoke, help.'],
    [
      'a kind that is none',
      ['keys', 'create', '--kind', 'root', '--name', 'x'],
      {},
      '--kind must be management or inference (it is "root").',
    ],
    ['no kind', ['keys', 'create', '--name', 'x'], {}, "'--kind <kind>' not specified"],
    ['a limit that is no number', ['keys', 'create', '--kind', 'inference', '--name', 'x', '--limit-usd', 'lots'], {}, '--limit-usd'],
    ['a limit below zero', ['keys', 'create', '--kind', 'inference', '--name', 'x', '--limit-usd=-1'], {}, 'limit'],
    [
      'an expiry that has passed',
      ['keys', 'create', '--kind', 'inference', '--name', 'x', '--expires', '2020-01-01T00:00:00Z'],
      {},
      'expires',
    ],
    ['a hash that is none', ['keys', 'revoke', 'abc'], {}, 'hash'],
    ['a hash that nobody has', ['keys', 'revoke', 'ab'.repeat(32)], {}, 'No key has this hash.'],
    ['another root secret', ['keys', 'list'], { PATCHBAY_SECRET: 'x'.repeat(32) }, 'PATCHBAY_SECRET is not the root secret'],
  ])('%s', (_, args, env, sentence) => {
    // The database of this directory exists, with its own secret, before any of these commands.
    if (args[0] === 'keys' || args[0] === 'catalogue') makeDatabase()
    const { status, stdout, stderr } = run(args, env)
    expect(stderr).toContain(sentence)
    expect([status, stdout, stderr.trimEnd().split('\n').length]).toEqual([2, '', 1])
    expect(stderr).toStartWith('patchbay: ')
  })
})

test('help shows every flag with its variable and its default, and exits 0', () => {
  const { status, stdout } = run(['serve', '--help'])
  expect(status).toBe(0)
  const text = stdout.replace(/\s+/g, ' ')
  for (const { flag, env, shown } of Object.values(SERVE_SETTINGS)) {
    if (flag === null) expect(text).toContain(env)
    else {
      expect(text).toContain(`--${flag} <value>`)
      expect(text).toContain(`[${env}; default: ${shown}]`)
    }
  }
})

test.each(['keys', 'keys create'])('each way to ask for the help of %p shows the same, and exits 0', (command) => {
  const [first = '', ...further] = command.split(' ')
  const { status, stdout } = run([first, ...further, '--help'])
  expect([status, stdout.startsWith(`Usage: patchbay ${command} `)]).toEqual([0, true])
  for (const words of [
    ['help', first, ...further],
    [first, 'help', ...further],
  ])
    expect(run(words)).toMatchObject({ status: 0, stdout })
})

test('keys without a verb shows which there are', () => {
  const { status, stderr, stdout } = run(['keys'])
  expect([status, stdout]).toEqual([2, ''])
  for (const verb of ['create', 'list', 'revoke']) expect(stderr).toContain(verb)
  expect(stderr).not.toContain('outputHelp')
})

test('the version is a line', () => {
  const { status, stdout } = run(['--version'])
  expect([status, /^\d+\.\d+\.\d+\n$/.test(stdout)]).toEqual([0, true])
})

test('without data, list and revoke say so and make none; create says that it did', () => {
  const elsewhere = join(directory, 'elsewhere')
  const at = { PATCHBAY_DATA_DIR: elsewhere }
  for (const args of [['list'], ['list', '--json'], ['revoke', 'ab'.repeat(32)]]) {
    expect(run(['keys', ...args], at)).toEqual({
      status: 2,
      stdout: '',
      stderr: `patchbay: there is no Patchbay data in ${elsewhere}; use --data-dir to name it.\n`,
    })
    expect(existsSync(elsewhere)).toBe(false)
  }
  const create = ['keys', 'create', '--kind', 'inference', '--name', 'x']
  expect(run(create, at).stderr).toMatch(new RegExp(`^made a new database in ${elsewhere}\nshown this once; hash [a-f0-9]{64}\n$`))
  expect(run(create, at).stderr).toMatch(/^shown this once; hash [a-f0-9]{64}\n$/)
  expect(run([...create, '--json'], at).stderr).toBe('')
})

test('a list has a header and straight columns, with limit and expiry', () => {
  const at = { PATCHBAY_DATA_DIR: join(directory, 'listed') }
  const create = ['keys', 'create', '--name', 'x y', '--kind']
  run([...create, 'management'], at)
  run([...create, 'inference', '--limit-usd', '12.5', '--limit-reset', 'weekly', '--expires', '2099-01-31T00:00:00Z'], at)
  run([...create, 'inference', '--limit-usd', '3'], at)
  const [header = '', ...rows] = run(['keys', 'list'], at).stdout.trimEnd().split('\n')
  const cells = (line: string, name: string): string => line.slice(header.indexOf(name)).split(/ {2,}/)[0] ?? ''
  expect(header.split(/ {2,}/)).toEqual(['HASH', 'KIND', 'LABEL', 'STATUS', 'USED', 'LIMIT', 'EXPIRES', 'WORKSPACE', 'NAME'])
  const shown = rows.map((line) => ['KIND', 'STATUS', 'USED', 'LIMIT', 'EXPIRES', 'NAME'].map((name) => cells(line, name)))
  expect(shown.sort((a, b) => (a.join() < b.join() ? -1 : 1))).toEqual([
    ['inference', 'active', '$0', '$12.5 weekly', expect.stringMatching(/^2099-01-31T00:00:00/), 'x y'],
    ['inference', 'active', '$0', '$3', 'never', 'x y'],
    ['management', 'active', '$0', 'none', 'never', 'x y'],
  ])
})

test('a key is made, listed and revoked from the shell; it is shown the once', () => {
  makeDatabase()
  const made = run([
    'keys',
    'create',
    '--kind',
    'inference',
    '--name',
    'ci',
    '--limit-usd',
    '8215.28',
    '--limit-reset',
    'monthly',
    '--json',
  ])
  expect([made.status, made.stderr]).toEqual([0, ''])
  const { key, hash, limit, limit_reset } = JSON.parse(made.stdout) as { key: string; hash: string; limit: number; limit_reset: string }
  expect(key).toMatch(/^pb_inf_[0-9A-Za-z]{49}$/)
  expect([limit, limit_reset]).toEqual([8215.28, 'monthly'])
  const listed = run(['keys', 'list'])
  expect(listed.stdout).toContain(hash)
  expect(listed.stdout).not.toContain(key)
  expect(run(['keys', 'revoke', hash])).toEqual({ status: 0, stdout: `revoked ${hash}\n`, stderr: '' })
  expect(run(['keys', 'list']).stdout).not.toContain(hash)
  expect(run(['keys', 'create', '--kind', 'management', '--name', 'x']).stdout).toMatch(/^pb_mgmt_[0-9A-Za-z]{49}\n$/)
})
