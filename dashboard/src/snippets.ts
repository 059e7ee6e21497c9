/** How to point a program at this service: the snippets of the tested clients, with a model filled in. */
import { KNOWN_CLIENTS } from '../../src/contract/known-clients.ts'

export interface ClientSnippet {
  readonly id: string
  readonly name: string
  readonly language: string
  readonly text: string
}

const CURL: ClientSnippet = {
  id: 'curl',
  name: 'curl',
  language: 'sh',
  text: `curl "$PATCHBAY_URL/api/v1/chat/completions" \\
  -H "Authorization: Bearer $INFERENCE_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"model": "gpt-5.4", "messages": [{"role": "user", "content": "Hello!"}]}'
`,
}

const OPENAI_NODE: ClientSnippet = {
  id: 'openai-node',
  name: 'OpenAI SDK for JavaScript',
  language: 'js',
  text: `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: \`\${process.env.PATCHBAY_URL}/api/v1\`, apiKey: process.env.INFERENCE_KEY })
const answer = await client.chat.completions.create({ model: 'gpt-5.4', messages: [{ role: 'user', content: 'Hello!' }] })
console.log(answer.choices[0].message.content)
`,
}

const ANTHROPIC_NODE: ClientSnippet = {
  id: 'anthropic-node',
  name: 'Anthropic SDK for JavaScript',
  language: 'js',
  text: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: \`\${process.env.PATCHBAY_URL}/api\`, authToken: process.env.INFERENCE_KEY })
const answer = await client.messages.create({ model: 'claude-opus-4.8', max_tokens: 1000, messages: [{ role: 'user', content: 'Hello!' }] })
console.log(answer.content.map((part) => part.text ?? '').join(''))
`,
}

export const SNIPPETS: readonly ClientSnippet[] = [
  CURL,
  OPENAI_NODE,
  ANTHROPIC_NODE,
  ...KNOWN_CLIENTS.map(({ id, name, snippet }) => ({ id, name, ...snippet })),
]

export const snippetOf = (id: string | undefined): ClientSnippet => SNIPPETS.find((snippet) => snippet.id === id) ?? CURL

/** A snippet's entry for a second model beside the one that is used. */
const OTHER_MODEL = ', "openai/gpt-5.4": {}'
const MODELS = /(?:anthropic\/)?claude-opus-4[.-]8|deepseek\/deepseek-v4-pro|gpt-5\.4/g

export const withModel = ({ text }: ClientSnippet, model: string): string => text.replace(OTHER_MODEL, '').replaceAll(MODELS, () => model)

/** The variables that every snippet reads. */
export const environmentOf = (url: string, key: string): string => `export PATCHBAY_URL=${quoted(url)}\nexport INFERENCE_KEY=${quoted(key)}`

const quoted = (text: string): string => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
