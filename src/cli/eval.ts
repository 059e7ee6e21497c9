/** `patchbay eval`: runs a version of a preset over a set of items; the exit code says if it passed. */
import { readFileSync } from 'node:fs'

import { z } from 'zod'

import { SettingError, type RemoteSettings } from '../config.ts'
import { evaluationEstimate, evaluationWithItems, type Outcome } from '../contract/evaluation.ts'
import { decimalNumber } from '../lib/decimal.ts'
import { systemClock } from '../lib/clock.ts'
import { isObject, jsonIn, type JsonObject, type JsonValue } from '../lib/json/json.ts'
import { systemFault } from '../lib/system-fault.ts'
import { parseValue } from './as-code/document-file.ts'
import { createRemote, RemoteRefused, type Remote } from './remote.ts'
import { warn } from './warn.ts'

export interface EvalFlags {
  readonly version: string
  readonly set: string
  readonly baseline?: string
  readonly check?: readonly string[]
  readonly minPassRate?: string
  readonly budgetUsd?: string
  readonly concurrency?: string
  readonly workspace?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

const PASSED = 0
const FAILED = 1
const POLL_MS = 500

export const evalVerb = async (settings: RemoteSettings, slug: string, flags: EvalFlags): Promise<number> => {
  const remote = createRemote(settings, flags.workspace)
  const path = `/presets/${encodeURIComponent(slug)}/evaluations`
  const set = readSet(flags.set)
  const { json } = await remote.ask('POST', path, { body: bodyOf(flags, set.value) }).catch(withLines(set))
  if (flags.dryRun === true) {
    const { data } = estimate.parse(json)
    process.stdout.write(`${JSON.stringify(data, null, flags.json === true ? 0 : 2)}\n`)
    return PASSED
  }
  const { id } = whole.parse(json).data
  warn(`evaluation ${id} of ${slug}@${flags.version} runs; it goes on if this command is interrupted.`)
  const ended = await whenEnded(remote, `${path}/${id}`)
  process.stdout.write(flags.json === true ? `${JSON.stringify(ended)}\n` : reportOf(slug, ended))
  return ended.passed === true ? PASSED : FAILED
}

const whole = z.object({ data: evaluationWithItems })
const estimate = z.object({ data: evaluationEstimate })

type Evaluation = z.output<typeof evaluationWithItems>

const whenEnded = async (remote: Remote, path: string): Promise<Evaluation> => {
  for (;;) {
    const { data } = whole.parse((await remote.ask('GET', path)).json)
    if (data.state !== 'running') return data
    await new Promise<void>((resolve) => systemClock.after(POLL_MS, resolve))
  }
}

/** The set may be an object with all members of an evaluation, a list of items, or one item per line. Flags override it. */
const bodyOf = (flags: EvalFlags, set: JsonValue): JsonObject => {
  const whole = Array.isArray(set) ? { items: set } : set
  const body: JsonObject = isObject(whole) ? whole : refuseSet(flags.set)
  const checks = flags.check?.map((type) => ({ type })) ?? body['checks'] ?? [{ type: 'exact' }]
  return {
    ...body,
    checks,
    version: numberOf(flags.version, '--version'),
    ...optional('baseline', flags.baseline, '--baseline'),
    ...optional('min_pass_rate', flags.minPassRate, '--min-pass-rate'),
    ...optional('budget_usd', flags.budgetUsd, '--budget-usd'),
    ...optional('concurrency', flags.concurrency, '--concurrency'),
    ...(flags.dryRun === true ? { dry_run: true } : {}),
  }
}

const optional = (member: string, text: string | undefined, flag: string): JsonObject =>
  text === undefined ? {} : { [member]: numberOf(text, flag) }

const numberOf = (text: string, flag: string): number => {
  const number = decimalNumber(text)
  if (number === null) throw new SettingError(`${flag}: use a number, not "${text}".`)
  return number
}

interface ReadSet {
  readonly value: JsonValue
  /** The line of each item in a file with one item per line, counted from 1. */
  readonly lines: readonly number[]
}

const readSet = (file: string): ReadSet => {
  let text: string
  try {
    text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (cause) {
    throw new SettingError(`--set: ${file}: the file cannot be read (${systemFault(cause)}).`, { cause })
  }
  if (!file.endsWith('.jsonl')) return { value: parseValue(`--set: ${file}`, text), lines: [] }
  const items = text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return []
    const value = jsonIn(line)
    if (value === undefined) throw new SettingError(`--set: ${file}:${at + 1}: this line is not JSON.`)
    return [{ value, line: at + 1 }]
  })
  return { value: items.map(({ value }) => value), lines: items.map(({ line }) => line) }
}

/** The service counts items from 0, and knows nothing of blank lines. */
const withLines =
  ({ lines }: ReadSet) =>
  (thrown: unknown): never => {
    if (!(thrown instanceof RemoteRefused)) throw thrown
    const message = thrown.message.replaceAll(/\bitems\[(\d+)\]/g, (path, at: string) => {
      const line = lines[Number(at)]
      return line === undefined ? path : `${path} (line ${line})`
    })
    throw new RemoteRefused(thrown.status, message, thrown.issues)
  }

const refuseSet = (file: string): never => {
  throw new SettingError(`--set: ${file} holds neither a list of items nor an evaluation.`)
}

const reportOf = (slug: string, { version, state, passed, reason, summary, items }: Evaluation): string => {
  const outcome = passed === true ? 'passed' : state === 'done' ? 'failed' : state
  const lines = [
    `${slug}@${version}: ${outcome}${reason === null ? '' : `: ${reason}`}`,
    `  version   ${sideOf(summary.version)}`,
    ...(summary.baseline === null ? [] : [`  baseline  ${sideOf(summary.baseline)}`]),
    ...items.flatMap(({ position, answer }) => (answer === null || answer.passed ? [] : [`  item ${position}: ${failureOf(answer)}`])),
  ]
  return `${lines.join('\n')}\n`
}

const sideOf = ({ pass_rate: rate, failed, cost }: Evaluation['summary']['version']): string => {
  if (rate === null) return 'nothing is done'
  const percent = (part: number): string => `${(part * 100).toFixed(1)} %`
  return `${percent(rate.value)} passed (95 %: ${percent(rate.low)} to ${percent(rate.high)}), ${failed} failed, $${cost}`
}

const failureOf = ({ checks }: Outcome): string =>
  checks.flatMap(({ type, passed, reason }) => (passed ? [] : [`${type}: ${reason ?? 'no reason was given'}`])).join('; ')
