/** Puts the text that was read of a request's files on its answer, so that a client can send it back instead of the file. */
import type { FileText, Frame, ModelEvent, TakeFrames } from '../../canonical/event.ts'
import type { GatewayError } from '../../errors.ts'
import { fileAnnotation } from '../../formats/openai-chat/message-parts.ts'

/** Before the finish. */
export const withFileTexts = (take: TakeFrames, files: readonly FileText[]): TakeFrames => {
  const reported: readonly ModelEvent[] = files.map((file) => ({ type: 'file-text', file }))
  // A provider's own text of an answer would leave the files out.
  return (frames) =>
    take(
      frames.map(({ events }): Frame => ({
        events: events.flatMap((event) => (event.type === 'finish' ? [...reported, event] : [event])),
      })),
    )
}

/** A request that fails keeps what was read: the next try need not have it read, and paid for, once more. */
export const failureWithFiles = (error: GatewayError, files: readonly FileText[]): GatewayError =>
  error.withMetadata({ file_annotations: files.map(fileAnnotation) })
