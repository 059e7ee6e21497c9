/** Attempts that say little, for tests of what goes out to a provider. */
import type { Call } from '../canonical/call.ts'
import type { Message, Part, Prompt } from '../canonical/prompt.ts'
import type { Settings, SettingValues } from '../canonical/settings.ts'
import type { Warning } from '../canonical/warning.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import type { Attempt, Target } from './provider.ts'

/** Without messages, tools or settings, but for those that are given. */
export const promptOf = (more: Partial<Prompt> = {}): Prompt => ({
  messages: [],
  tools: [],
  toolChoice: { type: 'auto' },
  outputFormat: { type: 'text' },
  settings: {},
  otherFields: [],
  ...more,
})

/** The message of a user who says "Hi". */
export const HELLO: readonly Message[] = [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }], at: 'messages[0]' }]

/** A whole answer is asked for, in Chat Completions, if nothing else is given. */
const callOf = (target: Target, { prompt = () => promptOf(), ...more }: Partial<Call>): Call => ({
  dialect: 'chat',
  body: JsonBody.read('{}'),
  models: [target.modelId],
  stream: false,
  maxOutputTokens: null,
  sessionId: null,
  user: null,
  passHeaders: {},
  prompt,
  *readingPrompt() {
    yield
  },
  ...more,
})

export const attemptTo = (target: Target, call: Partial<Call>, warn: (warning: Warning) => void = () => undefined): Attempt => ({
  call: callOf(target, call),
  target,
  number: 0,
  warn,
  connection: new AbortController(),
})

/** Each setting in a field of its own name. */
export const settingsOf = (values: Partial<SettingValues>): Settings =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, field: name }]))

/** A text stands for a part of text. */
export const partsOf = (parts: readonly (Part | string)[]): readonly Part[] =>
  parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part))
