/** What an answer used. Google's counts of the answer, its thinking and its tools' input are apart; cached input is within the prompt. */
import { usageOf, type Usage } from '../../canonical/usage.ts'
import { isObject } from '../../lib/json.ts'
import { tokenCount } from '../token-count.ts'

/** Senseless counts are zero. `webSearches` is counted elsewhere: the metadata of the use does not tell it. */
export const decodeUsage = (metadata: Readonly<Record<string, unknown>>, webSearches: number): Usage => {
  const prompt = tokenCount(metadata['promptTokenCount'])
  const cacheRead = Math.min(prompt, tokenCount(metadata['cachedContentTokenCount']))
  const output = metadata['candidatesTokensDetails']
  return usageOf({
    inputFresh: prompt - cacheRead + tokenCount(metadata['toolUsePromptTokenCount']),
    inputCacheRead: cacheRead,
    output: tokenCount(metadata['candidatesTokenCount']),
    outputReasoning: tokenCount(metadata['thoughtsTokenCount']),
    inputAudio: ofModality(metadata['promptTokensDetails'], 'AUDIO'),
    outputAudio: ofModality(output, 'AUDIO'),
    outputImage: ofModality(output, 'IMAGE'),
    webSearches,
  })
}

const ofModality = (details: unknown, modality: string): number => {
  if (!Array.isArray(details)) return 0
  const found: unknown = details.find((detail) => isObject(detail) && detail['modality'] === modality)
  return isObject(found) ? tokenCount(found['tokenCount']) : 0
}
