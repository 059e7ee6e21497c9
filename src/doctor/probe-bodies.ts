/** Requests that test our rules about what a provider accepts: a few tokens each, written as a chat client would. */
import type { JsonObject } from '../lib/json/json.ts'
import type { Model } from '../models/model.ts'

export const PROBES = ['plain', 'streamed', 'tools', 'reasoning', 'json', 'picture'] as const
export type ProbeName = (typeof PROBES)[number]

/** Output tokens of each: a model that thinks needs some before it can answer. */
const ANSWER_TOKENS = 64
const THINKING_TOKENS = 1100

const city = (name: string, description: string): JsonObject => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
  },
})

/** One red pixel. */
const PICTURE = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'

const MEMBERS: Readonly<Record<ProbeName, JsonObject>> = {
  plain: { messages: [{ role: 'user', content: 'Say hello.' }], temperature: 0.5 },
  streamed: { messages: [{ role: 'user', content: 'Say hello.' }], stream: true, stop: ['\n\n\n'] },
  tools: {
    messages: [{ role: 'user', content: 'What are the weather and the time in Oslo? Use both tools.' }],
    tools: [city('weather', 'The weather of a city.'), city('time', 'The time in a city.')],
    tool_choice: 'auto',
  },
  reasoning: {
    messages: [{ role: 'user', content: 'What is 17 times 3?' }],
    reasoning: { effort: 'low' },
    max_completion_tokens: THINKING_TOKENS,
  },
  json: {
    messages: [{ role: 'user', content: 'Name a colour.' }],
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'colour',
        strict: true,
        schema: { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'], additionalProperties: false },
      },
    },
  },
  picture: {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Which colour is this?' },
          { type: 'image_url', image_url: { url: PICTURE } },
        ],
      },
    ],
  },
}

export const probeBody = (name: ProbeName, model: string): JsonObject => ({ model, max_completion_tokens: ANSWER_TOKENS, ...MEMBERS[name] })

/** Why a model is not asked this; null if it is. If the catalogue does not know, the model is asked. */
export const beyond = (name: ProbeName, { inputModalities, outputModalities, supportedParameters }: Model): string | null => {
  if (!outputModalities.includes('text')) return 'writes no text'
  const heeds = (...parameters: readonly string[]): boolean =>
    supportedParameters.length === 0 || parameters.some((parameter) => supportedParameters.includes(parameter))
  if (name === 'tools' && !heeds('tools')) return 'has no tools'
  if (name === 'reasoning' && !heeds('reasoning', 'reasoning_effort')) return 'does not think'
  if (name === 'json' && !heeds('structured_outputs', 'response_format')) return 'has no schemas'
  if (name === 'picture' && inputModalities?.includes('image') === false) return 'sees no pictures'
  return null
}
