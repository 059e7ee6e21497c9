/** Adds the text that was read from a request's files to its answer, so that a client can send the text back instead of the file. */
import type { FileText, Frame, ModelEvent, TakeFrames } from '../../canonical/event.ts'
import type { GatewayError } from '../../errors.ts'
import { fileAnnotation } from '../../formats/openai-chat/message-parts.ts'

/** The texts are sent just before the finish event. */
export const withFileTexts = (take: TakeFrames, files: readonly FileText[]): TakeFrames => {
  const reported: readonly ModelEvent[] = files.map((file) => ({ type: 'file-text', file }))
  // A provider's own JSON of the answer would lack the files, so `native` is dropped.
  return (frames) =>
    take(
      frames.map(({ events }): Frame => ({
        events: events.flatMap((event) => (event.type === 'finish' ? [...reported, event] : [event])),
      })),
    )
}

/** A failed request also reports the texts that were read, so that the next try need not read the files, and pay for that, again. */
export const failureWithFiles = (error: GatewayError, files: readonly FileText[]): GatewayError =>
  error.withMetadata({ file_annotations: files.map(fileAnnotation) })
