import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { usageOf, type Usage } from '../../canonical/usage.ts'
import { decodeUsage } from './decode-usage.ts'

describe('usage', () => {
  test.each<[string, Record<string, unknown>, Partial<Usage>]>([
    [
      'cached input is within the prompt, thinking beside the answer',
      { promptTokenCount: 100, cachedContentTokenCount: 60, candidatesTokenCount: 7, thoughtsTokenCount: 5 },
      { inputFresh: 40, inputCacheRead: 60, output: 7, outputReasoning: 5 },
    ],
    [
      'what tools read is input',
      { promptTokenCount: 55, candidatesTokenCount: 51, toolUsePromptTokenCount: 89, thoughtsTokenCount: 56 },
      { inputFresh: 144, output: 51, outputReasoning: 56 },
    ],
    [
      'modalities are told apart',
      {
        promptTokenCount: 9,
        promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 4 }],
        candidatesTokenCount: 9,
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 8 }],
      },
      { inputFresh: 9, inputAudio: 4, output: 9, outputImage: 8 },
    ],
    [
      'sound that a cache read is no longer sound to be paid for',
      {
        promptTokenCount: 17_713,
        promptTokensDetails: [
          { modality: 'VIDEO', tokenCount: 15_780 },
          { modality: 'AUDIO', tokenCount: 1917 },
        ],
        cachedContentTokenCount: 17_379,
        cacheTokensDetails: [
          { modality: 'AUDIO', tokenCount: 1881 },
          { modality: 'VIDEO', tokenCount: 15_483 },
        ],
        candidatesTokenCount: 68,
      },
      { inputFresh: 334, inputCacheRead: 17_379, inputAudio: 36, output: 68 },
    ],
    [
      'senseless counts are told as such',
      { promptTokenCount: -1, cachedContentTokenCount: 5, candidatesTokenCount: 1e12, thoughtsTokenCount: '7' },
      { unreportedInput: true, unreportedOutput: true, estimated: true },
    ],
  ])('%s', (_, usageMetadata, counts) => {
    expect(decodeUsage(usageMetadata, 0)).toEqual(usageOf(counts))
  })

  test('no token is in two counts', () => {
    const count = fc.nat(1_000_000)
    fc.assert(
      fc.property(
        count,
        count,
        count,
        count,
        count,
        (promptTokenCount, cached, candidatesTokenCount, thoughtsTokenCount, toolUsePromptTokenCount) => {
          const usage = decodeUsage(
            {
              promptTokenCount,
              cachedContentTokenCount: Math.min(cached, promptTokenCount),
              candidatesTokenCount,
              thoughtsTokenCount,
              toolUsePromptTokenCount,
            },
            0,
          )
          expect(usage.inputFresh + usage.inputCacheRead + usage.output + usage.outputReasoning).toBe(
            promptTokenCount + candidatesTokenCount + thoughtsTokenCount + toolUsePromptTokenCount,
          )
        },
      ),
    )
  })
})
