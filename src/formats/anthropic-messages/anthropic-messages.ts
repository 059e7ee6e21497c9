import { validateRequest } from '../validate-request.ts'
import { withSecretsHidden } from '../hide-in-answer.ts'
import type { ClientFormat } from '../format.ts'
import { presetContentOf } from './preset-config.ts'
import { withDrawnPictures } from './drawn-pictures.ts'
import { withFormatInConfig } from './format-in-config.ts'
import { readCall } from './read-call.ts'
import { renderAnswer } from './render.ts'
import { renderError } from './render-error.ts'
import { openStream } from './render-stream.ts'
import { rules } from './schema.ts'

export const messagesFormat: ClientFormat = withSecretsHidden({
  dialect: 'messages',
  presetContent: presetContentOf,
  *parseCall(body) {
    const warnings = validateRequest(rules, body)
    yield
    return { warnings, call: readCall(yield* withDrawnPictures(withFormatInConfig(body))) }
  },
  renderAnswer,
  openStream,
  renderError,
})
