/** The answer to a save of a preset, and to a repetition of it. */
import type { StoredAnswer } from '../../storage/changes/idempotency.ts'
import { jsonText } from './json-response.ts'

export const savedResponse = ({ status, body, warnings }: StoredAnswer): Response =>
  jsonText(body, { status, headers: warningHeaders(warnings) })

/** Their number and their sentences. */
export const warningHeaders = (warnings: readonly string[]): Record<string, string> =>
  warnings.length === 0 ? {} : { 'x-service-warnings': String(warnings.length), 'x-service-warning': headerText(warnings.join(' ')) }

const HEADER_MAX = 1000

/** A header is ASCII on one line, whatever a body's tool names contain. */
const headerText = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, HEADER_MAX)
