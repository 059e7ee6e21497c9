/** Rules of the API for fields other than the conversation, for a client's own request and a translated one alike. */
import { isObject, type JsonValue } from '../../lib/json/json.ts'
import { isToolset, refuseChoice } from '../tools/demanded-tool.ts'
import type { EditableFields } from '../vendors/editable-fields.ts'
import { shortIdentifier } from '../vendors/field-rules.ts'
import type { ModelContext } from './encode-context.ts'

/** Throws `invalid_request` for the choice of a tool that is not there. */
export const keepLawful = (fields: EditableFields, context: ModelContext): void => {
  keepMetadata(fields, context)
  keepUniqueTools(fields, context)
  keepChoice(fields, context)
}

const USER_ID_MAX = 256

/** Only the member `user_id` is known. It only has to stay the same, so one that is too long is hashed. */
const keepMetadata = (fields: EditableFields, { target, lose }: ModelContext): void => {
  const metadata = fields.value('metadata')
  if (!isObject(metadata)) return
  const { user_id: user, ...others } = metadata
  for (const name of Object.keys(others)) lose(`metadata.${name}`, `${target.providerName} takes no metadata but user_id; it was left out.`)
  const sent = typeof user === 'string' && user.length > USER_ID_MAX ? shortIdentifier(user, USER_ID_MAX) : user
  if (sent === user && Object.keys(others).length === 0) return
  if (sent === undefined) fields.remove('metadata')
  else fields.put('metadata', { user_id: sent })
}

/** No two tools may have the same name. */
const keepUniqueTools = (fields: EditableFields, context: ModelContext): void => {
  const tools = fields.value('tools')
  if (!Array.isArray(tools)) return
  const isNew = firstOfItsName(context)
  const kept = (tools as readonly JsonValue[]).filter((tool, index) => isNew(isObject(tool) ? tool['name'] : undefined, `tools[${index}]`))
  if (kept.length < tools.length) fields.put('tools', kept)
}

/** The returned function says whether no earlier tool had the name; a tool without a name counts as new. */
export const firstOfItsName = ({ lose }: Pick<ModelContext, 'lose'>): ((name: unknown, at: string) => boolean) => {
  const names = new Set<string>()
  return (name, at) => {
    if (typeof name !== 'string') return true
    if (names.has(name)) lose(at, `There is a tool named ${name} already; this one was left out.`)
    return !names.has(name) && names.add(name).has(name)
  }
}

/** A choice requires tools, and a choice by name requires that tool. */
const keepChoice = (fields: EditableFields, { lose }: ModelContext): void => {
  const tools = fields.value('tools')
  const choice = fields.value('tool_choice')
  if (!isObject(choice)) return
  if (!Array.isArray(tools) || tools.length === 0) {
    fields.remove('tool_choice')
    if (choice['type'] === 'any' || choice['type'] === 'tool')
      lose('tool_choice', 'There is no tool that could be called; it was left out.')
    return
  }
  const { type, name } = choice
  const isThere = (tool: JsonValue): boolean => isObject(tool) && (tool['name'] === name || isToolset(tool))
  if (type === 'tool' && typeof name === 'string' && !tools.some(isThere)) refuseChoice(name)
}

/** Clearing the thinking of earlier turns is refused if the model does not think. Call it once the `thinking` field is final. */
export const keepEdits = (fields: EditableFields, { rules, target, lose }: ModelContext): void => {
  const management = fields.value('context_management')
  const edits = isObject(management) ? management['edits'] : undefined
  if (!isObject(management) || !Array.isArray(edits) || thinksBy(fields.value('thinking'), rules.thinkingOff)) return
  const kept = (edits as readonly JsonValue[]).filter((edit) => !isObject(edit) || edit['type'] !== 'clear_thinking_20251015')
  if (kept.length === edits.length) return
  lose('context_management.edits', `${target.upstreamModel} does not think here, so that there is no thinking to clear; that was left out.`)
  const { edits: _, ...others } = management
  if (kept.length > 0) fields.put('context_management', { ...others, edits: kept })
  else fields.remove('context_management')
}

const thinksBy = (thinking: JsonValue | undefined, off: ModelContext['rules']['thinkingOff']): boolean =>
  isObject(thinking) ? thinking['type'] !== 'disabled' : off !== 'silence'
