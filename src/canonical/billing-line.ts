/**
 * The line for Anthropic's billing with which Claude Code begins its system prompt. A part of it differs in every request, so that no
 * other provider that got it would find the beginning of the prompt in its cache.
 */
const LINE = /^x-anthropic-billing-header:[^\n]*\n*/

/** The same in the JSON text of a string. */
const JSON_LINE = /"x-anthropic-billing-header:(?:[^"\\]|\\[^n])*(?:\\n)*/

/** A system prompt, or a block of it, that begins with the line is left without it. */
export const withoutBillingLine = (text: string): string => text.replace(LINE, '')

/** The same for JSON text: of the first string in it that begins with the line. */
export const withoutBillingLineInJson = (json: string): string => json.replace(JSON_LINE, '"')
