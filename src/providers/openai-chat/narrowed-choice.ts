/**
 * OpenAI's choice `allowed_tools` of a chat client, for a vendor that does not know it: only the allowed tools are sent. A translated
 * request has only those already.
 */
import { isMap, type JsonObject, type JsonValue, listOf } from '../../lib/json/json.ts'
import type { EditableFields } from '../vendors/editable-fields.ts'
import type { Vendor } from '../vendors/vendor.ts'

export const narrowChoice = (fields: EditableFields, { accepts, openAiModels }: Vendor): void => {
  const choice = accepts === 'everything' || openAiModels ? undefined : fields.value('tool_choice')
  const [allowed, tools] = [isMap(choice) ? choice['allowed_tools'] : undefined, fields.value('tools')]
  if (!isMap(allowed) || !Array.isArray(tools)) return
  const names = new Set(listOf(allowed['tools']).map(keyOf))
  fields.put(
    'tools',
    tools.filter((tool: JsonValue) => names.has(keyOf(tool))),
  )
  fields.put('tool_choice', allowed['mode'] === 'required' ? 'required' : 'auto')
}

const keyOf = (tool: JsonValue): string => {
  const { type = null }: JsonObject = isMap(tool) ? tool : {}
  const inner = isMap(tool) && typeof type === 'string' ? tool[type] : null
  return JSON.stringify([type, isMap(inner) ? inner['name'] : null])
}
