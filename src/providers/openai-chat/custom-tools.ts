/** Tools that take free text, declared by a chat client, for a vendor that has only functions (text-calls.ts). */
import type { CustomTool } from '../../canonical/prompt.ts'
import { isMap, type JsonValue, listOf, textOf } from '../../lib/json/json.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'
import type { EditableFields } from '../vendors/editable-fields.ts'
import type { RuleContext } from '../vendors/field-rules.ts'
import type { Attempt } from '../provider.ts'
import { functionOf } from '../tools/text-calls.ts'
import type { Vendor } from '../vendors/vendor.ts'
import { vendorOf } from '../vendors/vendors.ts'
import { functionTool } from './encode-tools.ts'

const CUSTOM = /"type"\s*:\s*"custom"/

/** Names of the tools in a chat client's own request that are sent to the vendor as functions; their calls come back as text. */
export const toolsSentAsFunctions = ({ call: { body }, target }: Pick<Attempt, 'call' | 'target'>): ReadonlySet<string> => {
  if (!hasFunctionsOnly(vendorOf(target.provider)) || !CUSTOM.test(body.searchable)) return NONE
  return new Set(listOf(body.value('tools')).flatMap((tool, index) => customTool(tool, index)?.name ?? []))
}

const NONE: ReadonlySet<string> = new Set()

const hasFunctionsOnly = ({ accepts, customTools }: Vendor): boolean => accepts !== 'everything' && !customTools

/** Replaces custom tools by functions. In a translated request this was done before. */
export function* offerFunctions(fields: EditableFields, vendor: Vendor, { warn }: RuleContext): Steps<void> {
  const tools = hasFunctionsOnly(vendor) ? fields.value('tools') : undefined
  if (!Array.isArray(tools)) return
  const offered = yield* mapInSteps(tools, (tool: JsonValue, index): JsonValue => {
    const custom = customTool(tool, index)
    return custom === null ? tool : functionTool(functionOf(custom, warn))
  })
  if (offered.every((tool, index) => tool === tools[index])) return
  fields.put('tools', offered)
  const choice = fields.value('tool_choice')
  const chosen = choice === undefined ? undefined : chosenFunction(choice)
  if (chosen !== undefined && chosen !== choice) fields.put('tool_choice', chosen)
}

const customTool = (tool: JsonValue, index: number): CustomTool | null => {
  const custom = isMap(tool) && tool['type'] === 'custom' ? tool['custom'] : null
  if (!isMap(custom) || typeof custom['name'] !== 'string') return null
  const { name, description, format } = custom
  const grammar = isMap(format) && isMap(format['grammar']) ? format['grammar'] : null
  return {
    type: 'custom',
    kind: 'custom',
    at: `tools[${index}]`,
    name,
    description: typeof description === 'string' ? description : null,
    grammar: grammar === null ? null : { syntax: textOf(grammar['syntax']), definition: textOf(grammar['definition']) },
  }
}

/** Handles a choice of one tool and a choice among several. */
const chosenFunction = (choice: JsonValue): JsonValue => {
  if (!isMap(choice)) return choice
  const { custom, allowed_tools: allowed, ...rest } = choice
  if (choice['type'] === 'custom' && custom !== undefined) return { ...rest, type: 'function', function: custom }
  const among = isMap(allowed) ? allowed['tools'] : null
  if (!isMap(allowed) || !Array.isArray(among)) return choice
  const tools = among.map(chosenFunction)
  return tools.every((tool, index) => tool === among[index]) ? choice : { ...choice, allowed_tools: { ...allowed, tools } }
}
