import type { Warning } from '../canonical/warning.ts'
import type { JsonBody } from '../lib/json/json-body.ts'

/**
 * An answer that is screened or judged is rebuilt from events, which carry only one choice. `where`: the beginning of the warning's
 * sentence.
 */
export const oneChoice = (body: JsonBody, where: string): readonly Warning[] => {
  const count = body.value('n')
  return typeof count !== 'number' || count <= 1
    ? []
    : [{ code: 'unsupported_field', field: 'n', message: `${where}, only the first choice is answered.` }]
}
