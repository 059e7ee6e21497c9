/** `patchbay doctor`: checks that this installation can work and, with `--live`, that providers accept what the service assumes they accept. */
import { accessSync, constants, mkdirSync } from 'node:fs'

import { type DoctorSettings, environment, SettingError } from '../config.ts'
import { askProvider, type Finding } from '../doctor/ask-provider.ts'
import { planLive } from '../doctor/live-plan.ts'
import { checkRedis } from '../doctor/redis-check.ts'
import { checkLine, costLine, findingJson, findingsTable, progressLine } from '../doctor/report.ts'
import { checkConfiguration, checkProviders, checkStorage, withoutData, type Check } from '../doctor/setup-checks.ts'
import { decimalNumber } from '../lib/decimal.ts'
import { systemClock } from '../lib/clock.ts'
import { processProxy } from '../lib/network/outgoing-proxy.ts'
import { nanosOf } from '../lib/money.ts'
import type { Models } from '../models/models.ts'
import { createUpstream, dateOf } from '../providers/transport/upstream.ts'
import { faultOfData, hasData } from './require-data.ts'
import { print } from './print.ts'

export interface DoctorFlags {
  readonly live?: boolean
  readonly model?: readonly string[]
  readonly maxCostUsd: string
  readonly record?: string
  readonly json?: boolean
}

const TIMEOUTS = { streamHeadersMs: 60_000, wholeHeadersMs: 120_000, idleMs: 60_000 }

/** Returns the exit code: 1 if something is wrong. */
export const doctorVerb = async (settings: DoctorSettings, flags: DoctorFlags): Promise<number> => {
  const maxCostUsd = decimalNumber(flags.maxCostUsd) ?? Number.NaN
  if (!(maxCostUsd > 0 && maxCostUsd <= 100))
    throw new SettingError('--max-cost-usd must be a number of US dollars above 0 and at most 100.')
  if (flags.record !== undefined && flags.live !== true) throw new SettingError('--record keeps what providers answer: it needs --live.')
  if (flags.model !== undefined && flags.live !== true) throw new SettingError('--model says which models are asked: it needs --live.')
  if (flags.record !== undefined) requireWritable(flags.record)
  const isJson = flags.json === true
  const checks: Check[] = []
  const add = (...found: readonly Check[]): void => {
    checks.push(...found)
    if (!isJson) for (const check of found) print(checkLine(check))
  }

  const storage = hasData(settings) ? await checkStorage(settings) : withoutData(settings, faultOfData(settings))
  const { checks: found, models } = checkConfiguration(settings, environment(), storage.imports)
  add(...found, ...storage.checks)
  if (settings.redisUrl !== null) add(await checkRedis(settings.redisUrl, systemClock))
  add(...(await checkProviders(models?.providers() ?? [], { clock: systemClock, get: dateOf, proxyOf: processProxy })))

  const findings =
    flags.live === true && models !== null ? await askAll(models, { ...flags, maxCostUsd }, isJson ? () => undefined : print) : []
  if (isJson) print(JSON.stringify({ checks, live: findings.map(findingJson) }))
  else if (findings.length > 0) print(`\n${findingsTable(findings)}`)
  const isWrong =
    checks.some(({ state }) => state === 'wrong') || findings.some(({ outcome }) => outcome === 'refused' || outcome === 'failed')
  return isWrong ? 1 : 0
}

/** Each question costs money, so none is asked whose answer could not be kept. Throws the system's error. */
const requireWritable = (directory: string): void => {
  mkdirSync(directory, { recursive: true })
  accessSync(directory, constants.W_OK)
}

/** Asks one after the other, so that rate limits do not distort the result. */
const askAll = async (
  models: Models,
  { model = [], maxCostUsd, record }: { readonly model?: readonly string[]; readonly maxCostUsd: number; readonly record?: string },
  print: (line: string) => void,
): Promise<readonly Finding[]> => {
  for (const id of model) if (models.find(id) === undefined) throw new SettingError(`--model ${id}: no enabled provider serves it.`)
  const boundNanos = nanosOf(maxCostUsd)
  const questions = planLive(models, model, boundNanos)
  print(`\n${costLine(questions, boundNanos)}`)
  const parts = { upstream: createUpstream(systemClock, TIMEOUTS), clock: systemClock, recordTo: record ?? null }
  const findings: Finding[] = []
  for (const question of questions) {
    const finding = await askProvider(question, parts)
    if (finding.outcome !== 'unasked') process.stderr.write(`${progressLine(finding)}\n`)
    findings.push(finding)
  }
  return findings
}
