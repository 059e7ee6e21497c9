import type { Warning } from '../canonical/warning.ts'
import type { PresetContent } from '../contract/preset.ts'
import { GatewayError } from '../errors.ts'
import { isObject } from '../lib/json/json.ts'
import { createGrowth } from '../lib/json/json-size.ts'
import { PERSISTED_FIELDS, PRESET_CONTROLS, SYSTEM_BLOCKS_KEY } from '../request-fields/preset-fields.ts'
import { fieldsWhere } from '../request-fields/request-fields.ts'
import { type Findings, startFindings } from './findings.ts'
import { fieldChecks, type FieldReader, type RequestRules } from './request-rules.ts'
import { checkStorable } from './storable.ts'
import { readSystemText, type SystemSource } from './system-text.ts'

export interface PresetReading {
  readonly content: PresetContent
  readonly warnings: readonly Warning[]
}

export interface PresetReadingOptions {
  readonly rules: RequestRules
  /** The places where this interface keeps its system text. */
  readonly systemSources: (field: FieldReader) => readonly SystemSource[]
}

/**
 * Reads the part of a request body that a preset keeps: the persisted fields exactly as sent, and the system text. Persisted
 * fields are checked, most others are not examined (docs/contract/presets.md#what-is-kept). Throws `invalid_request`.
 */
export const presetReader = ({ rules, systemSources }: PresetReadingOptions) => {
  const persisted = new Set(PERSISTED_FIELDS[rules.shape])
  const checked = new Set([...persisted, ...fieldsWhere(({ presets }) => presets === 'check', [rules.shape])])
  return (body: unknown): PresetReading => {
    if (!isObject(body)) throw new GatewayError('invalid_request', 'The body must be a JSON object.')
    const field = fieldReader(body)
    const findings = startFindings()
    const config = configOf(body, persisted)
    if (!createGrowth(CONFIG_MAX).take(config)) findings.fault([], 'Too long: a preset keeps at most 2 MiB beside its system text.')
    findings.throwIfFaulty()
    for (const name of Object.keys(body)) if (checked.has(name)) checkField(rules, name, field(name), findings)
    rules.checkTogether(field, findings)
    refuseNesting(field, findings)
    refuseSilence(field, findings)
    const system = readSystemText(systemSources(field), findings)
    if (system?.blocks != null) config[SYSTEM_BLOCKS_KEY] = system.blocks
    for (const [name, value] of Object.entries(config)) checkStorable(value, [name], findings)
    findings.throwIfFaulty()
    return {
      // Safe: the checks above ensure that it is plain JSON.
      content: { shape: rules.shape, config: config as PresetContent['config'], systemPrompt: system?.text ?? null },
      warnings: findings.warnings,
    }
  }
}

/** Characters of JSON, limited because the whole configuration is checked, compared, sealed and stored in one go. */
const CONFIG_MAX = 2 * 1024 * 1024

/** Refuses a preset that names another preset: it would never be resolved, or endlessly. */
const refuseNesting = (field: FieldReader, findings: Findings): void => {
  const check = (model: unknown, at: readonly PropertyKey[]): void => {
    if (typeof model === 'string' && model.includes('@preset/')) findings.fault(at, 'A preset cannot name another preset.')
  }
  check(field('model'), ['model'])
  for (const list of ['models', 'fallbacks']) {
    const entries = field(list)
    if (!Array.isArray(entries)) continue
    for (const [index, entry] of entries.entries()) check(isObject(entry) ? entry['model'] : entry, [list, index])
  }
}

/** Refuses a preset whose requests would fill a cache each time, and get no answer (decisions/0281). */
const refuseSilence = (field: FieldReader, findings: Findings): void => {
  if (field('max_tokens') === 0) findings.fault(['max_tokens'], 'A preset has to answer. Send 0 with each request that only fills a cache.')
  const options = field('prompt_cache_options')
  if (isObject(options) && options['prewarm'] === true)
    findings.fault(['prompt_cache_options', 'prewarm'], 'A preset has to answer. Send it with each request that only fills a cache.')
}

const CONTROL_CHECKS = fieldChecks(PRESET_CONTROLS)

const checkField = (rules: RequestRules, name: string, value: unknown, findings: Findings): void => {
  if (value === undefined) return
  const check = rules.checks.get(name) ?? CONTROL_CHECKS.get(name)
  check?.(value, findings)
}

/** The persisted fields in the order in which they were sent. */
const configOf = (body: Readonly<Record<string, unknown>>, persisted: ReadonlySet<string>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([name, value]) => persisted.has(name) && value != null))

const fieldReader =
  (body: Readonly<Record<string, unknown>>): FieldReader =>
  (name) =>
    Object.hasOwn(body, name) ? (body[name] ?? undefined) : undefined
