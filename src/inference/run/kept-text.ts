/** The room of an answer that is streamed while its text is kept for a later event (docs/contract/operating.md#admission). */
import type { KeepText } from '../../formats/format.ts'
import type { AnswerRoom, AnswerSpace } from '../../providers/transport/answer-room.ts'
import type { Admitted } from '../admitted.ts'

export interface KeptText {
  readonly keep: KeepText
  /** Gives the room back; nothing is counted after that. */
  free(): void
}

/** The room belongs to the provider that answers first: the turns of an answer are kept together. */
export const roomForText = ({ log }: Pick<Admitted, 'log'>, room: AnswerRoom): KeptText => {
  let space: AnswerSpace | null = null
  let isOver = false
  return {
    keep(characters) {
      const provider = log.current?.planned.endpoint.provider.slug
      if (isOver || provider === undefined) return
      space ??= room.enter(provider)
      const lack = space.take(characters)
      if (lack !== null) throw lack
    },
    free() {
      isOver = true
      space?.free()
    },
  }
}
