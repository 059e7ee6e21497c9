/** Answers of the fake upstream to Chat Completions, and the markers of a complete answer. The bytes must be the same every time. */

const WORDS = 'the router keeps a request whole while it looks for a provider that can answer it and tells the caller what it did'.split(
  ' ',
)
export const WHOLE_TOKENS = 300
export const CONTENT_EVENTS = 30
export const PROMPT_TOKENS = 512

/** Ends both answers, so that a cut answer is recognised. */
const END_MARKER = 'end-of-answer'

const words = (count: number): string[] => Array.from({ length: count }, (_, index) => WORDS[index % WORDS.length] ?? '')

/** 300 tokens, one for each word. */
export const WHOLE_TEXT = [...words(WHOLE_TOKENS - 1), END_MARKER].join(' ')

/** One for each event. */
export const STREAM_PIECES = [...words(CONTENT_EVENTS - 1).map((word) => `${word} `), END_MARKER]

/** The text of the streamed answer. */
export const STREAM_TEXT = STREAM_PIECES.join('')

/** A paced stream: six seconds of ten events each. */
export const PACED_CONTENT_EVENTS = 60
const PACED_PIECES = [...words(PACED_CONTENT_EVENTS - 1).map((word) => `${word} `), END_MARKER]
export const PACED_TEXT = PACED_PIECES.join('')

/** Texts that every complete answer of this upstream contains, whether relayed or translated. */
export const WHOLE_MARKERS = [END_MARKER, '"finish_reason":"stop"', '"completion_tokens":300']
export const STREAM_MARKERS = [END_MARKER, '"finish_reason":"stop"', '"completion_tokens":30', 'data: [DONE]']
export const PACED_MARKERS = [END_MARKER, '"finish_reason":"stop"', `"completion_tokens":${PACED_CONTENT_EVENTS}`, 'data: [DONE]']

const HEAD = { id: 'chatcmpl-bench0123456789abcdefghijk', created: 1_764_661_832, model: 'bench-chat' }
const TAIL = { service_tier: 'default', system_fingerprint: 'fp_bench012345' }

const usage = (completionTokens: number) => ({
  prompt_tokens: PROMPT_TOKENS,
  completion_tokens: completionTokens,
  total_tokens: PROMPT_TOKENS + completionTokens,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
})

/** The body of the answer without streaming. */
export const wholeAnswer = (): string =>
  JSON.stringify({
    ...HEAD,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: WHOLE_TEXT, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: usage(WHOLE_TOKENS),
    ...TAIL,
  })

/** The events around the content of each stream: role, finish, usage and the end mark. */
export const STREAM_EVENTS_AROUND = 4

/** 33 events (role, 30 of content, finish, usage) and the end mark, each with its blank line. */
export const streamEvents = (): string[] => eventsOf(STREAM_PIECES)

/** The events of the paced stream, with 60 of content. */
export const pacedEvents = (): string[] => eventsOf(PACED_PIECES)

const eventsOf = (pieces: readonly string[]): string[] => {
  const chunk = (choices: unknown[], used: unknown = null): string =>
    `data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', ...TAIL, choices, usage: used })}\n\n`
  const delta = (content: unknown, finishReason: string | null = null): string =>
    chunk([{ index: 0, delta: content, logprobs: null, finish_reason: finishReason }])
  return [
    delta({ role: 'assistant', content: '', refusal: null }),
    ...pieces.map((content) => delta({ content })),
    delta({}, 'stop'),
    chunk([], usage(pieces.length)),
    'data: [DONE]\n\n',
  ]
}
