/** The model's text in an answer of a chat interface, streamed or whole. Throws on what is neither. */
export const answerText = (answer: string): string => {
  if (!answer.startsWith('data:') && !answer.startsWith(':')) return contentOf(JSON.parse(answer), 'message')
  return answer
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => contentOf(JSON.parse(line.slice('data: '.length)), 'delta'))
    .join('')
}

interface Answer {
  readonly choices?: readonly {
    readonly message?: { readonly content?: string | null }
    readonly delta?: { readonly content?: string | null }
  }[]
}

const contentOf = (parsed: unknown, member: 'message' | 'delta'): string => (parsed as Answer).choices?.[0]?.[member]?.content ?? ''
