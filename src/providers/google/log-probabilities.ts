/** Converts `logprobsResult` to the form in which Chat Completions reports log probabilities. */
import { isObject, type JsonObject, listOf } from '../../lib/json/json.ts'

/** Returns one entry for each token; empty if there are none. */
export const decodeLogprobs = (result: unknown): JsonObject[] => {
  if (!isObject(result)) return []
  const top = listOf(result['topCandidates'])
  return listOf(result['chosenCandidates']).flatMap((chosen, position) => {
    const entry = tokenOf(chosen)
    const alternatives = top[position]
    const others = isObject(alternatives) ? listOf(alternatives['candidates']).map(tokenOf) : []
    return entry === null ? [] : [{ ...entry, top_logprobs: others.filter((other) => other !== null) }]
  })
}

const tokenOf = (candidate: unknown): JsonObject | null => {
  if (!isObject(candidate)) return null
  const { token, logProbability } = candidate
  if (typeof token !== 'string' || typeof logProbability !== 'number') return null
  return { token, logprob: logProbability, bytes: [...Buffer.from(token)] }
}
