/** Answers with what a request would do (docs/contract/debugging.md#dry-runs). */
import type { ClientFormat } from '../../formats/format.ts'
import type { Pipeline } from '../../inference/pipeline.ts'
import { Refused } from '../../inference/refused.ts'
import type { Received } from '../../inference/request.ts'
import { presetHeader } from './answer-headers.ts'
import { jsonInTurns } from '../response/json-response.ts'
import { refusal } from './refusal.ts'

export const answerDryRun = async (
  received: Received,
  format: Pick<ClientFormat, 'renderError'>,
  headers: Headers,
  { dryRun, turn }: Pick<Pipeline, 'dryRun' | 'turn'>,
): Promise<Response> => {
  const shown = await dryRun(received)
  return shown instanceof Refused ? refusal(shown, format, headers) : jsonInTurns(shown, turn, { headers: presetHeader(shown.preset) })
}
