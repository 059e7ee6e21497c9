/**
 * Limits how much of a request can be held to schemas: all of them together form one grammar, whose size is limited (structured outputs,
 * "Schema complexity limits").
 */
import { createGrowth } from '../../lib/json/json-size.ts'
import { closeSchema, type ClosedSchema, type Unenforceable } from './closed-schema.ts'

export interface GrammarBudget {
  /** Returns the schema as the grammar takes it, or why there is no room for it. First come, first served. */
  take(schema: Readonly<Record<string, unknown>>, of: 'tool' | 'format'): ClosedSchema | Unenforceable
}

const STRICT_TOOLS_MAX = 20
const OPTIONAL_MAX = 24
const UNIONS_MAX = 16
/** The most characters that writing out references may add to all schemas together. */
const GROWTH_MAX = 100_000

export const createGrammarBudget = (): GrammarBudget => {
  const growth = createGrowth(GROWTH_MAX)
  let tools = 0
  let optional = 0
  let unions = 0
  return {
    take(schema, of) {
      if (of === 'tool' && tools === STRICT_TOOLS_MAX) return { obstacle: `more than ${STRICT_TOOLS_MAX} strict tools` }
      const closed = closeSchema(schema, of, growth)
      if ('obstacle' in closed) return closed
      if (optional + closed.optional > OPTIONAL_MAX) return { obstacle: `more than ${OPTIONAL_MAX} optional parameters` }
      if (unions + closed.unions > UNIONS_MAX) return { obstacle: `more than ${UNIONS_MAX} parameters of several types` }
      if (of === 'tool') tools += 1
      optional += closed.optional
      unions += closed.unions
      return closed
    },
  }
}
