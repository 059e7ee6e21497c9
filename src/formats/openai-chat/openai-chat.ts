import { validateRequest } from '../validate-request.ts'
import { withSecretsHidden } from '../hide-in-answer.ts'
import type { ClientFormat, Written } from '../format.ts'
import { withTexts } from '../with-texts.ts'
import { withoutForeignWords } from './foreign-words.ts'
import { legacyAnswer, legacyEvents, withModernTools } from './modern-tools.ts'
import { presetContentOf } from './preset-config.ts'
import { readCall } from './read-call.ts'
import { renderAnswer } from './render.ts'
import { renderError } from './render-error.ts'
import { openStream } from './render-stream.ts'
import { rules } from './schema.ts'

export const chatFormat: ClientFormat = withSecretsHidden({
  dialect: 'chat',
  presetContent: presetContentOf,
  *parseCall(received) {
    const found = validateRequest(rules, received)
    const { body, warnings, legacy } = yield* withModernTools(yield* withoutForeignWords(received))
    return { warnings: [...found, ...warnings], call: legacy ? { ...readCall(body), legacyFunctions: true } : readCall(body) }
  },
  *renderAnswer(head, answer, tail, failure) {
    const text = yield* renderAnswer(head, answer, tail, failure)
    return head.legacyFunctions === true ? yield* legacyAnswer(text) : text
  },
  openStream(head) {
    const stream = openStream(head)
    return head.legacyFunctions === true ? withTexts(stream, legacyPieces) : stream
  },
  renderError,
})

const legacyPieces = (written: Written): Written => (typeof written === 'string' ? legacyEvents(written) : eachLegacy(written))

/** The text that is made in steps comes as one piece, behind the empty ones. */
function* eachLegacy(pieces: Iterable<string>): Iterable<string> {
  for (const piece of pieces) {
    const events = legacyEvents(piece)
    if (typeof events === 'string') yield events
    else yield* events
  }
}
