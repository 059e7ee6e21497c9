/** `patchbay import WHAT FILE`: imports from other products, with a finding for each place in their files. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'

import { environment, SettingError, type RemoteSettings } from '../config.ts'
import { isObject, jsonIn, type JsonObject, type JsonValue } from '../lib/json/json.ts'
import { replaceFile } from '../lib/replace-file.ts'
import { linesIn, parseFile, parseValue, renderFile } from './as-code/document-file.ts'
import { readBifrost } from './import/bifrost.ts'
import { carryOut } from './import/carry-out.ts'
import { type Finding, type ImportPlan, type ImportReader, placeIn } from './import/import-plan.ts'
import { readLitellmConfig } from './import/litellm/read-config.ts'
import { readOpenaiPrompts } from './import/openai-prompts.ts'
import { readOpenrouter } from './import/openrouter.ts'
import { readPortkey } from './import/portkey.ts'
import { takeBack } from './import/take-back.ts'
import { OutputLost, printWhole } from './print.ts'
import { createRemote } from './remote.ts'
import { warn } from './warn.ts'

const READERS = {
  'openai-prompts': readOpenaiPrompts,
  openrouter: readOpenrouter,
  litellm: readLitellmConfig,
  portkey: readPortkey,
  bifrost: readBifrost,
} as const satisfies Record<string, ImportReader>

export interface ImportFlags {
  readonly dryRun?: boolean
  readonly overwrite?: boolean
  readonly createKeys?: boolean
  readonly merge?: string
  readonly workspace?: string
  readonly json?: boolean
}

/** Returns 1 if the service refused something. */
export const importVerb = async (settings: RemoteSettings, what: string, path: string, flags: ImportFlags): Promise<number> => {
  const reader = Object.hasOwn(READERS, what) ? READERS[what as keyof typeof READERS] : null
  if (reader === null)
    throw new SettingError(`there is nothing to import from ${JSON.stringify(what)}; there are ${Object.keys(READERS).join(', ')}.`)
  const { plan, findings } = readPlan(path, reader)
  const target = flags.merge === undefined ? null : readTarget(flags.merge)
  const isDry = flags.dryRun === true
  const say = async (line: string): Promise<void> => (flags.json === true ? undefined : printWhole(`${line}\n`))
  for (const { line, outcome, says } of findings) await say(`${outcome.padEnd(7)}  ${path}:${line}: ${says}`)

  const remote = isDry && settings.managementKey === null ? null : createRemote(settings, flags.workspace)
  if (remote === null) await say(`${summaryOf(plan)}; with PATCHBAY_MANAGEMENT_KEY set, a dry run compares with the service`)
  const options = { dryRun: isDry, overwrite: flags.overwrite === true, createKeys: flags.createKeys === true, env: environment() }
  const done: JsonObject[] = []
  let merged: readonly string[] = []
  let unseen: string[] = []
  let refused = 0
  try {
    try {
      for await (const { state, says, made } of remote === null ? [] : carryOut(plan, remote, options)) {
        if (state === 'refused') refused += 1
        if (made !== undefined) unseen.push(made.data.hash)
        done.push({ state, says, ...(made === undefined ? {} : { key: made.key }) })
        await say(`${isDry && state === 'done' ? 'would be done' : WORDS[state]}: ${says}${made === undefined ? '' : `\n${made.key}`}`)
        if (flags.json !== true) unseen = []
      }
      merged = await bringFile(plan.file, target, isDry, say)
    } finally {
      // Also if it fails on the way: keys that were made by then are shown only here.
      if (flags.json === true) await printWhole(`${JSON.stringify({ findings, done, file: plan.file, merged })}\n`)
    }
  } catch (thrown) {
    if (thrown instanceof OutputLost && remote !== null) await takeBack(unseen, remote, 'nobody reads the standard output')
    throw thrown
  }
  return refused > 0 ? 1 : 0
}

const WORDS = { done: 'done', kept: 'already there', left: 'left alone', refused: 'refused' } as const

const readPlan = (path: string, reader: ImportReader): { plan: ImportPlan; findings: readonly Finding[] } => {
  const text = textOf(path)
  const { value, lineOf } = valueOf(path, text)
  const findings: Finding[] = []
  const root = placeIn(({ path: at, outcome, says }) => void findings.push({ line: lineOf(at), outcome, says }))
  try {
    const plan = { presets: [], guardrails: [], keys: [], file: {}, ...reader(value, root, basename(path, extname(path))) }
    return { plan, findings: findings.toSorted((a, b) => a.line - b.line) }
  } catch (thrown) {
    if (thrown instanceof SettingError) throw new SettingError(`${path}: ${thrown.message}`)
    throw thrown
  }
}

/** Reads one value, or one value per line as a list. */
const valueOf = (path: string, text: string): { value: JsonValue; lineOf: (at: readonly (string | number)[]) => number } => {
  const lines = text.split(/\r?\n/)
  const isLines = path.endsWith('.jsonl') || path.endsWith('.ndjson')
  if (!isLines) return { value: plainValue(path, text), lineOf: linesIn(text) }
  const reported = lines.flatMap((line, at) => (line.trim() === '' ? [] : [{ line, number: at + 1 }]))
  return {
    value: reported.map(({ line, number }) => plainValue(`${path}:${number}`, line)),
    lineOf: ([at]) => reported[Number(at)]?.number ?? 1,
  }
}

/** Handled separately, since a file may contain a list. */
const plainValue = (path: string, text: string): JsonValue => {
  const trimmed = text.trimStart()
  if (trimmed.startsWith('[')) return strictJson(path, trimmed)
  const value = parseFile(path, text)
  // YAML takes a comment of another language for a part of the next name, and with it a whole member would be lost.
  if (/\.(?:json|jsonl|ndjson)(?::\d+)?$/.test(path)) strictJson(path, trimmed)
  return value
}

const strictJson = (path: string, text: string): JsonValue => {
  const value = jsonIn(text)
  if (value !== undefined) return value
  throw new SettingError(`${path}: not valid JSON, which has no comments, no comma after the last member, and quotes around every name.`)
}

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (cause) {
    throw new SettingError(`${path}: the file cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown reason'}).`)
  }
}

const summaryOf = ({ presets, guardrails, keys }: ImportPlan): string =>
  `a dry run: ${presets.length} presets, ${guardrails.length} guardrails, limits of ${keys.length} keys`

interface Target {
  readonly path: string
  /** Null if there is nothing in the file yet. */
  readonly text: string | null
  readonly content: JsonObject
}

/** Read before anything is imported, so that a file which cannot be merged into ends the command at once. */
const readTarget = (path: string): Target => {
  const text = existsSync(path) ? textOf(path) : ''
  if (text.trim() === '') return { path, text: null, content: {} }
  // A file may hold nothing but comments, which are kept.
  return { path, text, content: parseValue(path, text) === null ? {} : parseFile(path, text) }
}

/** The part for the operator's file: printed, or merged into it where nothing exists yet. Returns the names of what was merged. */
const bringFile = async (
  file: JsonObject,
  target: Target | null,
  isDry: boolean,
  say: (line: string) => Promise<void>,
): Promise<readonly string[]> => {
  if (Object.keys(file).length === 0) return []
  if (target === null) {
    await say(`\n# for your patchbay.yaml; --merge FILE writes it there\n${renderFile('patchbay.yaml', file, null).trimEnd()}`)
    return []
  }
  const { path, text, content } = target
  const added: string[] = []
  const joined = joinedFile(content, file, added, path)
  if (!isDry && added.length > 0) replaceFile(path, renderFile(path, joined, text))
  for (const name of added) await say(`${isDry ? 'would be written' : 'written'} to ${path}: ${name}`)
  return added
}

/** Existing entries of the file stay unchanged. */
const joinedFile = (current: JsonObject, file: JsonObject, added: string[], target: string): JsonObject => {
  const joined: Record<string, JsonValue> = { ...current }
  for (const [section, entries] of Object.entries(file)) {
    if (!isObject(entries)) continue
    const own = isObject(current[section]) ? current[section] : {}
    const news = Object.entries(entries).filter(([name, entry]) => {
      if (!Object.hasOwn(own, name)) return true
      if (JSON.stringify(own[name]) !== JSON.stringify(entry)) warn(`${target}: ${section}.${name} is there already, and stays as it is.`)
      return false
    })
    if (news.length === 0) continue
    added.push(...news.map(([name]) => `${section}.${name}`))
    joined[section] = { ...own, ...Object.fromEntries(news) }
  }
  return joined
}
