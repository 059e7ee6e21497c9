/** The beginning of the line, by which a text that may hold it is found. */
export const BILLING_NAME = 'x-anthropic-billing-header:'

/**
 * Claude Code begins its system prompt with this line for Anthropic's billing. Part of it differs in every request, so with it no
 * other provider could find the beginning of the prompt in its cache.
 */
const LINE = /^x-anthropic-billing-header:[^\n]*\n*/

/** The same line inside the JSON text of a string. */
const JSON_LINE = /"x-anthropic-billing-header:(?:[^"\\]|\\[^n])*(?:\\n)*/

/** Removes the line from the beginning of a system prompt or of one of its blocks. */
export const withoutBillingLine = (text: string): string => text.replace(LINE, '')

/** Removes the line from the first string in the JSON text that begins with it. */
export const withoutBillingLineInJson = (json: string): string => json.replace(JSON_LINE, '"')
