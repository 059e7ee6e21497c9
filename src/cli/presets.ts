/** `patchbay presets …`: presets and, on request, guardrails, limits of keys and budgets as files in version control. */
import { existsSync, mkdirSync, statSync } from 'node:fs'

import { environment, SettingError, type RemoteSettings } from '../config.ts'
import { presetLabel } from '../contract/preset-name.ts'
import { budgetKind } from './as-code/budget-kind.ts'
import { baseKey, compareAll, type Compared } from './as-code/compare.ts'
import { merge, type Document } from './as-code/document.ts'
import { guardrailKind } from './as-code/guardrail-kind.ts'
import { keyKind } from './as-code/key-kind.ts'
import { KIND_NAMES, type Kind, type KindName, type PushOptions } from './as-code/kind.ts'
import { readLock, writeLock } from './as-code/lock-file.ts'
import { presetKind } from './as-code/preset-kind.ts'
import { comparedLines, nameOf } from './as-code/report.ts'
import { readLocal, removeLocal, writeLocal } from './as-code/working-copy.ts'
import { print as printLine, printWhole } from './print.ts'
import { createRemote, RemoteRefused, type Remote } from './remote.ts'
import { warn } from './warn.ts'
import { terminalLine } from './terminal-line.ts'

const KINDS: Readonly<Record<KindName, Kind>> = { presets: presetKind, guardrails: guardrailKind, keys: keyKind, budgets: budgetKind }

export interface AsCodeFlags {
  readonly workspace?: string
  readonly with?: string
  readonly format?: string
  readonly dryRun?: boolean
  readonly prune?: boolean
  readonly force?: boolean
  readonly note?: string
  readonly label?: string
  readonly designate?: boolean
}

/** The state with which every command begins, and how it is stored at the end. */
interface Copy {
  readonly directory: string
  readonly remote: Remote
  readonly compared: readonly Compared[]
  /** Changed as objects are brought into step. */
  readonly bases: Map<string, Document>
  readonly keep: () => void
}

const IN_STEP = 0
const DIFFERENT = 1

/** Returns 1 if something was changed on both sides. */
export const pullVerb = async (settings: RemoteSettings, directory: string, flags: AsCodeFlags): Promise<number> => {
  const extension = flags.format === undefined ? '.yaml' : extensionOf(flags.format)
  const copy = await open(settings, directory, flags)
  if (flags.dryRun !== true) mkdirSync(directory, { recursive: true })
  const say = speaker(flags)
  let conflicts = 0
  try {
    for (const one of copy.compared) {
      const { kind, identity, local, remote, base, standing } = one
      const key = baseKey(kind, identity)
      const take = async (document: Document, what: string): Promise<void> => {
        if (remote === undefined) return
        if (flags.dryRun !== true) writeLocal(directory, kind, { ...remote, document }, local, extension)
        copy.bases.set(key, remote.document)
        await say(`${what}: ${nameOf(one)}`)
      }
      if (standing === 'same') {
        if (remote === undefined) copy.bases.delete(key)
        else copy.bases.set(key, remote.document)
      } else if (remote === undefined) {
        if (base === null) continue
        if (local !== undefined && (flags.force === true || (flags.prune === true && standing === 'drifted'))) {
          if (flags.dryRun !== true) removeLocal(local)
          copy.bases.delete(key)
          await say(`deleted: ${nameOf(one)}`)
        } else {
          if (standing === 'conflict') conflicts += 1
          await say(`gone from the service: ${nameOf(one)}; --prune deletes the file`)
        }
      } else if (standing === 'drifted' || flags.force === true) await take(remote.document, local === undefined ? 'new' : 'changed')
      else if (standing === 'edited') await say(`${local === undefined ? 'deleted' : 'changed'} here: ${nameOf(one)}`)
      else {
        const outcome = local === undefined || base === null ? null : merge(base, local.document, remote.document)
        if (outcome !== null && 'merged' in outcome) await take(outcome.merged, 'joined')
        else {
          conflicts += 1
          for (const line of comparedLines(one, directory)) await print(line)
        }
      }
    }
  } finally {
    if (flags.dryRun !== true) copy.keep()
  }
  await say(
    `${copy.compared.length} compared with ${copy.remote.url}${conflicts > 0 ? `; ${conflicts} changed on both sides: take the service's with --force, or send the file's with apply` : ''}`,
  )
  return conflicts > 0 ? DIFFERENT : IN_STEP
}

/** Returns 1 if anything differs. */
export const diffVerb = async (settings: RemoteSettings, directory: string, flags: AsCodeFlags): Promise<number> => {
  const { compared, remote } = await open(settings, requireDirectory(directory), flags)
  const different = compared.filter(({ standing }) => standing !== 'same')
  for (const one of different) for (const line of comparedLines(one, directory)) show(line)
  if (different.length === 0) show(`in step with ${remote.url}`)
  return different.length === 0 ? IN_STEP : DIFFERENT
}

/** Sends what was changed in the files. Returns 1, with nothing sent, if something was changed on both sides. */
export const pushVerb = async (settings: RemoteSettings, directory: string, flags: AsCodeFlags): Promise<number> => {
  const copy = await open(settings, requireDirectory(directory), flags)
  const conflicts = copy.compared.filter(({ standing }) => standing === 'conflict')
  if (conflicts.length > 0) {
    for (const one of conflicts) for (const line of comparedLines(one, directory)) show(line)
    warn('nothing was sent: pull first, or send the files with apply.')
    return DIFFERENT
  }
  for (const one of copy.compared) {
    if (one.standing !== 'drifted') continue
    await print(
      one.remote === undefined
        ? `deleted on the service, left alone: ${nameOf(one)}; "pull --prune" deletes the file, "apply" makes it again`
        : `changed on the service, left alone: ${nameOf(one)}; "pull" takes it`,
    )
  }
  return send(
    copy,
    copy.compared.filter(({ standing }) => standing === 'edited'),
    flags,
  )
}

/** Makes the service match the files, whatever was changed there. */
export const applyVerb = async (settings: RemoteSettings, directory: string, flags: AsCodeFlags): Promise<number> => {
  const copy = await open(settings, requireDirectory(directory), flags)
  return send(
    copy,
    copy.compared.filter(({ standing }) => standing !== 'same'),
    flags,
  )
}

const send = async (copy: Copy, changes: readonly Compared[], flags: AsCodeFlags): Promise<number> => {
  const say = speaker(flags)
  const label = flags.label === undefined ? undefined : labelOf(flags.label)
  const options: PushOptions = {
    env: environment(),
    warn,
    designate: flags.designate !== false,
    ...(flags.note === undefined ? {} : { note: flags.note }),
  }
  let failed = 0
  for (const one of copy.compared)
    if (one.standing === 'same' && one.remote !== undefined) copy.bases.set(baseKey(one.kind, one.identity), one.remote.document)
  try {
    for (const one of changes) {
      try {
        await say(await sendOne(copy, one, { ...options, label }, flags))
      } catch (thrown) {
        if (!(thrown instanceof RemoteRefused) && !(thrown instanceof SettingError)) throw thrown
        failed += 1
        for (const line of refusalLines(one, thrown)) warn(line)
      }
    }
  } finally {
    // Also if the service or the output is lost on the way: an object that was sent would look like one that both sides have changed.
    if (flags.dryRun !== true) copy.keep()
  }
  if (changes.length === 0) {
    const isInStep = copy.compared.every(({ standing }) => standing === 'same')
    await print(isInStep ? `nothing to send: in step with ${copy.remote.url}` : 'nothing to send')
  }
  return failed > 0 ? DIFFERENT : IN_STEP
}

/** Returns a line about what was done. */
const sendOne = async (
  { remote, bases }: Copy,
  one: Compared,
  { label, ...options }: PushOptions & { readonly label: string | undefined },
  flags: AsCodeFlags,
): Promise<string> => {
  const { kind, identity, local, remote: current } = one
  const key = baseKey(kind, identity)
  if (local !== undefined) {
    const version = flags.dryRun === true ? undefined : await kind.write(remote, local.document, current ?? null, options)
    // A version that is not served yet still counts as a change of the file; one whose label is refused is served all the same.
    if (options.designate) bases.set(key, local.document)
    if (version !== undefined && label !== undefined) await kind.label?.(remote, identity, version, label)
    return `${current === undefined ? 'made' : 'changed'}: ${nameOf(one)}`
  }
  if (current === undefined) return `gone on both sides: ${nameOf(one)}`
  if (kind.remove === null) return `has no file, and stays: ${nameOf(one)}`
  if (flags.prune !== true) return `has no file: ${nameOf(one)}; --prune ${kind.name === 'presets' ? 'archives' : 'deletes'} it`
  if (flags.dryRun !== true) await kind.remove(remote, current)
  bases.delete(key)
  return `${kind.name === 'presets' ? 'archived' : 'deleted'}: ${nameOf(one)}`
}

const refusalLines = (one: Compared, thrown: RemoteRefused | SettingError): readonly string[] => {
  const at = one.local?.path ?? nameOf(one)
  if (thrown instanceof RemoteRefused && thrown.status === 412)
    return [`${at}: it was changed on the service in this very moment; pull first.`]
  if (thrown instanceof SettingError || thrown.issues.length === 0) return [`${at}: ${thrown.message}`]
  return thrown.issues.map(({ path, message }) => `${at}: ${path}: ${message}`)
}

const open = async (settings: RemoteSettings, directory: string, flags: AsCodeFlags): Promise<Copy> => {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new SettingError(`${directory} is a file; name its directory, whose files are sent or written together.`)
  const remote = createRemote(settings, flags.workspace)
  const lock = readLock(directory)
  const kinds = kindsOf(flags.with, lock?.kinds ?? ['presets'])
  const isOther = lock !== null && lock.url !== remote.url
  if (isOther) warn(`the files were pulled from ${lock.url}: what they had in common with ${remote.url} is not known.`)
  const bases = new Map(isOther ? [] : lock?.bases)
  const compared: Compared[] = []
  for (const name of kinds) {
    const kind = KINDS[name]
    compared.push(...compareAll(kind, readLocal(directory, kind), await kind.list(remote), bases, environment()))
  }
  // The lock keeps the bases of the first service; those of another service must not overwrite them.
  const keep = (): void => (isOther ? undefined : writeLock(directory, { url: remote.url, kinds, bases }))
  return { directory, remote, compared, bases, keep }
}

const kindsOf = (words: string | undefined, known: readonly KindName[]): readonly KindName[] => {
  const asked = (words ?? '').split(',').flatMap((word) => {
    const kind = KIND_NAMES.find((name) => name === word.trim())
    if (kind === undefined && word.trim() !== '')
      throw new SettingError(`--with takes ${KIND_NAMES.join(', ')} (not ${JSON.stringify(word)}).`)
    return kind ?? []
  })
  return KIND_NAMES.filter((name) => known.includes(name) || asked.includes(name))
}

/** Checked before anything is sent, because a label is set only after its version was saved, and may be live. */
const labelOf = (word: string): string => {
  const { data, error } = presetLabel.safeParse(word)
  if (error !== undefined) throw new SettingError(`--label ${JSON.stringify(word)} is no label: ${error.issues[0]?.message ?? ''}.`)
  return data
}

const extensionOf = (format: string): string => {
  if (format !== 'yaml' && format !== 'json') throw new SettingError(`--format must be yaml or json (it is ${JSON.stringify(format)}).`)
  return `.${format}`
}

const requireDirectory = (directory: string): string => {
  if (!existsSync(directory)) throw new SettingError(`there is no directory ${directory}; "patchbay presets pull" makes it.`)
  return directory
}

const speaker =
  ({ dryRun }: AsCodeFlags) =>
  (line: string): Promise<void> =>
    print(dryRun === true ? `would be ${line}` : line)

/** Says what was changed. Output that is lost ends the command before the next change; what was changed is kept in the lock file. */
const print = (line: string): Promise<void> => printWhole(`${safeLines(line)}\n`)

/** Shows a difference. A reader may leave. */
const show = (line: string): void => printLine(safeLines(line))

const safeLines = (text: string): string => text.split('\n').map(terminalLine).join('\n')
