/** What an answer used. Google's counts of the answer, its thinking and its tools' input are apart; cached input is within the prompt. */
import { usageOf, type Usage } from '../../canonical/usage.ts'
import { isObject } from '../../lib/json.ts'

/** Senseless counts are zero. `webSearches` is counted elsewhere: the metadata of the use does not tell it. */
export const decodeUsage = (metadata: Readonly<Record<string, unknown>>, webSearches: number): Usage => {
  const prompt = count(metadata['promptTokenCount'])
  const cacheRead = Math.min(prompt, count(metadata['cachedContentTokenCount']))
  const output = metadata['candidatesTokensDetails']
  return usageOf({
    inputFresh: prompt - cacheRead + count(metadata['toolUsePromptTokenCount']),
    inputCacheRead: cacheRead,
    output: count(metadata['candidatesTokenCount']),
    outputReasoning: count(metadata['thoughtsTokenCount']),
    inputAudio: ofModality(metadata['promptTokensDetails'], 'AUDIO'),
    outputAudio: ofModality(output, 'AUDIO'),
    outputImage: ofModality(output, 'IMAGE'),
    webSearches,
  })
}

const ofModality = (details: unknown, modality: string): number => {
  if (!Array.isArray(details)) return 0
  const found: unknown = details.find((detail) => isObject(detail) && detail['modality'] === modality)
  return isObject(found) ? count(found['tokenCount']) : 0
}

/** More than any model can use in one answer is a fault of the sender, not a bill. */
const TOKENS_MAX = 1_000_000_000

const count = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= TOKENS_MAX ? value : 0
