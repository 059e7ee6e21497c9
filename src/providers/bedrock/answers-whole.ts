/** Handles models that can call tools only in a whole answer: ConverseStream refuses a request that declares tools to them. */
import type { Attempt } from '../provider.ts'
import { factsOf } from './model-facts.ts'

/** Says whether the answer cannot be streamed; if so, warns the client. */
export const answersWhole = ({ call, target, warn }: Attempt): boolean => {
  if (factsOf(target).streamsTools) return false
  const { tools, messages } = call.prompt()
  const declared =
    tools.length > 0 || messages.some(({ parts }) => parts.some(({ type }) => type === 'tool-call' || type === 'tool-result'))
  if (!declared) return false
  warn({
    code: 'mapped_field',
    field: 'stream',
    message: `${target.upstreamModel} does not stream beside tools; its answer comes whole.`,
  })
  return true
}
