/**
 * The script of each sandbox model (docs/contract/operating.md#sandbox): a pure function of the request, so that the same request always
 * gets the same answer. A token is a word; a wait is a step of the script, not a reading of the clock.
 */
import { lastUserText } from '../../canonical/last-user-text.ts'
import type { Prompt } from '../../canonical/prompt.ts'
import { ERROR_TYPES, type ErrorType, GatewayError } from '../../errors.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import { thinksNot } from '../thinking/effort.ts'
import { agentScript } from './agent-script.ts'
import { answer } from './answer.ts'
import type { Block } from './block.ts'
import { describePrompt, toolResults } from './prompt-facts.ts'
import { sandboxError } from './sandbox-error.ts'
import type { SandboxInput, SandboxStep } from './step.ts'
import { toolCalls } from './tool-calls.ts'
import { valueFor } from './value-from-schema.ts'
import { wordCount, WORDS } from './words.ts'

/** `model`: the provider's own name, `echo`, or ours, `sandbox/echo`. An unknown one fails with `not_found`. */
export const sandboxScript = (model: string, input: SandboxInput): Iterable<SandboxStep> => {
  const [name = '', variant, ...more] = model.replace(/^sandbox\//, '').split('/')
  if (more.length === 0 && variant === undefined && Object.hasOwn(MODELS, name)) return MODELS[name as SandboxName](input)
  if (more.length === 0 && Object.hasOwn(FAILING, name)) {
    const type = ERROR_TYPES.find((type) => type === variant)
    if (type !== undefined) return FAILING[name as FailingName](input, type)
  }
  return [fail(new GatewayError('not_found', `There is no sandbox model "${cutText(model, 100)}".`))]
}

export type SandboxName = keyof typeof MODELS
export type FailingName = keyof typeof FAILING

type Script = (input: SandboxInput) => Iterable<SandboxStep>

const SLOW_FIRST_MS = 3000
const SLOW_TOKEN_MS = 250
const LOREM_TOKENS = 120
const LOREM_TOKEN_MS = 10
/** The tokens that an answer of thinking alone spends if the request sets no limit. */
const EMPTY_TOKENS = 256

const MODELS = {
  echo: (input) => answer(input, [echo(input.prompt)]),

  lorem: (input) => answer(input, [text(lorem(input.settings.tokens ?? LOREM_TOKENS))], { tokenMs: LOREM_TOKEN_MS }),

  tools: (input) => {
    const results = toolResults(input.prompt)
    if (results.length > 0) return answer(input, [text(results.map(({ name, text }) => `${name} returned: ${text}`).join('\n'))])
    const calls = toolCalls(input.prompt)
    return calls.length > 0
      ? answer(input, calls, { finish: 'tool_calls' })
      : answer(input, [text('There is no tool to call: give this model some in the field tools.')])
  },

  reasoning: (input) => {
    const words = wordCount(lastUserText(input.prompt) ?? '')
    const thought = `The last message of the user has ${words} words. An answer that repeats this number is enough.`
    const spoken = text(`Your message has ${words} words.`)
    const wanted = input.prompt.settings.reasoning?.value ?? {}
    if (thinksNot(wanted)) return answer(input, [spoken])
    if (wanted.exclude === true) return answer(input, [spoken], { hiddenReasoningTokens: wordCount(thought) })
    return answer(input, [{ type: 'reasoning', text: thought }, spoken])
  },

  refusal: (input) => answer(input, [{ type: 'refusal', text: 'I cannot help with this request.' }], { finish: 'content_filter' }),

  json: (input) => {
    const { outputFormat, messages } = input.prompt
    const value = outputFormat.type === 'json-schema' ? valueFor(outputFormat.schema) : { ok: true, messages: messages.length }
    return answer(input, [text(JSON.stringify(value))])
  },

  slow: (input) => answer(input, [echo(input.prompt)], { firstTokenMs: SLOW_FIRST_MS, tokenMs: SLOW_TOKEN_MS }),

  cut: (input) => answer(input, [text(lorem(20))], { ending: { kind: 'cut' } }),

  empty: (input) => answer(input, [], { finish: 'length', hiddenReasoningTokens: input.maxOutputTokens ?? EMPTY_TOKENS }),

  agent: (input) => agentScript(input),

  flaky: (input) =>
    input.attempt === 0
      ? [fail(sandboxError('provider_overloaded', 'sandbox/flaky'))]
      : answer(input, [text('The first attempt failed, this one works.')]),
} as const satisfies Record<string, Script>

/** `sandbox/error/<error_type>` and `sandbox/midstream/<error_type>`. */
const FAILING = {
  error: (_, type) => [fail(sandboxError(type, `sandbox/error/${type}`))],
  midstream: (input, type) => answer(input, [text(lorem(12))], { ending: fail(sandboxError(type, `sandbox/midstream/${type}`)) }),
} as const satisfies Record<string, (input: SandboxInput, type: ErrorType) => Iterable<SandboxStep>>

const fail = (error: GatewayError): SandboxStep => ({ kind: 'fail', error })

const text = (text: string): Block => ({ type: 'text', text })

const echo = (prompt: Prompt): Block => text(cutText(lastUserText(prompt) ?? describePrompt(prompt), ECHO_CHARACTERS_MAX))

/** Echoing megabytes of text would block the process for other requests, and would be no more use to a client. */
const ECHO_CHARACTERS_MAX = 512 * 1024

const lorem = (tokens: number): string => Array.from({ length: tokens }, (_, index) => WORDS[index % WORDS.length]).join(' ')
