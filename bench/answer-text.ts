/** The model's text in a Chat Completions or Messages response, streamed or whole. Throws if it is neither. */
export const answerText = (answer: string): string => {
  if (!STREAM.test(answer)) return contentOf(JSON.parse(answer), 'message')
  return answer
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => contentOf(JSON.parse(line.slice('data: '.length)), 'delta'))
    .join('')
}

const STREAM = /^(?:data|event)?:/

interface Answer {
  readonly choices?: readonly {
    readonly message?: { readonly content?: string | null }
    readonly delta?: { readonly content?: string | null }
  }[]
  /** Members of Messages: the blocks of a whole answer, and a delta of one. */
  readonly content?: readonly { readonly text?: string }[]
  readonly delta?: { readonly text?: string }
}

const contentOf = (parsed: unknown, member: 'message' | 'delta'): string => {
  const { choices, content, delta } = parsed as Answer
  if (choices !== undefined) return choices[0]?.[member]?.content ?? ''
  return content === undefined ? (delta?.text ?? '') : content.map(({ text }) => text ?? '').join('')
}
