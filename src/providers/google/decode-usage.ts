/**
 * Reads the usage of an answer. Google counts the answer, its thinking and the input of its tools separately; cached input is part of the
 * prompt.
 */
import { usageOf, type Usage } from '../../canonical/usage.ts'
import { isObject } from '../../lib/json/json.ts'
import { partsOf, sideCount, reportedTotal } from '../token-count.ts'

/** `webSearches` is counted elsewhere, because the usage metadata do not report it. */
export const decodeUsage = (metadata: Readonly<Record<string, unknown>>, webSearches: number): Usage => {
  const cached = partsOf(sideCount(metadata['promptTokenCount']), [metadata['cachedContentTokenCount']])
  const [cacheRead = 0] = cached ?? []
  const input = reportedTotal(metadata['promptTokenCount'], metadata['toolUsePromptTokenCount'])
  const thought = sideCount(metadata['thoughtsTokenCount'])
  // Google leaves out zeros: an answer may consist of thinking alone.
  const said = metadata['candidatesTokenCount'] ?? (thought > 0 ? 0 : undefined)
  const total = reportedTotal(said, metadata['thoughtsTokenCount'])
  const output = metadata['candidatesTokensDetails']
  const heard = partsOf(input.tokens, [ofModality(metadata['promptTokensDetails'], 'AUDIO')])
  const made = partsOf(total.tokens, [ofModality(output, 'AUDIO'), ofModality(output, 'IMAGE')])
  const [audio = 0] = heard ?? []
  const [outputAudio = 0, outputImage = 0] = made ?? []
  const tier = metadata['trafficType'] ?? metadata['serviceTier']
  return usageOf({
    inputFresh: input.tokens - cacheRead,
    inputCacheRead: cacheRead,
    output: total.tokens - thought,
    outputReasoning: thought,
    // Sound that a cache read has the cache's price.
    inputAudio: Math.max(0, audio - sideCount(ofModality(metadata['cacheTokensDetails'], 'AUDIO'))),
    outputAudio,
    outputImage,
    webSearches,
    servedTier: typeof tier === 'string' ? tier : null,
    unreportedInput: input.unreported,
    unreportedOutput: total.unreported,
    estimated: [cached, heard, made].includes(null),
  })
}

const ofModality = (details: unknown, modality: string): unknown => {
  if (!Array.isArray(details)) return 0
  const found: unknown = details.find((detail) => isObject(detail) && detail['modality'] === modality)
  return isObject(found) ? found['tokenCount'] : 0
}
