/** How to point a program at this service: the snippets of the tested clients, with a model filled in. */
import { KNOWN_CLIENTS } from './known-clients.ts'

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

export const SNIPPETS: readonly ClientSnippet[] = [CURL, ...KNOWN_CLIENTS.map(({ id, name, snippet }) => ({ id, name, ...snippet }))]

export const snippetOf = (id: string | undefined): ClientSnippet => SNIPPETS.find((snippet) => snippet.id === id) ?? CURL

/** A snippet's entry for a second model beside the one that is used. */
const OTHER_MODEL = ', "openai/gpt-5.4": {}'
const MODELS = /(?:anthropic\/)?claude-opus-4[.-]8|deepseek\/deepseek-v4-pro|gpt-5\.4/g

export const withModel = ({ text }: ClientSnippet, model: string): string => text.replace(OTHER_MODEL, '').replaceAll(MODELS, () => model)

/** The variables that every snippet reads. */
export const environmentOf = (url: string, key: string): string => `export PATCHBAY_URL=${quoted(url)}\nexport INFERENCE_KEY=${quoted(key)}`

const quoted = (text: string): string => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
