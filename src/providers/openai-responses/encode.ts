/** A request for an upstream that speaks Responses: a client's own JSON with only what we own replaced, or the conversation of another dialect. */
import { withoutServiceFields } from '../../request-fields/service-fields.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Attempt } from '../provider.ts'
import { translate, type Translation } from '../translation.ts'
import { encodeInput } from './encode-input.ts'
import { encodeReasoning } from './encode-reasoning.ts'
import { encodeSettings } from './encode-settings.ts'
import { encodeToolChoice, encodeTools } from './encode-tools.ts'
import { openAiModel } from '../openai-model.ts'
import { replayableInput } from './replayable-input.ts'

export const encodeResponsesRequest = (attempt: Attempt): string => {
  const { call, target, warn } = attempt
  if (call.dialect === 'responses') return ownText(attempt)
  const translation = translate(call.prompt(), 'openai-responses', target, warn)
  return JSON.stringify({
    model: target.upstreamModel,
    ...encodePrompt(translation, attempt),
    stream: call.stream,
    // Nothing is kept anywhere for later reference: each request brings its whole history (service.md, "prompt").
    store: false,
  })
}

/** All that is translated; the encoder reads no setting elsewhere. */
export const encodePrompt = (translation: Translation, { target, warn }: Pick<Attempt, 'target' | 'warn'>): JsonObject => {
  const family = openAiModel(target.upstreamModel)
  const { instructions, input, replaysThinking } = encodeInput(translation, target, family)
  const tools = encodeTools(translation)
  return {
    ...(instructions === null ? {} : { instructions }),
    input,
    ...(tools.length === 0 ? {} : { tools, ...encodeToolChoice(translation) }),
    ...encodeSettings(translation, { warn, family, replaysThinking }),
  }
}

const ownText = ({ call, target, warn }: Attempt): string => {
  const { body } = call
  const family = openAiModel(target.upstreamModel)
  const changes: Record<string, string | null> = {
    ...withoutServiceFields,
    model: JSON.stringify(target.upstreamModel),
    stream: JSON.stringify(call.stream),
    store: 'false',
  }
  const input = replayableInput(body, target, family, warn)
  if (input !== null) changes['input'] = input
  const reasoning = body.value('reasoning')
  if (isObject(reasoning) && OUR_MEMBERS.some((member) => Object.hasOwn(reasoning, member))) {
    const { enabled, max_tokens: maxTokens, exclude, effort, summary, ...others } = reasoning
    const setting = {
      ...(typeof enabled === 'boolean' ? { enabled } : {}),
      ...(typeof maxTokens === 'number' ? { maxTokens } : {}),
      ...(typeof exclude === 'boolean' ? { exclude } : {}),
      ...(typeof effort === 'string' ? { effort } : {}),
      ...(typeof summary === 'string' ? { summary } : {}),
    }
    changes['reasoning'] = JSON.stringify({ ...others, ...encodeReasoning({ value: setting, field: 'reasoning' }, family, warn) })
  }
  return body.textWith(changes)
}

/** What this service adds to the `reasoning` of the dialect (contract 2.3). */
const OUR_MEMBERS = ['enabled', 'max_tokens', 'exclude']
