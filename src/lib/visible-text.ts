/**
 * Text without the characters that no reader sees, in which words for a model can be hidden: zero-width and bidirectional
 * marks, tags, fillers, control characters, halves of characters. Some emoji and scripts lose a joiner with them.
 */
export const visibleText = (text: string): string => text.replace(UNSEEN, '')

const UNSEEN = /[\p{DI}\p{Cs}\uFFF9-\uFFFB]|(?![\t\n\r])\p{Cc}/gu
