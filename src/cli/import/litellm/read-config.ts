/** LiteLLM's config.yaml, and the keys that its `GET /key/list?return_full_object=true` returns. */
import { SettingError } from '../../../config.ts'
import { isObject, type JsonObject, objectsIn } from '../../../lib/json/json.ts'
import type { ImportReader } from '../import-plan.ts'
import { listedIn } from './groups.ts'
import { guardrailOf } from './guardrails.ts'
import { keyOf } from './keys.ts'
import { presetsOf } from './presets.ts'
import { fileOf } from './provider-file.ts'
import { reportSettings } from './settings.ts'
import { wordSet } from '../../../lib/text/word-set.ts'

export const readLitellmConfig: ImportReader = (value, root) => {
  if (!isObject(value) || !['model_list', 'keys', 'include'].some((list) => Array.isArray(value[list])))
    throw new SettingError('the file is no configuration of LiteLLM: expected "model_list", or "keys" of GET /key/list.')
  const config = value as JsonObject
  const { groups, open } = listedIn(config, root)
  const file = fileOf(groups, open, config, root)
  root.leaveOut(config, SECTIONS, SECTIONS_SAID)
  reportSettings(config, root)
  return {
    presets: presetsOf(groups, config, root),
    guardrails: objectsIn(config['guardrails']).flatMap((entry, at) => guardrailOf(entry, root.at('guardrails', at))),
    keys: objectsIn(config['keys']).map((entry, at) => keyOf(entry, root.at('keys', at))),
    file,
  }
}

const SECTIONS: ReadonlySet<string> = wordSet(`
  model_list litellm_settings router_settings general_settings environment_variables credential_list guardrails keys
  total_count current_page total_pages
`)

const SECTIONS_SAID: Readonly<Record<string, string>> = {
  include: 'include: import the files that are named here one by one',
  search_tools: 'search_tools: web search is a tool of the service, which a request or a preset asks for',
}
