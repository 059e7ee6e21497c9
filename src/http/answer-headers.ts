/** The headers of an answer. To be read when the answer begins: by then it is known what its translation loses. */
import type { Admitted } from '../inference/admitted.ts'

export const answerHeaders = ({ generationId, request, warnings }: Admitted): Record<string, string> => ({
  'x-generation-id': generationId,
  ...(request.preset === null ? {} : { 'x-preset': `${request.preset.slug}@${request.preset.version}` }),
  ...(warnings.length === 0 ? {} : { 'x-service-warnings': String(warnings.length) }),
})
