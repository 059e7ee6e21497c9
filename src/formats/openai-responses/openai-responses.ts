import { validateRequest } from '../validate-request.ts'
import { withSecretsHidden } from '../hide-in-answer.ts'
import type { ClientFormat } from '../format.ts'
import { presetContentOf } from './preset-config.ts'
import { readCall } from './read-call.ts'
import { renderAnswer } from './render.ts'
import { renderError } from './render-error.ts'
import { openStream } from './render-stream.ts'
import { rules } from './schema.ts'
import { withoutReferences } from './without-references.ts'

export const responsesFormat: ClientFormat = withSecretsHidden({
  dialect: 'responses',
  presetContent: presetContentOf,
  *parseCall(received) {
    const { body, warnings } = yield* withoutReferences(received)
    return { warnings: [...warnings, ...validateRequest(rules, body)], call: readCall(body) }
  },
  renderAnswer,
  openStream,
  renderError,
})
