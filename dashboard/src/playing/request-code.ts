/**
 * A request as a program that sends it, for the shell and for the two vendors' SDKs. Keys and addresses come from the variables that every
 * snippet reads.
 */
import { type Asked, INFERENCE_PATHS, requestBody } from './conversation-input.ts'
import { curlOf } from '../curl.ts'

export interface RequestCode {
  readonly title: string
  readonly text: string
}

/** The program does not stream: that is shorter to read, and `stream` is one word to add. */
export const codeOf = (asked: Asked): readonly RequestCode[] => {
  const body = requestBody({ ...asked, stream: false })
  const curl = curlOf({ method: 'POST', path: INFERENCE_PATHS[asked.interface], body }, 'INFERENCE_KEY')
  const maker = asked.interface === 'messages' ? 'Anthropic' : 'OpenAI'
  return [
    { title: 'curl', text: curl },
    { title: `${maker} SDK for JavaScript`, text: JAVASCRIPT[asked.interface](JSON.stringify(body, null, 2)) },
    { title: `${maker} SDK for Python`, text: PYTHON[asked.interface](argumentsOf(body, NAMED[asked.interface])) },
  ]
}

const JAVASCRIPT = {
  chat: (body: string) => `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: \`\${process.env.PATCHBAY_URL}/api/v1\`, apiKey: process.env.INFERENCE_KEY })
const answer = await client.chat.completions.create(${body})
console.log(answer.choices[0].message.content)
`,
  responses: (body: string) => `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: \`\${process.env.PATCHBAY_URL}/api/v1\`, apiKey: process.env.INFERENCE_KEY })
const answer = await client.responses.create(${body})
console.log(answer.output_text)
`,
  messages: (body: string) => `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: \`\${process.env.PATCHBAY_URL}/api\`, authToken: process.env.INFERENCE_KEY })
const answer = await client.messages.create(${body})
console.log(answer.content.map((part) => part.text ?? '').join(''))
`,
} as const

const PYTHON = {
  chat: (given: string) => `import os
from openai import OpenAI

client = OpenAI(base_url=os.environ["PATCHBAY_URL"] + "/api/v1", api_key=os.environ["INFERENCE_KEY"])
answer = client.chat.completions.create(${given})
print(answer.choices[0].message.content)
`,
  responses: (given: string) => `import os
from openai import OpenAI

client = OpenAI(base_url=os.environ["PATCHBAY_URL"] + "/api/v1", api_key=os.environ["INFERENCE_KEY"])
answer = client.responses.create(${given})
print(answer.output_text)
`,
  messages: (given: string) => `import os
from anthropic import Anthropic

client = Anthropic(base_url=os.environ["PATCHBAY_URL"] + "/api", auth_token=os.environ["INFERENCE_KEY"])
answer = client.messages.create(${given})
print("".join(part.text for part in answer.content if part.type == "text"))
`,
} as const

/** The Python SDKs take these as named arguments; names that they do not know must go into `extra_body`. */
const NAMED = {
  chat: ['model', 'messages'],
  responses: ['model', 'input'],
  messages: ['model', 'max_tokens', 'messages'],
} as const

const argumentsOf = (body: Readonly<Record<string, unknown>>, named: readonly string[]): string => {
  const rest = Object.entries(body).filter(([name]) => !named.includes(name))
  const given = [
    ...named.flatMap((name) => (body[name] === undefined ? [] : [`    ${name}=${pythonOf(body[name], 1)},\n`])),
    ...(rest.length === 0 ? [] : [`    extra_body=${pythonOf(Object.fromEntries(rest), 1)},\n`]),
  ]
  return `\n${given.join('')}`
}

/** JSON strings and numbers are valid Python. */
const pythonOf = (value: unknown, depth: number): string => {
  if (value === null || value === undefined) return 'None'
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const parts = Array.isArray(value)
    ? (value as readonly unknown[]).map((one) => pythonOf(one, depth + 1))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${pythonOf(one, depth + 1)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (parts.length === 0) return open + close
  const indent = '    '.repeat(depth)
  return `${open}\n${parts.map((part) => `${indent}    ${part},\n`).join('')}${indent}${close}`
}
