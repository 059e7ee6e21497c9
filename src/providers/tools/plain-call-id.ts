/**
 * Messages and Converse take letters, digits, `_` and `-` in the id of a call; those of other makers (`functions.f:0`) are rewritten, alike
 * in call and result.
 */
export const plainCallId = (id: string): string =>
  id.replaceAll(/[^a-zA-Z0-9_-]/g, (character) => `_${(character.codePointAt(0) ?? 0).toString(16)}`) || '_'
