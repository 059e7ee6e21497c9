/**
 * Removes the characters that no reader sees and in which words for a model can be hidden: zero-width and bidirectional marks, tags,
 * fillers, control characters, lone surrogates. Some emoji and scripts lose a joiner.
 */
export const visibleText = (text: string): string => text.replace(UNSEEN, '')

const UNSEEN = /[\p{DI}\p{Cs}\uFFF9-\uFFFB]|(?![\t\n\r])\p{Cc}/gu
