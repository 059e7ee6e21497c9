/** `alignment`: a model judges each answer by the rules of the request. */
import { invalidRequest } from '../contract/validate.ts'
import type { JsonObject } from '../lib/json.ts'
import { cannotRun } from './plugin.ts'
import type { PluginSettings } from './settings.ts'

const RULES_MAX = 32
const RULE_LENGTH_MAX = 2000

/** Throws `invalid_request` where there is no judge, or the rules are too many or too long. */
export const checkAlignment =
  (settings: PluginSettings['alignment']) =>
  ({ rules }: JsonObject): void => {
    if (settings === undefined) throw cannotRun('alignment', 'no model is configured to judge answers (`plugins.alignment.model`).')
    const list = Array.isArray(rules) ? rules : []
    if (list.length === 0 || list.length > RULES_MAX)
      throw invalidRequest([{ path: 'plugins', message: `alignment takes 1 to ${RULES_MAX} rules.` }])
    if (list.some((rule) => typeof rule !== 'string' || rule.trim() === '' || rule.length > RULE_LENGTH_MAX)) {
      throw invalidRequest([{ path: 'plugins', message: `A rule of alignment has 1 to ${RULE_LENGTH_MAX} characters.` }])
    }
  }
