import type { OutputFormat } from '../canonical/prompt.ts'
import { disown, member, type Node, optionalChild, optionalFlag, optionalText, requiredText } from './json-node.ts'

/** Reads the output format in `field` of `owner`. `schemaIn`: returns the node that holds the schema and its name. */
export const readOutputFormat = (owner: Node | null, field: string, schemaIn: (format: Node) => Node): OutputFormat => {
  const format = owner === null ? null : optionalChild(owner, field)
  if (owner === null || format === null) return { type: 'text' }
  const type = requiredText(format, 'type')
  if (type === 'json_object') return { type: 'json' }
  if (type === 'json_schema') {
    const described = schemaIn(format)
    const strict = optionalFlag(described, 'strict')
    const description = optionalText(described, 'description')
    return {
      type: 'json-schema',
      name: optionalText(described, 'name') ?? 'response',
      schema: member(described, 'schema') ?? {},
      ...(strict === null ? {} : { strict }),
      ...(description === null ? {} : { description }),
    }
  }
  if (type !== 'text') disown(owner, field)
  return { type: 'text' }
}
